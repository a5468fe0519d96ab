import { cleanup, render, screen, userEvent } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { useState } from "react";
import { settingMembers, settingNames } from "../../../shared/channel-setting";
import { channelType } from "../../../shared/channel-types";
import { TooltipProvider } from "../../ui/tooltip";
import SettingFields from "./setting-fields";

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

function Fields({ start = "", type = 8 }: { start?: string; type?: number }) {
  const [json, setJson] = useState(start);
  return (
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <span id="label">渠道额外设置</span>
        <SettingFields
          id="setting"
          aria-labelledby="label"
          value={json}
          onValueChange={setJson}
          type={channelType(type)}
        />
        <output>{json}</output>
      </TooltipProvider>
    </I18nProvider>
  );
}
const stored = () => screen.getAllByRole("status").find((element) => element.tagName === "OUTPUT")?.textContent ?? "";
const label = (name: (typeof settingNames)[number]) => settingMembers[name].label.zh;

test("every declared member has a field; what is typed becomes JSON, and an emptied field is no member", async () => {
  render(<Fields />);
  // One look at the labels: a search for each would take seconds.
  const labelled = [...document.querySelectorAll("label")].flatMap((one) => (one.control ? [one.textContent] : []));
  // spec: C-215, C-239
  expect(labelled).toEqual(expect.arrayContaining(settingNames.map(label)));
  await userEvent.type(screen.getByLabelText(label("proxy")), "socks5://h:1");
  await userEvent.type(screen.getByLabelText(label("idle_timeout")), "30");
  await userEvent.click(screen.getByLabelText(label("force_format")));
  expect(JSON.parse(stored())).toEqual({ proxy: "socks5://h:1", idle_timeout: 30, force_format: true });
  await userEvent.clear(screen.getByLabelText(label("proxy")));
  await userEvent.clear(screen.getByLabelText(label("idle_timeout")));
  await userEvent.click(screen.getByLabelText(label("force_format")));
  expect(stored()).toBe("");
});

test("unknown members are kept, and an invalid value is reported at its field", async () => {
  render(<Fields start='{"other":1,"proxy":"ftp://x","connect_timeout":0}' />);
  expect(screen.getByLabelText(label("proxy")).getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByLabelText(label("connect_timeout")).getAttribute("aria-invalid")).toBe("true");
  await userEvent.clear(screen.getByLabelText(label("proxy")));
  expect(JSON.parse(stored())).toEqual({ other: 1, connect_timeout: 0 });
});

test("a type without a proxy offers none, unless one is set", () => {
  render(<Fields type={36} />);
  // spec: C-243
  expect(screen.queryByLabelText(label("proxy"))).toBeNull();
  cleanup();
  render(<Fields type={36} start='{"proxy":"http://p"}' />);
  expect(screen.getByLabelText(label("proxy"))).toBeDefined();
});

test("text that is not an object is shown as text, and every object can be shown as text", async () => {
  render(<Fields start="{" />);
  expect(screen.queryByLabelText(label("proxy"))).toBeNull();
  cleanup();
  render(<Fields start='{"a":1}' />);
  await userEvent.click(screen.getByRole("button", { name: "以 JSON 编辑" }));
  expect(screen.getByRole("textbox", { name: "渠道额外设置" })).toHaveProperty("value", '{"a":1}');
});
