import { cleanup, render, screen, userEvent } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { useState } from "react";
import { TooltipProvider } from "../../ui/tooltip";
import { jsonOf, MappingEditor, pairsOf } from "./mapping-editor";

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

function Editor({ start }: { start: string }) {
  const [json, setJson] = useState(start);
  return (
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <MappingEditor
          value={json}
          onValueChange={setJson}
          from="请求"
          to="上游"
          template='{"a":"b"}'
          aria-labelledby="x"
        />
        <output>{json}</output>
      </TooltipProvider>
    </I18nProvider>
  );
}
const stored = () => screen.getAllByRole("status").find((element) => element.tagName === "OUTPUT")?.textContent ?? "";

test("pairs and JSON show the same mapping, and anything but a flat object has no rows", () => {
  expect(pairsOf('{"400":"500","x":1}')).toEqual([
    ["400", "500"],
    ["x", "1"],
  ]);
  expect(pairsOf("")).toEqual([]);
  for (const text of ["{", "[]", "null", '{"a":{}}']) expect(pairsOf(text)).toBeNull();
  expect(
    jsonOf([
      [" a ", " b "],
      ["", "c"],
    ]),
  ).toBe('{\n  "a": "b"\n}');
  expect(jsonOf([["", ""]])).toBe("");
});

test("rows that are typed become JSON; a row that is not named yet is kept on screen and left out of it", async () => {
  render(<Editor start="" />);
  await userEvent.click(screen.getByRole("button", { name: "添加一行" }));
  expect(stored()).toBe("");
  await userEvent.type(screen.getByRole("textbox", { name: "请求（第 1 行）" }), "gpt");
  await userEvent.type(screen.getByRole("textbox", { name: "上游（第 1 行）" }), "gpt-x");
  await userEvent.click(screen.getByRole("button", { name: "添加一行" }));
  expect(JSON.parse(stored())).toEqual({ gpt: "gpt-x" });
  expect(screen.getAllByRole("textbox")).toHaveLength(4);
});

test("a duplicate name is reported", async () => {
  render(<Editor start='{"a":"b"}' />);
  await userEvent.click(screen.getByRole("button", { name: "添加一行" }));
  await userEvent.type(screen.getByRole("textbox", { name: "请求（第 2 行）" }), "a");
  expect(screen.getByText("重复，以最后一行为准")).toBeDefined();
});

test("the template is filled in on a click and never by itself", async () => {
  render(<Editor start="" />);
  // spec: D-83
  expect(stored()).toBe("");
  await userEvent.click(screen.getByRole("button", { name: "填入模板" }));
  // spec: D-83
  expect(JSON.parse(stored())).toEqual({ a: "b" });
});

test("JSON that rows cannot show is edited as text, with the line where it breaks", () => {
  render(<Editor start={'{\n  "a": \n}'} />);
  expect(screen.getByText("第 3 行第 1 列：不是合法的 JSON")).toBeDefined();
  expect(screen.getByRole("button", { name: "以表格编辑" }).hasAttribute("disabled")).toBe(true);
});
