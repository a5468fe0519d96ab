import "../../../../tests/dom";
import { afterEach, expect, test } from "bun:test";

const { closePage, openPage, screen } = await import("../../../../tests/kit/client-page");
const { SettingsPanel } = await import("./settings-panel");
afterEach(closePage);

const settings = { group: "default", models: [], temperature: 0, max_tokens: 0, system: "" };

test.each([
  [undefined, "正在加载"],
  [[], "没有可用的模型"],
])("models that are not known yet (%p) are told from a group without any", async (models, words) => {
  await openPage(
    <SettingsPanel settings={settings} onChange={() => {}} groups={{}} models={models} job={false} />,
    "/playground",
  );
  expect(screen.getByRole("combobox", { name: "模型" }).textContent).toBe(words);
});
