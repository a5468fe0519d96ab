/** The story of one call, top to bottom. */
import { knownClientType } from "../../../shared/client-type";
import { AppError, fail } from "../../../shared/errors";
import type { Lang } from "../../../shared/text";
import { readBody } from "../../lib/request-body/read-body";
import { isUnavailable } from "../../lib/unavailable";
import type { Logger } from "../../lib/log";
import { fetchThrough } from "../../lib/proxy";
import { Deadlines } from "../call/deadlines";
import { realTimers } from "../../lib/timers";
import { answerSideCall } from "../admission/side-call";
import { parseBody } from "../../lib/request-body/json-body";
import type { Call, Engine, RelayDeps } from "../call/call";
import type { RelayStats } from "../../contracts/relay-stats";
import { deliver, failed } from "../delivery/deliver";
import { askedVersion, callerLang, Responder, presentedKey } from "../response/responder";
import { thrownError } from "../response/error-response";
import { failureOf } from "../../protocol/upstream-failure";
import type { JsonObject } from "../../lib/json-bytes";
import { maxPrice } from "../billing/call-price";
import { enter } from "../admission/rate-limit";
import { BYTES_PER_TOKEN, CallBilling } from "../billing/call-billing";
import { receive } from "../admission/receive";
import { allTakeLimits } from "../billing/output-limit";
import type { Form } from "../../lib/request-body/multipart-form";
import { answerLookup } from "./lookups";
import type { Operation } from "../operations/operation";
import { handleDisconnect } from "../call/timeouts";
import { reachable } from "../../lib/tcp-probe";
import { AccessTokenCache } from "../providers/access-token-cache";
import { endSessions } from "../realtime/drain";
import { openRealtime, type RealtimeArrival, type Upgrade } from "../realtime/open";
import { fallbackDialect, findRoute, pathOf } from "./routes";
import { answersInMore } from "../upstream/retry-policy";
import { recordRefusal } from "../billing/log-row";
import { createRouting } from "../routing/router";
import type { ControlPlane } from "../../contracts/control-plane";
import type { Caller } from "../../contracts/caller";
import type { Selection } from "../routing/channel-selector";
import { screened } from "../admission/word-filter";
import type { Bytes } from "../../lib/sse";
import { affinityKey } from "../routing/session-affinity";
import { StoredConversation } from "../endpoints/stored/conversation";
import { isBackground, submitBackground } from "../tasks/background/submit";
import { createTaskService } from "../tasks/service";
import type { TaskService } from "../../contracts/task-service";
import { traceOf, noopObserver } from "../call/observers";

export interface Relay {
  /**
   * Answers one request to /v1. Never rejects. `ip` is the caller's real address, `requestId` is unique for ever.
   * `upgrade`: for connections that can become a WebSocket; the answer is then of no account.
   */
  handle(request: Request, ip: string, requestId: string, upgrade?: Upgrade): Promise<Response>;
  /** The same for a door of our own that knows its caller without a key. Its answers are for our own pages alone. */
  handleAs(admit: Admit, request: Request, ip: string, requestId: string): Promise<Response>;
  readonly tasks: TaskService;
  /**
   * Ends streams and realtime sessions: what runs has `graceMs` to end by itself. Resolves when everything is charged.
   */
  stop(graceMs: number): Promise<void>;
  readonly stats: Readonly<RelayStats>;
}

/**
 * Throws an AppError for who may not call, before anything of the body is read; then says as whom it is called, and
 * what of the body counts.
 */
export type Admit = (lang: Lang) => (body: JsonObject) => Promise<{ caller: Caller; body: JsonObject }>;

/** The data plane over its five seams. `deps` replace time, chance and network in tests. */
export function createRelay(
  controlPlane: ControlPlane,
  { random, ...deps }: { log: Logger; random?: () => number } & Partial<RelayDeps>,
): Relay {
  const stats: RelayStats = {
    open_calls: 0,
    open_streams: 0,
    open_sessions: 0,
    late_settles: 0,
    missing_holds: 0,
    sticky_calls: 0,
    sticky_hits: 0,
  };
  const engine: Engine = {
    timers: realTimers,
    observer: noopObserver,
    fetch: fetchThrough,
    reachable,
    routing: createRouting(controlPlane.pool, () => controlPlane.now(), random),
    ...deps,
    controlPlane,
    accessTokens: new AccessTokenCache(),
    stats,
    sessions: new Set(),
    draining: false,
  };
  return {
    stats,
    handle: (request, ip, requestId, upgrade) => handle(engine, request, ip, requestId, { upgrade }),
    handleAs: (admit, request, ip, requestId) => handle(engine, request, ip, requestId, { admit }),
    tasks: createTaskService(engine),
    stop: (graceMs) => endSessions(engine, graceMs),
  };
}

interface Entrance {
  admit?: Admit;
  upgrade?: Upgrade | undefined;
}

async function handle(
  engine: Engine,
  request: Request,
  ip: string,
  requestId: string,
  { admit, upgrade }: Entrance,
): Promise<Response> {
  const arrived = engine.controlPlane.now();
  const lang = callerLang(request);
  // A cookie counts at our own doors: no other site may read their answers.
  const responder = new Responder(requestId, admit ? null : request.headers.get("origin"));
  if (request.method === "OPTIONS") return responder.preflight(request);
  const path = pathOf(request.url);
  const route = findRoute(request.method, path);
  const dialect = route?.dialect ?? fallbackDialect;
  try {
    if (!route) fail("not_found", { method: request.method, path });
    if (route.operation === "open") return await route.answer({ engine, request, responder });
    const admitted = admit && (await admittedBy(admit, engine, request, lang));
    const caller = admitted ? admitted.caller : await engine.controlPlane.authenticate(presentedKey(request), ip, lang);
    const body = admitted?.body;
    if (route.operation === "side")
      return await answerSideCall(route, {
        engine,
        caller,
        request: body ? new Request(request, { body }) : request,
        responder,
        dialect,
        lang,
        ip,
        path,
        request_id: requestId,
      });
    const client_type = knownClientType(request.headers.get("user-agent") ?? "");
    const arrival = {
      client_type,
      dialect,
      caller,
      lang,
      ip,
      path,
      request_id: requestId,
      arrived,
      api_version: askedVersion(request),
      ...traceOf(engine, request),
    };
    if (route.operation === "realtime") return await openRealtime(engine, request, responder, arrival, upgrade);
    if (typeof route.operation === "string") return await answerLookup(engine, route, caller, request, responder, lang);
    responder.array = dialect.key === "gemini" && !/[?&]alt=sse(&|$)/.test(request.url);
    return await relay(engine, request, responder, { ...arrival, operation: route.operation }, body);
  } catch (error) {
    if (error instanceof AppError) engine.observer.refused(error.code);
    else engine.log.error({ err: error, request_id: requestId }, "relay failed");
    return responder.error(dialect, thrownError(error, lang, requestId));
  }
}

/** The caller by what a door of ours knows: the session first, then the body. */
async function admittedBy(
  admit: Admit,
  { controlPlane }: Engine,
  request: Request,
  lang: Lang,
): Promise<{ caller: Caller; body: Bytes }> {
  const admitBody = admit(lang);
  const { caller, body } = await admitBody(parseBody(await readBody(request, controlPlane.option.maxBodyBytes)));
  return { caller, body: Buffer.from(JSON.stringify(body)) };
}

interface Arrival extends RealtimeArrival {
  operation: Operation;
}

/** A call with an operation: read, price, select, hold, attempt, answer. */
async function relay(
  engine: Engine,
  request: Request,
  responder: Responder,
  arrival: Arrival,
  given?: Bytes,
): Promise<Response> {
  const { controlPlane } = engine;
  const { caller, operation } = arrival;
  let model = "";
  let form: Form | undefined;
  let prepared: { call: Call; selection: Selection; billing: CallBilling };
  try {
    const received = await receive(operation, request, controlPlane.option.maxBodyBytes, given);
    ({ form } = received);
    model = received.asked.model;
    if (isBackground(operation, received))
      return await answerSideCall(
        { answer: submitBackground(received), billed: true },
        { ...arrival, engine, request, responder },
      );
    const opening = StoredConversation.open(engine, caller, operation, received);
    const conversation = opening && (await opening);
    if (caller.models && !caller.models.has(model)) fail("token_model_denied", { model });
    const { asked, body, input_bound } = screened(controlPlane, operation, received);
    // Who serves it first: a model that nobody serves is unknown, whatever its price.
    const selection = engine.routing.select({
      caller,
      operation,
      model,
      input: Math.ceil(input_bound / BYTES_PER_TOKEN),
    });
    conversation?.narrow(selection);
    const affinity_key =
      selection.left > 1 && controlPlane.option.stickyRouting && operation.streams && received.json
        ? affinityKey(received.json, caller.user_id, caller.group, model)
        : undefined;
    if (affinity_key !== undefined) selection.prefer(engine.routing.affinity, affinity_key, engine.stats);
    const listed =
      maxPrice(controlPlane, caller, model, selection.candidates) ?? fail("model_price_missing", { model });
    const price = asked.terms?.priced?.(listed) ?? listed;
    // Written out: a spread of so many members costs a microsecond.
    const call: Call = {
      dialect: arrival.dialect,
      operation,
      caller,
      lang: arrival.lang,
      ip: arrival.ip,
      path: arrival.path,
      client_type: arrival.client_type,
      betas: request.headers.get("anthropic-beta") ?? "",
      api_version: arrival.api_version,
      request_id: arrival.request_id,
      arrived: arrival.arrived,
      engine,
      request: asked,
      body,
      form,
      price,
      input_bound,
      deadlines: new Deadlines(() => controlPlane.now(), engine.timers),
      attempts: [],
      explain: () => selection.explain(),
      channel: undefined,
      limitRequest: { model, tokens: 0, units: 0 },
      channelSlot: undefined,
      upstream_model: "",
      upstream_request_id: "",
      warnings: [],
      first_content_at: -1,
      left: false,
      over: false,
      onLeave: undefined,
    };
    if (arrival.traceparent !== undefined) call.traceparent = arrival.traceparent;
    if (affinity_key !== undefined) call.affinity_key = affinity_key;
    if (conversation) {
      call.conversation = conversation;
      // This function's frame keeps what it held when it waited for the thread: the body is the call's alone from here
      // on.
      Object.assign(received, { body: Buffer.alloc(0), json: undefined });
    }
    const billing = new CallBilling(
      call,
      () => allTakeLimits(selection.candidates, operation, model) && !answersInMore(call),
    );
    const admission = controlPlane.limits.admit(caller, call.limitRequest);
    if (admission) call.admission = enter(await admission, responder);
    try {
      await billing.hold();
    } catch (error) {
      await call.admission?.end({ tokens: 0, success: false, units: 0 });
      throw error;
    }
    prepared = { call, selection, billing };
  } catch (error) {
    form?.close();
    const recorded = recordRefusal(controlPlane, caller, { ...arrival, model }, error);
    // What keeps the row from being written must not keep the caller waiting a second time.
    if (!isUnavailable(error)) await recorded;
    throw error;
  }
  const { call, selection, billing } = prepared;
  engine.stats.open_calls++;
  request.signal.addEventListener("abort", () => handleDisconnect(call), { once: true });
  try {
    return await deliver(call, selection, billing, responder);
  } catch (error) {
    form?.close();
    await failed(call, billing, failureOf("malformed"), "upstream_error");
    throw error;
  } finally {
    engine.stats.open_calls--;
  }
}
