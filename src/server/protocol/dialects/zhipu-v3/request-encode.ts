/**
 * The neutral prompt for Zhipu's API of generation 3 (open.bigmodel.cn: /api/paas/v3/model-api/{model}/invoke and
 * sse-invoke; zhipuai 1.0.7; read November 2026). The model and whether the answer is streamed stand in the address.
 */
import type { ChatPrompt, Warn, WireObject } from "../../chat-events";
import { compact } from "../shared/json";
import { plainTurns } from "../shared/turns";
import { warnUnsupported } from "../shared/unsupported";
import { requestSupport } from "./support";

/** 0 and 1 are errors there. */
const LEAST = 0.01;
const MOST = 0.99;

function between(value: number | undefined, name: string, warn: Warn): number | undefined {
  if (value === undefined) return undefined;
  const near = Math.min(MOST, Math.max(LEAST, value));
  if (near !== value) warn("changed_value", name);
  return near;
}

export function encodeRequest(prompt: ChatPrompt, warn: Warn): WireObject {
  warnUnsupported(prompt, requestSupport, warn);
  const { system, turns } = plainTurns(prompt.messages, false, warn);
  const messages: WireObject[] = turns.map(({ role, text }) => ({ role, content: text }));
  if (system !== "") {
    warn("changed_value", "system message");
    const first = messages[0];
    if (first?.role === "user") messages[0] = { role: "user", content: `${system}\n\n${String(first.content)}` };
    else messages.unshift({ role: "user", content: system });
  }
  return compact({
    prompt: messages,
    temperature: between(prompt.temperature, "temperature", warn),
    top_p: between(prompt.top_p, "top_p", warn),
    incremental: true,
  });
}
