import { cleanup, render, screen, userEvent } from "../../../../tests/dom";
import { i18n } from "@lingui/core";
import { I18nProvider } from "@lingui/react";
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { useState } from "react";
import { channelType, channelTypes } from "../../../shared/channel-types";
import { TooltipProvider } from "../../ui/tooltip";
import { TypePicker } from "./type-picker";

// Slow while other test files run.
setDefaultTimeout(30_000);

/** The types that the specification names, by requirement, number and what its name is known by. */
const SPECIFIED: readonly [string, number, string][] = [
  ["A-012", 1, "OpenAI"],
  ["A-013", 2, "Midjourney Proxy"],
  ["A-014", 5, "Midjourney Proxy Plus"],
  ["A-015", 36, "Suno"],
  ["A-016", 4, "Ollama"],
  ["A-017", 14, "Anthropic Claude"],
  ["A-018", 33, "AWS Bedrock Claude"],
  ["A-019", 41, "Vertex AI"],
  ["A-020", 3, "Azure OpenAI"],
  ["A-021", 34, "Cohere"],
  ["A-022", 39, "Cloudflare"],
  ["A-023", 43, "DeepSeek"],
  ["A-024", 15, "百度"],
  ["A-025", 46, "百度千帆 V2"],
  ["A-026", 16, "智谱"],
  ["A-027", 26, "智谱 GLM V4"],
  ["A-028", 17, "阿里云"],
  ["A-029", 18, "讯飞星火"],
  ["A-030", 19, "360"],
  ["A-031", 23, "腾讯混元"],
  ["A-032", 31, "零一万物"],
  ["A-033", 45, "火山方舟"],
  ["A-034", 24, "Google Gemini"],
  ["A-035", 11, "PaLM 2"],
  ["A-036", 25, "Kimi"],
  ["A-037", 35, "MiniMax"],
  ["A-038", 37, "Dify"],
  ["A-039", 38, "Jina"],
  ["A-040", 40, "硅基流动"],
  ["A-041", 42, "Mistral"],
  ["A-042", 8, "自定义渠道"],
  ["A-043", 21, "AI Proxy 知识库"],
  ["A-044", 22, "FastGPT"],
];

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));
afterEach(cleanup);

function Picker({ start = 0 }: { start?: number }) {
  const [type, setType] = useState(start);
  return (
    <I18nProvider i18n={i18n}>
      <TooltipProvider>
        <span id="label">类型</span>
        <TypePicker id="picker" aria-labelledby="label" value={type} onValueChange={setType} />
        <output>{type}</output>
      </TooltipProvider>
    </I18nProvider>
  );
}

test("every channel type of the registry is offered, by its name in the language in force", () => {
  render(<Picker />);
  expect(screen.getAllByRole("option")).toHaveLength(channelTypes.length);
  for (const type of channelTypes) expect(screen.getAllByText(type.name.zh).length).toBeGreaterThan(0);
});

test("every type that the specification names is offered under its number", async () => {
  for (const [requirement, id, known] of SPECIFIED) {
    const name = channelType(id)?.name.zh ?? "";
    expect([requirement, name]).toEqual([requirement, expect.stringContaining(known)]);
    render(<Picker />);
    await userEvent.click(screen.getByRole("option", { name }));
    // spec: A-012..A-044
    expect([requirement, screen.getByRole("status").textContent]).toEqual([requirement, String(id)]);
    cleanup();
  }
});

test("a type is found by typing, in either language, and taken with Enter; the focus stays at the field", async () => {
  render(<Picker />);
  await userEvent.type(screen.getByRole("combobox", { name: "类型" }), "baidu wenxin{Enter}");
  expect(screen.getByRole("status").textContent).toBe("15");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "更换 类型" }));
});

test("Escape leaves the picked type as it was", async () => {
  render(<Picker start={1} />);
  await userEvent.click(screen.getByRole("button", { name: "更换 类型" }));
  await userEvent.keyboard("{ArrowRight}{Escape}");
  expect(screen.getByRole("status").textContent).toBe("1");
  expect(screen.queryByRole("combobox")).toBeNull();
});
