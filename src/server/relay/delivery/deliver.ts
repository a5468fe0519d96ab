/** The end of a call: attempts, then the response, whole or streamed, or the caller's error. */
import { ContentTap } from "../response/content-tap";
import type { Responder } from "../response/responder";
import type { Opened } from "../billing/admit-and-hold";
import { refuse } from "./failed";
import { outcomeOrPing } from "./outcome-or-ping";
import { answerUntranslated } from "./untranslated";
import { StreamBody } from "./stream-body";
import { withRetries } from "../upstream/with-retries";

/** Attempts, delivers, settles and records. The call has its hold; this function ends it. */
export function deliver(opened: Opened, responder: Responder): Promise<Response> {
  const { asked } = opened.call;
  responder.tap = ContentTap.of(asked);
  if (asked.operation.direct) return answerUntranslated(opened, responder);
  return asked.request.stream ? answerStream(opened, responder) : answerWhole(opened, responder);
}

/** A whole response: read, charged, then sent. */
async function answerWhole(opened: Opened, responder: Responder): Promise<Response> {
  const { call, billing } = opened;
  const { asked, deadlines, progress } = call;
  const outcome = await withRetries(call);
  progress.over = true;
  deadlines.clear();
  if (!outcome.ok || outcome.answer.kind !== "whole") return refuse(opened, responder, outcome);
  const { attempt, answer } = outcome;
  const { usage, content_bytes } = answer.result;
  await billing.settle(attempt, { end_reason: progress.left ? "caller_left" : "complete", usage, content_bytes });
  await asked.conversation?.keep(attempt, answer.body);
  return responder.json(answer.body);
}

/** A streamed response: its head is sent with the first content, or with a ping when that takes long. */
async function answerStream(opened: Opened, responder: Responder): Promise<Response> {
  const outcome = withRetries(opened.call);
  const first = await outcomeOrPing(opened.call, outcome);
  if (first !== "ping" && (!first.ok || first.answer.kind !== "stream")) return refuse(opened, responder, first);
  const body = new StreamBody(opened, first === "ping" ? outcome : first);
  const whole = first === "ping" ? undefined : await body.whole();
  return whole ? responder.events(whole) : responder.events(new ReadableStream(body, { highWaterMark: 0 }));
}
