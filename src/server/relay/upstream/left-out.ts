/**
 * Parts of a translated call that some accounts of a vendor refuse and the caller has not named: the call is repeated
 * once without each. A caller of the vendor's own dialect gets the refusal.
 */
import type { ChatPrompt, Warning } from "../../protocol/chat-events";
import type { Failure } from "../../protocol/upstream-failure";
import type { Attempted, LeftOut } from "../call/call";

/**
 * The part that a failure refuses. OpenAI: summaries of thoughts are for verified organizations ("Your organization
 * must be verified to generate reasoning summaries", param reasoning.summary; continuedev/continue#9666), and encrypted
 * thoughts are for the account that wrote them, so that they are refused at another key or channel (code
 * invalid_encrypted_content; openai/codex#8145); read 22 November 2026.
 */
export function refusedPart({ call, left_out }: Attempted, failure: Failure): LeftOut | undefined {
  const { error, upstream_status } = failure;
  if (upstream_status !== 400 || call.asked.dialect.key === "openai-responses") return undefined;
  const part =
    error?.param === "reasoning.summary"
      ? "summary"
      : error?.code === "invalid_encrypted_content"
        ? "thoughts"
        : undefined;
  return part && left_out?.includes(part) ? undefined : part;
}

const warnings: Readonly<Record<LeftOut, Warning>> = {
  summary: { code: "dropped_field", detail: "reasoning.summary" },
  thoughts: { code: "dropped_reasoning", detail: "another account" },
};

/** The prompt without these parts, and what the log says of it. */
export function leaveOut(prompt: ChatPrompt, parts: readonly LeftOut[]): { prompt: ChatPrompt; warnings: Warning[] } {
  let { reasoning, messages } = prompt;
  if (parts.includes("summary")) reasoning = { ...reasoning, show: false };
  if (parts.includes("thoughts"))
    messages = messages.map((message) => ({
      ...message,
      content: message.content.filter(({ type }) => type !== "reasoning"),
    }));
  return {
    prompt: { ...prompt, messages, ...(reasoning && { reasoning }) },
    warnings: parts.map((part) => warnings[part]),
  };
}
