/**
 * GET /v1/realtime: authenticate, price, select, hold, connect; only then the caller's connection becomes a session.
 */
import { AppError, errors, fail } from "../../../shared/errors";
import type { Lang } from "../../../shared/text";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import { Deadlines } from "../call/deadlines";
import type { Call, Engine } from "../call/call";
import type { CallerDialect } from "../../protocol/dialects/dialect";
import { type Responder, offeredProtocols } from "../response/responder";
import { callError, thrownError } from "../response/error-response";
import { maxPrice } from "../billing/call-price";
import { releaseSlots } from "../billing/budgets";
import { enter } from "../admission/rate-limit";
import type { Admission } from "../../contracts/rate-limits";
import { checkLength } from "../operations/operation";
import { realtime } from "../operations/realtime";
import { timeoutsFor } from "../call/timeouts";
import { callRow, recordRefusal } from "../billing/log-row";
import type { Caller } from "../../contracts/caller";
import type { Selection } from "../routing/channel-selector";
import { connect, type RealtimeWish } from "./connect";
import { errorEvent } from "./events";
import { ResponseBilling } from "./response-billing";
import { type CallerEvents, RealtimeSession } from "./session";

/** Smallest step of a hold, in tokens, when PreConsumedQuota is set lower. */
const LEAST_STEP = 16;
/** What a session that only transcribes is routed and priced by; its own model is chosen inside it. */
const TRANSCRIPTION_MODEL = "gpt-4o-transcribe";
/** RFC 6455, 7.4.1. */
const POLICY_VIOLATION = 1008;

/** Turns the request's connection into a WebSocket; false when it is no handshake or the caller has gone. */
export type Upgrade = (headers: Record<string, string>, events: CallerEvents) => boolean;

/** Who knocks, once the key is known. */
export interface RealtimeArrival {
  dialect: CallerDialect;
  caller: Caller;
  lang: Lang;
  ip: string;
  path: string;
  client_type: string;
  api_version: string;
  request_id: string;
  arrived: number;
  traceparent?: string;
}

interface Prepared {
  wish: RealtimeWish;
  selection: Selection;
  responseBilling: ResponseBilling;
  admission?: Admission;
}

/** What a session itself uses of a limit. */
const nothing = { tokens: 0, success: false, units: 0 };

/**
 * Answers the handshake: an upgrade, or an HTTP error. Throws the AppError of what is refused before a channel was
 * asked; but who has no balance is told inside a session that ends with 1008, because a browser cannot read a refused
 * handshake.
 */
export async function openRealtime(
  engine: Engine,
  request: Request,
  responder: Responder,
  arrival: RealtimeArrival,
  upgrade: Upgrade | undefined,
): Promise<Response> {
  if (!upgrade || request.headers.get("upgrade")?.toLowerCase() !== "websocket") fail("upgrade_required");
  const { controlPlane } = engine;
  const { caller, request_id, lang } = arrival;
  const { model, ...wish } = await readWish(request, engine, arrival);
  const refuse = (error: unknown): Promise<void> => recordRefusal(controlPlane, caller, { ...arrival, model }, error);
  let prepared: Prepared;
  try {
    prepared = { wish, ...(await prepare(engine, responder, arrival, model)) };
  } catch (error) {
    await refuse(error);
    throw error;
  }
  const { responseBilling, admission } = prepared;
  const headers = answerHeaders(request, request_id);
  try {
    await responseBilling.hold();
  } catch (error) {
    await admission?.end(nothing);
    await refuse(error);
    const told = error instanceof AppError && errors[error.code].owner === "caller";
    if (told) engine.observer.refused(error.code);
    if (told && upgrade(headers, refusal(errorEvent(thrownError(error, lang, request_id), request_id), error.code)))
      return upgraded();
    throw error;
  }
  return start(request, responder, prepared, (events) => upgrade(headers, events));
}

async function readWish(
  request: Request,
  { controlPlane }: Engine,
  arrival: RealtimeArrival,
): Promise<RealtimeWish & { model: string }> {
  const query = new URL(request.url).searchParams;
  const intent = query.get("intent") || undefined;
  const model = query.get("model") || query.get("deployment") || (intent === undefined ? "" : TRANSCRIPTION_MODEL);
  const beta =
    request.headers.get("openai-beta") === "realtime=v1" ||
    offeredProtocols(request).includes("openai-beta.realtime-v1");
  if (model !== "" && (intent === undefined || intent === "transcription")) return { model, intent, beta };
  const error = model === "" ? new AppError("model_missing") : new AppError("invalid_request", { detail: "intent" });
  await recordRefusal(controlPlane, arrival.caller, { ...arrival, model }, error);
  throw error;
}

async function prepare(
  engine: Engine,
  responder: Responder,
  arrival: RealtimeArrival,
  model: string,
): Promise<Omit<Prepared, "wish">> {
  const { controlPlane } = engine;
  const { caller } = arrival;
  checkLength("model", model, TEXT_LIMITS.model);
  if (caller.models && !caller.models.has(model)) fail("token_model_denied", { model });
  const selection = engine.routing.select({ caller, operation: realtime, model });
  const price = maxPrice(controlPlane, caller, model, selection.candidates) ?? fail("model_price_missing", { model });
  const admitted = controlPlane.limits.admit(caller, { model, tokens: 0, units: 0 });
  const admission = admitted && enter(await admitted, responder);
  const deadlines = new Deadlines(() => controlPlane.now(), engine.timers);
  const attempts: Call["attempts"] = [];
  const step = Math.max(LEAST_STEP, controlPlane.option.preConsumedTokens);
  const responseBilling = new ResponseBilling(
    (id, name, itsPrice, terms) => ({
      ...arrival,
      request_id: id,
      engine,
      operation: realtime,
      betas: "",
      deadlines,
      attempts,
      explain: () => selection.explain(),
      request: { model: name, stream: true, include_usage: true, max_output: step, terms },
      body: Buffer.alloc(0),
      form: undefined,
      price: itsPrice,
      input_bound: step,
      arrived: controlPlane.now(),
      channel: undefined,
      limitRequest: { model: name, tokens: 0, units: 0 },
      upstream_model: "",
      upstream_request_id: "",
      warnings: [],
      first_content_at: -1,
      channelSlot: undefined,
      left: false,
      over: false,
      onLeave: undefined,
    }),
    arrival.request_id,
    model,
    price,
  );
  return { selection, responseBilling, ...(admission && { admission }) };
}

/** The upstream first: what it refuses is an HTTP error, and another channel may take it. */
async function start(
  request: Request,
  responder: Responder,
  prepared: Prepared,
  upgrade: (events: CallerEvents) => boolean,
): Promise<Response> {
  const { wish, selection, responseBilling, admission } = prepared;
  const { call } = responseBilling;
  const { engine } = call;
  const { controlPlane } = engine;
  const handleDisconnect = (): void => {
    call.left = true;
    call.onLeave?.();
  };
  request.signal.addEventListener("abort", handleDisconnect, { once: true });
  // The session takes a place at the channel; what a response needs is asked when it begins.
  const { limitRequest } = call;
  call.limitRequest = { model: limitRequest.model, tokens: 0, units: 0 };
  const outcome = await connect(call, selection, wish);
  call.limitRequest = limitRequest;
  const places = { admission, channelSlot: call.channelSlot };
  call.channelSlot = undefined;
  // An upgrade ends the request as well.
  request.signal.removeEventListener("abort", handleDisconnect);
  if (!outcome.ok) {
    await releaseSlots(places, nothing);
    await responseBilling.end(outcome.end_reason);
    const error = callError(call, outcome.failure);
    engine.observer.ended(call, { end_reason: outcome.end_reason, quota: 0, usage: undefined });
    await controlPlane.recordFailure(
      callRow(call, {
        end_reason: outcome.end_reason,
        quota: 0,
        bill: [],
        usage: undefined,
        estimated: false,
        content: error.message,
      }),
    );
    return responder.error(call.dialect, error);
  }
  call.deadlines.total(timeoutsFor(controlPlane.option, call.channel).totalMs);
  const session = new RealtimeSession(call, responseBilling, outcome.upstream);
  void session.ended.then(() => releaseSlots(places, { ...nothing, success: true }));
  if (!engine.draining && !call.left && upgrade(session)) return upgraded();
  await session.abandon();
  throw new AppError(engine.draining ? "draining" : "upgrade_required");
}

/** `realtime` is answered where it was offered; the sub-protocol that carries a key never is. */
function answerHeaders(request: Request, requestId: string): Record<string, string> {
  const headers = { "x-request-id": requestId, "x-oneapi-request-id": requestId };
  return offeredProtocols(request).includes("realtime")
    ? { ...headers, "sec-websocket-protocol": "realtime" }
    : headers;
}

/** A session that only says why there is none. */
const refusal = (event: string, reason: string): CallerEvents => ({
  open(caller) {
    caller.send(event);
    caller.close(POLICY_VIOLATION, reason);
  },
});

/** The connection belongs to the session now; nobody reads this. */
const upgraded = (): Response => new Response(null, { status: 101 });
