/** What a translation of a call lost or changed, in words. A row stores `code: detail`; its reader reads a sentence. */
import type { Lang, Text } from "./text";

/** One word per kind, so that a log can be searched. */
const WARNINGS = {
  /** A field that the other dialect has no place for. */
  dropped_field: { zh: "上游不支持 {detail}，已忽略", en: "The upstream has no {detail}; it was left out" },
  /** A content block that the other dialect has no place for. */
  dropped_block: {
    zh: "上游不支持这种内容，已忽略：{detail}",
    en: "The upstream does not take this content; it was left out: {detail}",
  },
  /** A tool of the vendor's own that the other vendor does not run. */
  dropped_tool: {
    zh: "上游没有这个工具，已忽略：{detail}",
    en: "The upstream has no such tool; it was left out: {detail}",
  },
  /** Reasoning that another vendor signed: only its author may read it. */
  dropped_reasoning: {
    zh: "另一家供应商签名的推理内容不能转交，已忽略：{detail}",
    en: "Reasoning signed by another vendor cannot be passed on; it was left out: {detail}",
  },
  /** A value that was brought into the other dialect's range. */
  changed_value: {
    zh: "数值已调整到上游允许的范围：{detail}",
    en: "A value was brought into the range that the upstream takes: {detail}",
  },
  /** A limit of output tokens that the caller did not name: what is left covers no more. */
  limited_output: {
    zh: "剩余额度只够 {detail} 个输出 Token，回答以此为上限",
    en: "What is left pays for {detail} output tokens, so the answer was limited to that",
  },
  /** Blocks that had to change their order. */
  changed_order: { zh: "内容的顺序已调整：{detail}", en: "The order of the content was changed: {detail}" },
  /** JSON text that is no JSON. */
  malformed_json: { zh: "这段 JSON 无法解析：{detail}", en: "This JSON cannot be parsed: {detail}" },
} as const satisfies Record<string, Text>;

export type WarningCode = keyof typeof WARNINGS;

const isWarningCode = (code: string): code is WarningCode => Object.hasOwn(WARNINGS, code);

/** A stored warning as a sentence; one of a later release as it is stored. */
export function warningText(stored: string, lang: Lang): string {
  const [, code = "", detail = ""] = /^(\w+): ([^]*)$/.exec(stored) ?? [];
  if (!isWarningCode(code)) return stored;
  const shown = code === "limited_output" && /^\d+$/.test(detail) ? Number(detail).toLocaleString("en-US") : detail;
  return WARNINGS[code][lang].replace("{detail}", () => shown);
}
