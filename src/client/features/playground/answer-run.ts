/** One answer of the playground, from its call to its bill. */
import { t } from "@lingui/core/macro";
import { reportError } from "../../lib/errors";
import { CallError } from "../../lib/http";
import type { trpc } from "../../lib/trpc";
import { type ChatBody, ChatError, type Progress, sendChat } from "./chat-call";
import type { Answer } from "./conversation";

/** How often a growing answer is drawn, in milliseconds. */
const DRAW_EVERY = 50;
/** When the log row is looked for after the end: a stopped call settles when its upstream is drained. */
const BILL_DELAYS = [0, 1_000, 6_000];

/** Calls the model and reports the answer as it grows and ends. Resolves with the request id, null without one. */
export async function runAnswer(
  body: ChatBody,
  signal: AbortSignal,
  change: (part: Partial<Answer>) => void,
): Promise<string | null> {
  const started = performance.now();
  let requestId: string | null = null;
  let ttft: number | undefined;
  let drawn = 0;
  let seen: Progress = { text: "", reasoning: "", tools: [] };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = () => {
    drawn = performance.now();
    timer = undefined;
    change({ ...seen, ...(ttft !== undefined && { ttft, state: "incomplete" }) });
  };
  const finish = (part: Partial<Answer>) => {
    clearTimeout(timer);
    change({ ...seen, ...(ttft !== undefined && { ttft }), duration: performance.now() - started, ...part });
  };
  try {
    const { done } = await sendChat(body, {
      signal,
      onHead: (head) => {
        requestId = head;
        if (head !== null) change({ request_id: head });
      },
      onProgress: (progress) => {
        seen = progress;
        if (progress.text !== "" || progress.reasoning !== "" || progress.tools.length > 0)
          ttft ??= performance.now() - started;
        timer ??= setTimeout(draw, Math.max(0, drawn + DRAW_EVERY - performance.now()));
      },
    });
    finish(
      done ? { state: "complete" } : { state: "error", error: { status: 0, message: t`回答中断：连接在结束前关闭` } },
    );
  } catch (error) {
    if (signal.aborted) finish({ state: "incomplete" });
    else {
      const { status, message } = error instanceof ChatError ? error : { status: 0, message: String(error) };
      finish({ state: "error", error: { status, message } });
      if (status === 401) reportError(new CallError(message, status, requestId));
    }
  }
  return requestId;
}

type Client = ReturnType<typeof trpc.useUtils>["client"];

/** What a call cost, once its row is in the log; undefined without one (the operator keeps no log, say). */
export async function billOf(client: Client, request_id: string, stopped: boolean): Promise<Answer["bill"]> {
  for (const delay of stopped ? BILL_DELAYS : BILL_DELAYS.slice(0, 2)) {
    await new Promise((resolve) => setTimeout(resolve, delay));
    try {
      const [row] = (await client.log.own.query({ request_id, limit: 1 })).items;
      if (!row) continue;
      const { id: log_id, prompt_tokens, completion_tokens, quota } = row;
      return { log_id, prompt_tokens, completion_tokens, quota };
    } catch {
      return undefined;
    }
  }
  return undefined;
}
