/** The end of the story for a call that is no conversation: attempts, charge, answer. */
import type { Call } from "../call/call";
import type { Responder } from "../response/responder";
import { failureOf } from "../../protocol/upstream-failure";
import type { CallBilling } from "../billing/call-billing";
import { handleDisconnect } from "../call/timeouts";
import type { Selection } from "../routing/channel-selector";
import { withRetries, type RetryOutcome } from "../upstream/retry";
import { UntranslatedBody } from "./untranslated-body";

/** Answers a call whose attempts failed. */
type Refuse = (call: Call, billing: CallBilling, responder: Responder, outcome: RetryOutcome) => Promise<Response>;

/**
 * The answer when it is there; or, where the channel asks for pings and it takes long, its head with blanks until it
 * is: then an error comes with status 200.
 */
export async function answerUntranslated(
  call: Call,
  selection: Selection,
  billing: CallBilling,
  responder: Responder,
  refuse: Refuse,
): Promise<Response> {
  const outcome = withRetries(call, selection);
  const first = await Promise.race([
    outcome,
    new Promise<"ping">((resolve) => (call.deadlines.onPing = () => resolve("ping"))),
  ]);
  if (first !== "ping") return finish(call, billing, responder, refuse, first);
  const { engine, request_id } = call;
  const answer = outcome
    .then((came) => finish(call, billing, responder, refuse, came))
    .catch((error: unknown) => {
      engine.log.error({ err: error, request_id }, "relay failed");
      call.form?.close();
      return refuse(call, billing, responder, {
        ok: false,
        failure: failureOf("malformed"),
        end_reason: "upstream_error",
      });
    });
  // What is kept of the call's content is the answer, without the blanks.
  const { tap } = responder;
  responder.tap = undefined;
  const response = responder.raw(
    new ReadableStream(new AwaitedBody(call, answer), { highWaterMark: 0 }),
    "application/json",
  );
  responder.tap = tap;
  return response;
}

async function finish(
  call: Call,
  billing: CallBilling,
  responder: Responder,
  refuse: Refuse,
  outcome: RetryOutcome,
): Promise<Response> {
  const answer = outcome.ok && outcome.kind === "direct" ? outcome.answer : undefined;
  if (answer?.kind === "flow") {
    // What the request alone decides is owed as soon as the answer begins.
    await billing.commitPrice();
    return responder.raw(
      new ReadableStream(new UntranslatedBody(call, billing, answer), { highWaterMark: 0 }),
      answer.content_type,
    );
  }
  call.form?.close();
  call.over = true;
  call.deadlines.clear();
  if (!answer) return refuse(call, billing, responder, outcome);
  await billing.settle({
    end_reason: call.left ? "caller_left" : "complete",
    usage: answer.usage,
    content_bytes: answer.content_bytes,
  });
  return responder.raw(answer.body, answer.content_type);
}

const blank = Buffer.from("\n");

/** Blanks at the call's pings, then the body of the answer. */
class AwaitedBody implements UnderlyingDefaultSource<Uint8Array> {
  readonly #call: Call;
  readonly #answer: Promise<Response>;
  #left = false;

  constructor(call: Call, answer: Promise<Response>) {
    this.#call = call;
    this.#answer = answer;
    const { stats } = call.engine;
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
