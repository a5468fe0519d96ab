/**
 * Which of OpenAI's models take a conversation through the Responses API only, by name: rows of data, each with what it
 * was read from. Names may have a maker before and a date or an effort behind.
 */

interface ResponsesRule {
  readonly models: RegExp;
  /** Every conversation, or those that declare tools. */
  readonly needs: "always" | "with tools";
}

const rules: readonly ResponsesRule[] = [
  // "This model is only supported in v1/responses and not in v1/chat/completions": gpt-5-codex, gpt-5.3-codex and the
  // others (OpenAI's refusal, tmuxai#82; cookbook, gpt-5-codex prompting guide: "only supported with the Responses
  // API"; read 22 November 2026).
  { models: /^(?:gpt-[5-9](?:\.\d+)?-codex|codex-mini)(?:-|$)/, needs: "always" },
  // developers.openai.com/api/docs/models: o1-pro, o3-pro, gpt-5-pro and later list v1/responses without
  // v1/chat/completions; types of the `openai` SDK 7.55, ResponsesModel beside ChatModel; read 22 November 2026.
  { models: /^(?:o\d|gpt-[5-9](?:\.\d+)?)-pro(?:-|$)/, needs: "always" },
  // In ResponsesModel of the same types and not in ChatModel: deep research, computer use, and models of one trade.
  { models: /^(?:o\d(?:-mini)?-deep-research|computer-use-preview)(?:-|$)/, needs: "always" },
  { models: /^gpt-(?:daybreak|rosalind|\d+(?:\.\d+)?-(?:cyber|rosalind))(?:-|$)/, needs: "always" },
  // "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. Please use
  // /v1/responses instead.", of gpt-5.5 and gpt-5.6 without any effort too (openai/openai-openapi#541,
  // BerriAI/litellm#34569; read 22 November 2026).
  { models: /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9])(?!\d)/, needs: "with tools" },
];

/** Whether OpenAI takes a conversation of a model through the Responses API only. `tools`: it declares some. */
export function needsResponses(model: string, tools: boolean): boolean {
  let need = known.get(model);
  if (need === undefined) {
    const name = model.slice(model.lastIndexOf("/") + 1).replace(/^ft:/, "");
    const needs = rules.flatMap((rule) => (rule.models.test(name) ? [rule.needs] : []));
    need = needs.includes("always") ? "always" : (needs[0] ?? "never");
    if (known.size >= 10_000) known.clear();
    known.set(model, need);
  }
  return need === "always" || (tools && need === "with tools");
}

/** Every call asks several times. */
const known = new Map<string, ResponsesRule["needs"] | "never">();
