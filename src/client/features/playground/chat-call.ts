import { callHeaders } from "../../lib/http";
import { eventData } from "../../lib/event-stream";
import type { ChatMessage, ToolCall } from "./conversation";

/** The request body of the playground (C-559). `max_tokens` 0 is unset: the server drops it. */
export interface ChatBody {
  messages: ChatMessage[];
  stream: true;
  model: string;
  group: string;
  max_tokens: number;
  temperature: number;
}

/** A call that failed: by a status, or (status 0) by an error inside the stream or no answer at all. */
export class ChatError extends Error {
  override readonly name = "ChatError";
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** What has come so far. */
export interface Progress {
  text: string;
  reasoning: string;
  tools: ToolCall[];
}

export interface ChatOutcome {
  /** The stream ended on `[DONE]`; false when it broke off. */
  done: boolean;
}

const member = (value: unknown, key: string | number): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
const textAt = (value: unknown, key: string): string => {
  const found = member(value, key);
  return typeof found === "string" ? found : "";
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The message of an error object; undefined when there is none. */
function errorText(value: unknown): string | undefined {
  const error = member(value, "error");
  if (typeof error === "string") return error;
  const message = member(error, "message");
  return typeof message === "string" ? message : error ? JSON.stringify(error) : undefined;
}

/** Adds one chunk of an OpenAI stream to what came before; throws ChatError for an error event. */
export function addChunk(progress: Progress, data: string): Progress {
  const chunk = parse(data);
  const message = errorText(chunk);
  if (message !== undefined) throw new ChatError(message, 0);
  const delta = member(member(member(chunk, "choices"), 0), "delta");
  const calls = member(delta, "tool_calls");
  return {
    text: progress.text + textAt(delta, "content"),
    reasoning: progress.reasoning + (textAt(delta, "reasoning_content") || textAt(delta, "reasoning")),
    tools: Array.isArray(calls) ? calls.reduce(addToolCall, progress.tools) : progress.tools,
  };
}

/** Tool calls come in fragments that say by `index` which call they continue. */
function addToolCall(tools: ToolCall[], fragment: unknown): ToolCall[] {
  const index = member(fragment, "index");
  const at = typeof index === "number" && index >= 0 && index <= tools.length ? index : tools.length;
  const part = member(fragment, "function");
  const before = tools[at] ?? { name: "", arguments: "" };
  const call = { name: before.name + textAt(part, "name"), arguments: before.arguments + textAt(part, "arguments") };
  return [...tools.slice(0, at), call, ...tools.slice(at + 1)];
}

/**
 * Sends one chat call with the session and reads its stream. `onHead` gets the request id, `onProgress` everything so
 * far with each event. Throws ChatError, and what `signal` throws when it ends the call.
 */
export async function sendChat(
  body: ChatBody,
  {
    signal,
    onHead,
    onProgress,
  }: { signal: AbortSignal; onHead: (requestId: string | null) => void; onProgress: (progress: Progress) => void },
): Promise<ChatOutcome> {
  let response: Response;
  try {
    response = await fetch("/pg/chat/completions", {
      method: "POST",
      headers: { ...callHeaders(), "content-type": "application/json" },
      body: JSON.stringify(body),
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ChatError(error instanceof Error ? error.message : String(error), 0);
  }
  onHead(response.headers.get("x-request-id"));
  if (!response.ok || !response.body) {
    const text = await response.text();
    throw new ChatError(errorText(parse(text)) ?? (text.slice(0, 500) || response.statusText), response.status);
  }
  let progress: Progress = { text: "", reasoning: "", tools: [] };
  try {
    for await (const data of eventData(response.body)) {
      if (data === "[DONE]") return { done: true };
      progress = addChunk(progress, data);
      onProgress(progress);
    }
  } catch (error) {
    if (signal.aborted || error instanceof ChatError) throw error;
    throw new ChatError(error instanceof Error ? error.message : String(error), 0);
  }
  return { done: false };
}
