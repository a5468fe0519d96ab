/**
 * OpenAI Responses.
 * Source: platform.openai.com/docs/api-reference/responses and /responses-streaming (event names, order,
 * sequence_number), and the types of the `openai` npm SDK 7.55, read November 2026. The stream ends with its terminal
 * event; there is no [DONE].
 */
import { type Answer, type Json, list, object, text } from "../answer";
import type { FakeUsage } from "../behaviours";
import type { Dialect, Frame } from "./dialect";
import { openaiError } from "./openai-errors";

function responseUsage(usage: FakeUsage): Json {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  };
}

function incompleteReason(answer: Answer): string | undefined {
  return answer.finish === "length"
    ? "max_output_tokens"
    : answer.finish === "content_filter"
      ? "content_filter"
      : undefined;
}

function response(answer: Answer, request: Json, state: "in_progress" | "done", output: Json[]): Json {
  const done = state === "done";
  const incomplete = incompleteReason(answer);
  return {
    id: `resp_${answer.id}`,
    object: "response",
    created_at: answer.created,
    status: done ? (incomplete ? "incomplete" : "completed") : "in_progress",
    background: false,
    completed_at: done && !incomplete ? answer.created : null,
    error: null,
    incomplete_details: done && incomplete ? { reason: incomplete } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    model: answer.model,
    output,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: "default",
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { format: { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    tools: list(request.tools),
    top_p: request.top_p ?? 1,
    truncation: "disabled",
    usage: done && answer.usage ? responseUsage(answer.usage) : null,
    user: null,
    metadata: request.metadata ?? {},
  };
}

const messageParts = (answer: Answer): Json[] => [
  ...(answer.text.length > 0 || (answer.refusal.length === 0 && answer.tools.length === 0)
    ? [{ type: "output_text", text: answer.text.join(""), annotations: [], logprobs: [] }]
    : []),
  ...(answer.refusal.length > 0 ? [{ type: "refusal", refusal: answer.refusal.join("") }] : []),
];

/** Output items in order: reasoning, message, function calls. */
function items(answer: Answer): Json[] {
  const status = incompleteReason(answer) ? "incomplete" : "completed";
  const output: Json[] = [];
  if (answer.reasoning.length > 0) {
    const summary = [{ type: "summary_text", text: answer.reasoning.join("") }];
    output.push({
      id: `rs_${answer.id}`,
      type: "reasoning",
      summary,
      encrypted_content: `fake-encrypted-${answer.id}`,
    });
  }
  const content = messageParts(answer);
  if (content.length > 0) output.push({ id: `msg_${answer.id}`, type: "message", status, role: "assistant", content });
  for (const tool of answer.tools) {
    const call = { arguments: tool.fragments.join(""), call_id: `call_${tool.id}`, name: tool.name };
    output.push({ id: `fc_${tool.id}`, type: "function_call", status: "completed", ...call });
  }
  return output;
}

function frames(answer: Answer, request: Json): Frame[] {
  const out: Frame[] = [];
  const add = (type: string, fields: Json, kind: Frame["kind"]): void => {
    out.push({ event: type, kind, data: JSON.stringify({ type, sequence_number: out.length, ...fields }) });
  };
  add("response.created", { response: response(answer, request, "in_progress", []) }, "opening");
  add("response.in_progress", { response: response(answer, request, "in_progress", []) }, "opening");
  const output = items(answer);
  let toolIndex = 0;
  output.forEach((item, output_index) => {
    const at = { item_id: item.id, output_index };
    if (item.type === "reasoning") {
      add(
        "response.output_item.added",
        { output_index, item: { ...item, summary: [], encrypted_content: "" } },
        "opening",
      );
      const part = { ...at, summary_index: 0 };
      add("response.reasoning_summary_part.added", { ...part, part: { type: "summary_text", text: "" } }, "opening");
      for (const delta of answer.reasoning) add("response.reasoning_summary_text.delta", { ...part, delta }, "content");
      const whole = answer.reasoning.join("");
      add("response.reasoning_summary_text.done", { ...part, text: whole }, "closing");
      add("response.reasoning_summary_part.done", { ...part, part: { type: "summary_text", text: whole } }, "closing");
    } else if (item.type === "message") {
      add(
        "response.output_item.added",
        { output_index, item: { ...item, status: "in_progress", content: [] } },
        "opening",
      );
      list(item.content)
        .map(object)
        .forEach((part, content_index) => {
          const here = { ...at, content_index };
          if (part.type === "refusal") {
            add("response.content_part.added", { ...here, part: { type: "refusal", refusal: "" } }, "opening");
            for (const delta of answer.refusal) add("response.refusal.delta", { ...here, delta }, "content");
            add("response.refusal.done", { ...here, refusal: part.refusal }, "closing");
          } else {
            add("response.content_part.added", { ...here, part: { ...part, text: "" } }, "opening");
            for (const delta of answer.text)
              add("response.output_text.delta", { ...here, delta, logprobs: [] }, "content");
            add("response.output_text.done", { ...here, text: part.text, logprobs: [] }, "closing");
          }
          add("response.content_part.done", { ...here, part }, "closing");
        });
    } else {
      const tool = answer.tools[toolIndex++];
      add(
        "response.output_item.added",
        { output_index, item: { ...item, status: "in_progress", arguments: "" } },
        "opening",
      );
      for (const delta of tool?.fragments ?? [])
        add("response.function_call_arguments.delta", { ...at, delta }, "content");
      const done = { ...at, name: item.name, arguments: item.arguments };
      add("response.function_call_arguments.done", done, "closing");
    }
    add("response.output_item.done", { output_index, item }, "closing");
  });
  const type = incompleteReason(answer) ? "response.incomplete" : "response.completed";
  add(type, { response: response(answer, request, "done", output) }, "usage");
  return out;
}

export const openaiResponses: Dialect = {
  prompt(request) {
    const input = request.input;
    const last = list(input)
      .map(object)
      .findLast((item) => item.role === "user");
    const content = typeof input === "string" ? input : last?.content;
    return {
      lastUserText:
        typeof content === "string"
          ? content
          : list(content)
              .map((part) => text(object(part).text))
              .join(""),
      toolNames: list(request.tools)
        .map((tool) => text(object(tool).name))
        .filter(Boolean),
    };
  },
  whole: (answer, request) => response(answer, request, "done", items(answer)),
  frames,
  error: openaiError,
  errorFrame: (sent) => ({
    event: "error",
    kind: "content",
    data: JSON.stringify({
      type: "error",
      sequence_number: sent,
      code: "server_error",
      message: "The server had an error.",
      param: null,
    }),
  }),
};
