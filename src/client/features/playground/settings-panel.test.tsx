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

test("the temperature is 0 until it is set, from 0.1 to 1 in tenths, and the limit of tokens starts at none", async () => {
  await openPage(
    <SettingsPanel settings={settings} onChange={() => {}} groups={{}} models={[]} job={false} />,
    "/playground",
  );
  const { min, max, step } = screen.getByLabelText<HTMLInputElement>(/^温度/);
  // spec: C-652..C-654
  expect({ min, max, step }).toEqual({ min: "0.1", max: "1", step: "0.1" });
  expect(screen.getByText("0.0")).toBeDefined();
  // spec: C-655
  expect(screen.getByLabelText<HTMLInputElement>("最大 token 数").value).toBe("0");
  expect(screen.getByText("0 = 不限")).toBeDefined();
});
