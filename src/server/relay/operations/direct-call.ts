/** The end of the story for a call that is no conversation: attempts, charge, answer. */
import type { Call } from "../call";
import type { Door } from "../door";
import type { CallMoney } from "../money";
import type { Selection } from "../select";
import { runAttempts, type TriesOutcome } from "../tries";
import { DirectBody } from "./direct-body";

/** `refuse` answers a call whose attempts failed. */
export async function answerDirect(
  call: Call,
  selection: Selection,
  money: CallMoney,
  door: Door,
  refuse: (call: Call, money: CallMoney, door: Door, outcome: TriesOutcome) => Promise<Response>,
): Promise<Response> {
  const outcome = await runAttempts(call, selection);
  const answer = outcome.ok && outcome.kind === "direct" ? outcome.answer : undefined;
  if (answer?.kind === "flow") {
    // What the request alone decides is owed as soon as the answer begins.
    await money.commitPrice();
    return door.raw(new ReadableStream(new DirectBody(call, money, answer), { highWaterMark: 0 }), answer.content_type);
  }
  call.form?.close();
  call.over = true;
  call.alarm.clear();
  if (!answer) return refuse(call, money, door, outcome);
  await money.settle({ end_reason: call.left ? "caller_left" : "complete", usage: answer.usage, content_bytes: 0 });
  return door.raw(answer.body, answer.content_type);
}
