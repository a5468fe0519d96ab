/**
 * The neutral prompt as a frame of iFlytek Spark (xfyun.cn/doc/spark/Web.html, 1.3 and 3: request; functions; read
 * November 2026). What the channel knows (header.app_id, parameter.chat.domain) its provider adds.
 */
import type { ChatPrompt, Warn, WireObject } from "../../chat-events";
import { callArguments, functionsOf } from "../shared/functions";
import { compact } from "../shared/json";
import { plainTurns, type PlainTurn } from "../shared/turns";
import { warnUnsupported } from "../shared/unsupported";
import { requestSupport } from "./support";

const LEAST_TEMPERATURE = 0.01;
/** Spark samples from 1 to 6 candidates. */
const MOST_TOP_K = 6;
/** Most characters of a user's name. */
const LONGEST_USER = 32;

/**
 * A function's call and its answer are written as turns of assistant and user: frames that go back have content alone.
 */
function textOf(turn: PlainTurn): WireObject {
  if (turn.role === "function") return { role: "user", content: `${turn.name}: ${turn.text}` };
  const { role, text, call } = turn;
  return { role, content: call ? [text, `${call.name}(${callArguments(call)})`].filter(Boolean).join("\n") : text };
}

function within(value: number | undefined, least: number, most: number, name: string, warn: Warn): number | undefined {
  if (value === undefined) return undefined;
  const near = Math.min(most, Math.max(least, value));
  if (near !== value) warn("changed_value", name);
  return near;
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const { system, turns } = plainTurns(prompt.messages, true, warn);
  const functions = functionsOf(prompt, warn);
  if (prompt.user !== undefined && prompt.user.length > LONGEST_USER) warn("changed_value", "user");
  const { mode } = prompt.tool_choice ?? {};
  if (functions.length > 0 && (mode === "named" || mode === "required")) warn("changed_value", "tool_choice");
  return compact({
    header: prompt.user === undefined ? {} : { uid: prompt.user.slice(0, LONGEST_USER) },
    parameter: {
      chat: compact({
        temperature: within(prompt.temperature, LEAST_TEMPERATURE, 1, "temperature", warn),
        top_k: within(prompt.top_k, 1, MOST_TOP_K, "top_k", warn),
        max_tokens: prompt.max_output,
      }),
    },
    payload: compact({
      message: { text: [...(system === "" ? [] : [{ role: "system", content: system }]), ...turns.map(textOf)] },
      functions: functions.length > 0 ? { text: functions } : undefined,
    }),
  });
}
