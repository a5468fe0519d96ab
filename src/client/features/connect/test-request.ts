import { eventData } from "../../lib/event-stream";

/** One real chat call from this browser, streamed: what the panel's button sends. */
export interface TestRequest {
  key: string;
  model: string;
  text: string;
  signal: AbortSignal;
  /** Called with the answer so far, as it grows. */
  onText: (text: string) => void;
}

export type TestOutcome =
  | { ok: true; text: string; milliseconds: number }
  /** `status` 0: no answer came. */
  | { ok: false; status: number; message: string };

/** Sends it to this gateway. Never throws, except when `signal` ended it. */
export async function sendTestRequest({ key, model, text, signal, onText }: TestRequest): Promise<TestOutcome> {
  const started = performance.now();
  try {
    const response = await fetch("/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: text }] }),
      credentials: "omit",
      signal,
    });
    if (!response.ok || !response.body) {
      return { ok: false, status: response.status, message: errorOf(await response.text()) ?? response.statusText };
    }
    let answer = "";
    for await (const data of eventData(response.body)) {
      if (data === "[DONE]") break;
      const message = errorOf(data);
      if (message !== undefined) return { ok: false, status: response.status, message };
      answer += contentOf(data);
      onText(answer);
    }
    return { ok: true, text: answer, milliseconds: performance.now() - started };
  } catch (error) {
    if (signal.aborted) throw error;
    return { ok: false, status: 0, message: error instanceof Error ? error.message : String(error) };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const member = (value: unknown, key: string | number): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;

function contentOf(data: string): string {
  const content = member(member(member(member(parse(data), "choices"), 0), "delta"), "content");
  return typeof content === "string" ? content : "";
}

function errorOf(data: string): string | undefined {
  const message = member(member(parse(data), "error"), "message");
  return typeof message === "string" ? message : undefined;
}
