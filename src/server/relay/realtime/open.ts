/**
 * GET /v1/realtime: authenticate, price, select, hold, connect; only then the caller's connection becomes a session.
 */
import { AppError, fail } from "../../../shared/errors";
import type { CompiledPrice } from "../../../shared/pricing";
import { priceAt } from "../../../shared/ruled-price";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import { steadyOf } from "../../lib/timers";
import { Deadlines } from "../call/deadlines";
import { type Admitted, type Asked, type Authenticated, startProgress } from "../call/call";
import { RequestContent } from "../call/request-content";
import type { Responder } from "../response/responder";
import { offeredProtocols, presentedKey } from "../admission/request-headers";
import { callError, thrownError } from "../response/error-response";
import { maxPrice } from "../billing/call-price";
import { releaseSlots } from "../billing/budgets";
import { reportLimits } from "../admission/limit-headers";
import { refusalError } from "../admission/refusal";
import { requireModel } from "../admission/model-access";
import type { Granted, Refusal } from "../../contracts/admission";
import { type Admission, NOTHING_USED } from "../../contracts/rate-limits";
import { checkLength } from "../operations/operation";
import { realtime } from "../operations/realtime";
import { timeoutsFor } from "../call/timeouts";
import { recordRefusal } from "../billing/log-row";
import { planHold } from "../billing/hold";
import { recordFailed } from "../billing/record-failed";
import { connect, type RealtimeWish } from "./connect";
import { errorEvent } from "./events";
import { ResponseBilling, type RoundMaker } from "./response-billing";
import { type CallerEvents, RealtimeSession } from "./session";

/** Smallest step of a hold, in tokens, when PreConsumedQuota is set lower. */
const LEAST_STEP = 16;
/** The model that a transcription session is routed and priced by; its actual model is chosen inside the session. */
const TRANSCRIPTION_MODEL = "gpt-4o-transcribe";
/** RFC 6455, 7.4.1. */
const POLICY_VIOLATION = 1008;

/** Upgrades the request to a WebSocket; false when it is no handshake or the caller has left. */
export type Upgrade = (headers: Record<string, string>, events: CallerEvents) => boolean;

interface Prepared {
  wish: RealtimeWish;
  responseBilling: ResponseBilling;
  /** The session's use of the caller's limits. */
  admission: Admission | undefined;
}

/**
 * Answers the handshake: an upgrade, or an HTTP error. Throws the AppError of a call that is refused before a channel
 * was called; but a caller without balance gets the error inside a session that ends with 1008, because a browser
 * cannot read a refused handshake.
 */
export async function openRealtime(
  arrival: Authenticated,
  request: Request,
  responder: Responder,
  upgrade: Upgrade | undefined,
): Promise<Response> {
  if (!upgrade || request.headers.get("upgrade")?.toLowerCase() !== "websocket") fail("upgrade_required");
  const { engine, caller, request_id } = arrival;
  const { controlPlane } = engine;
  const { model, ...wish } = await readWish(request, arrival);
  const refuse = (error: unknown): Promise<void> => recordRefusal(controlPlane, caller, { ...arrival, model }, error);
  let responseBilling: ResponseBilling;
  let outcome: Granted | Refusal;
  try {
    responseBilling = prepare(arrival, model);
    outcome = await responseBilling.admit({ model, tokens: 0, units: 0 });
  } catch (error) {
    await refuse(error);
    throw error;
  }
  reportLimits(responder, outcome.limits);
  const headers = answerHeaders(request, request_id);
  if (!outcome.granted) {
    const error = refusalError(outcome);
    await refuse(error);
    const told = outcome.by === "ledger";
    if (told) engine.observer.refused(error.code);
    if (told && upgrade(headers, refusal(errorEvent(thrownError(error, arrival), request_id), error.code)))
      return upgraded();
    throw error;
  }
  const prepared: Prepared = { wish, responseBilling, admission: outcome.limits };
  return start(request, responder, prepared, (events) => upgrade(headers, events));
}

async function readWish(request: Request, arrival: Authenticated): Promise<RealtimeWish & { model: string }> {
  const query = new URL(request.url).searchParams;
  const intent = query.get("intent") || undefined;
  const model = query.get("model") || query.get("deployment") || (intent === undefined ? "" : TRANSCRIPTION_MODEL);
  const beta =
    request.headers.get("openai-beta") === "realtime=v1" ||
    offeredProtocols(request).includes("openai-beta.realtime-v1");
  if (model !== "" && (intent === undefined || intent === "transcription")) return { model, intent, beta };
  const error = model === "" ? new AppError("model_missing") : new AppError("invalid_request", { detail: "intent" });
  await recordRefusal(arrival.engine.controlPlane, arrival.caller, { ...arrival, model }, error);
  throw error;
}

/** Throws the caller's error when the session is refused before its admission. */
function prepare(arrival: Authenticated, model: string): ResponseBilling {
  const { engine, caller } = arrival;
  const { controlPlane } = engine;
  checkLength("model", model, TEXT_LIMITS.model);
  requireModel(caller, model);
  const selection = engine.routing.select({ caller, operation: realtime, model });
  const now = (listed: CompiledPrice): CompiledPrice =>
    priceAt(listed, { moment: controlPlane.now(), member: () => [] });
  const price =
    maxPrice(controlPlane, caller, model, selection.candidates, now) ?? fail("model_price_missing", { model });
  const deadlines = new Deadlines(steadyOf(controlPlane.now), engine.timers);
  const attempts: Admitted["attempts"] = [];
  const step = Math.max(LEAST_STEP, controlPlane.option.preConsumedTokens);
  const round: RoundMaker = (request_id, name, sessionPrice, terms) => {
    // Each response has the price of the moment of its own hold.
    const roundPrice = now(sessionPrice);
    const asked: Asked = {
      ...arrival,
      request_id,
      operation: realtime,
      request: { model: name, stream: true, include_usage: true, max_output: step, terms },
      content: new RequestContent(),
      form: undefined,
      input_bound: step,
      conversation: undefined,
      task_id: undefined,
    };
    return {
      asked,
      selection,
      affinity_key: undefined,
      price: roundPrice,
      held_at: controlPlane.now(),
      limitRequest: planHold(asked, roundPrice).limitRequest,
      output_limit: undefined,
      admission: undefined,
      deadlines,
      attempts,
      progress: startProgress(controlPlane.now()),
    };
  };
  return new ResponseBilling(round, arrival.request_id, model, price);
}

/** The upstream comes first: its refusal is an HTTP error, and another channel may serve the session. */
async function start(
  request: Request,
  responder: Responder,
  prepared: Prepared,
  upgrade: (events: CallerEvents) => boolean,
): Promise<Response> {
  const { wish, responseBilling, admission } = prepared;
  const round = responseBilling.call;
  const { engine, dialect } = round.asked;
  // The session counts as a concurrent call of the channel; each response is admitted when it begins.
  const limitRequest = { model: round.limitRequest.model, tokens: 0, units: 0 };
  const call: Admitted = { ...round, limitRequest, progress: startProgress(round.progress.began) };
  const { progress } = call;
  const handleDisconnect = (): void => {
    progress.left = true;
    progress.wake?.();
    progress.onLeave?.();
  };
  request.signal.addEventListener("abort", handleDisconnect, { once: true });
  const outcome = await connect(call, wish);
  // An upgrade ends the request as well.
  request.signal.removeEventListener("abort", handleDisconnect);
  if (!outcome.ok) {
    engine.running.delete(call);
    await releaseSlots(admission, progress.attempt?.slot, NOTHING_USED);
    await responseBilling.end(outcome.end_reason);
    await recordFailed(call, outcome.failure, outcome.end_reason);
    return responder.error(dialect, callError(call, outcome.failure));
  }
  const { attempt, answer } = outcome;
  call.deadlines.total(timeoutsFor(engine.controlPlane.option, attempt.channel).totalMs);
  responseBilling.connected(attempt);
  const session = new RealtimeSession(attempt, responseBilling, answer);
  void session.ended.then(() => releaseSlots(admission, attempt.slot, { ...NOTHING_USED, success: true }));
  if (!engine.draining && !progress.left && upgrade(session)) {
    const { ip } = round.asked;
    const stop = engine.controlPlane.watchKey(presentedKey(request), ip, (reason) => session.revoke(reason));
    void session.ended.then(stop);
    return upgraded();
  }
  await session.abandon();
  throw new AppError(engine.draining ? "draining" : "upgrade_required");
}

/** `realtime` is confirmed where it was offered; the sub-protocol that carries a key never is. */
function answerHeaders(request: Request, requestId: string): Record<string, string> {
  const headers = { "x-request-id": requestId, "x-oneapi-request-id": requestId };
  return offeredProtocols(request).includes("realtime")
    ? { ...headers, "sec-websocket-protocol": "realtime" }
    : headers;
}

/** A session that only reports an error and closes. */
const refusal = (event: string, reason: string): CallerEvents => ({
  open(caller) {
    caller.send(event);
    caller.close(POLICY_VIOLATION, reason);
  },
});

/** The connection belongs to the session now; this response is not read. */
const upgraded = (): Response => new Response(null, { status: 101 });
