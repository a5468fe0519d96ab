/**
 * The neutral prompt as a chat call of Baidu Wenxin, generation 1 (cloud.baidu.com/doc/WENXINWORKSHOP/s/clntwmv7t,
 * ERNIE-4.0-8K; types of bce-qianfan-sdk; read November 2026). The model's name stands in the address.
 */
import type { ChatPrompt, Warn, WireObject } from "../../chat-events";
import { callArguments, functionsOf } from "../shared/functions";
import { compact } from "../shared/json";
import { plainTurns, type PlainTurn } from "../shared/turns";
import { takeExtra, warnUnsupported } from "../shared/unsupported";
import { requestSupport } from "./support";

/** Members that only Baidu knows: an OpenAI caller may send them. */
const OWN = new Set([
  "penalty_score",
  "disable_search",
  "enable_citation",
  "enable_trace",
  "min_output_tokens",
  "enable_system_memory",
  "system_memory_id",
]);
const LEAST_TEMPERATURE = 0.01;
const LEAST_OUTPUT = 2;

function messageOf(turn: PlainTurn): WireObject {
  if (turn.role === "function") return { role: "function", name: turn.name, content: turn.text || "{}" };
  const { role, text: content, call } = turn;
  if (!call) return { role, content };
  return { role, content, function_call: { name: call.name, arguments: callArguments(call) } };
}

function temperatureOf({ temperature }: ChatPrompt, warn: Warn): number | undefined {
  if (temperature === undefined) return undefined;
  const near = Math.min(1, Math.max(LEAST_TEMPERATURE, temperature));
  if (near !== temperature) warn("changed_value", "temperature");
  return near;
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const { system, turns } = plainTurns(prompt.messages, true, warn);
  const functions = functionsOf(prompt, warn);
  const { tool_choice, format } = prompt;
  if (tool_choice?.mode === "required" && functions.length > 1) warn("changed_value", "tool_choice");
  const forced =
    tool_choice?.mode === "named"
      ? tool_choice.name
      : tool_choice?.mode === "required" && functions.length === 1
        ? functions[0]?.name
        : undefined;
  if (format?.type === "json_schema") warn("changed_value", "response_format");
  if (prompt.max_output !== undefined && prompt.max_output < LEAST_OUTPUT) warn("changed_value", "max_output");
  return compact({
    messages: turns.map(messageOf),
    system: system || undefined,
    functions: functions.length > 0 ? functions : undefined,
    tool_choice:
      forced !== undefined && functions.length > 0 ? { type: "function", function: { name: forced } } : undefined,
    temperature: temperatureOf(prompt, warn),
    top_p: prompt.top_p,
    max_output_tokens: prompt.max_output === undefined ? undefined : Math.max(LEAST_OUTPUT, prompt.max_output),
    stop: prompt.stop,
    response_format: format && format.type !== "text" ? "json_object" : undefined,
    user_id: prompt.user,
    stream: prompt.stream ?? false,
    ...takeExtra(prompt.extra, OWN, "", warn),
  });
}
