/** The end of a call that is no conversation: attempts, charge, response. */
import type { Admitted } from "../call/call";
import type { Responder } from "../response/responder";
import { failureOf } from "../../protocol/upstream-failure";
import type { Opened } from "../billing/admit-and-hold";
import { handleDisconnect } from "../call/timeouts";
import type { Answer } from "../upstream/attempt";
import type { RetryOutcome } from "../upstream/retry";
import { withRetries } from "../upstream/with-retries";
import { refuse } from "./failed";
import { outcomeOrPing } from "./outcome-or-ping";
import { UntranslatedBody } from "./untranslated-body";

/**
 * The response when it is complete; or, where the channel asks for pings and it takes long, its head with blanks until
 * it is complete: then an error comes with status 200.
 */
export async function answerUntranslated(opened: Opened, responder: Responder): Promise<Response> {
  const { call } = opened;
  const outcome = withRetries(call);
  const first = await outcomeOrPing(call, outcome);
  if (first !== "ping") return finish(opened, responder, first);
  const { engine, form, request_id } = call.asked;
  const answer = outcome
    .then((came) => finish(opened, responder, came))
    .catch((error: unknown) => {
      engine.log.error({ err: error, request_id }, "relay failed");
      form?.close();
      return refuse(opened, responder, {
        ok: false,
        failure: failureOf("malformed"),
        end_reason: "upstream_error",
      });
    });
  // The kept content is the response without the blanks.
  const { tap } = responder;
  responder.tap = undefined;
  const response = responder.raw(
    new ReadableStream(new AwaitedBody(call, answer), { highWaterMark: 0 }),
    "application/json",
  );
  responder.tap = tap;
  return response;
}

async function finish(opened: Opened, responder: Responder, outcome: RetryOutcome<Answer>): Promise<Response> {
  const { call, billing } = opened;
  const { asked, deadlines, progress } = call;
  if (outcome.ok && outcome.answer.kind === "flow") {
    const { attempt, answer } = outcome;
    // A price that depends on the request alone is owed as soon as the response begins.
    await billing.commitPrice(attempt);
    return responder.raw(
      new ReadableStream(new UntranslatedBody(attempt, billing, answer), { highWaterMark: 0 }),
      answer.content_type,
    );
  }
  asked.form?.close();
  progress.over = true;
  deadlines.clear();
  if (!outcome.ok || outcome.answer.kind !== "answer") return refuse(opened, responder, outcome);
  const { usage, content_bytes, body, content_type } = outcome.answer;
  const end_reason = progress.left ? "caller_left" : "complete";
  await billing.settle(outcome.attempt, { end_reason, usage, content_bytes });
  return responder.raw(body, content_type);
}

const blank = Buffer.from("\n");

/** Blanks at the call's pings, then the body of the response. */
class AwaitedBody implements UnderlyingDefaultSource<Uint8Array> {
  readonly #call: Admitted;
  readonly #answer: Promise<Response>;
  #left = false;

  constructor(call: Admitted, answer: Promise<Response>) {
    this.#call = call;
    this.#answer = answer;
    const { stats } = call.asked.engine;
    stats.open_streams++;
    const end = (): void => void stats.open_streams--;
    answer.then(end, end);
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const ping = (): void => {
      if (!this.#left) controller.enqueue(blank);
    };
    ping();
    this.#call.deadlines.onPing = ping;
    void this.#send(controller);
  }

  cancel(): void {
    this.#left = true;
    handleDisconnect(this.#call);
  }

  async #send(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const bytes = await (await this.#answer).bytes();
      if (this.#left) return;
      controller.enqueue(bytes);
      controller.close();
    } catch (error) {
      if (!this.#left) controller.error(error);
    }
  }
}
