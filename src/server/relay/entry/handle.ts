/** The handler of relay requests: one call from its arrival to its log row. */
import { AppError, fail } from "../../../shared/errors";
import type { ControlPlane } from "../../contracts/control-plane";
import type { Running } from "../../contracts/drain";
import type { Drain } from "../../../shared/drain";
import type { RelayStats } from "../../contracts/relay-stats";
import type { TaskService } from "../../contracts/task-service";
import type { Logger } from "../../lib/log";
import { fetchThrough } from "../../lib/proxy";
import type { Form } from "../../lib/request-body/multipart-form";
import type { Bytes } from "../../lib/sse";
import { reachable } from "../../lib/tcp-probe";
import { realTimers } from "../../lib/timers";
import { failureOf } from "../../protocol/upstream-failure";
import { authenticate, authenticateBy, authenticatedAs, type ConsoleAuthentication } from "../admission/authenticate";
import { requireModel } from "../admission/model-access";
import { askedIn, parse, readContent } from "../admission/receive";
import { answerSideCall } from "../admission/side-call";
import { screened } from "../admission/word-filter";
import { admitAndHold, type Opened } from "../billing/admit-and-hold";
import { highestPrice } from "../billing/call-price";
import { recordRefusal } from "../billing/log-row";
import { allTakeLimits } from "../billing/output-limit";
import type { Asked, Authenticated, Engine, RelayDeps } from "../call/call";
import { noopObserver } from "../call/observers";
import { RunningCalls } from "../call/running-calls";
import { handleDisconnect } from "../call/timeouts";
import { deliver } from "../delivery/deliver";
import { errorResponse, failed } from "../delivery/failed";
import { StoredConversation } from "../endpoints/stored/conversation";
import type { Operation } from "../operations/operation";
import { AccessTokenCache } from "../providers/access-token-cache";
import { endSessions } from "../realtime/drain";
import { endDrained } from "../realtime/drained";
import type { Upgrade } from "../realtime/open";
import { thrownError } from "../response/error-response";
import { Responder } from "../response/responder";
import { createRouting } from "../routing/router";
import { isBackground, submitBackground } from "../tasks/background/submit";
import { createTaskService } from "../tasks/service";
import { answersInMore } from "../upstream/retry-policy";
import { routeCall } from "../upstream/route-call";
import { answerBeside } from "./beside";
import { arrive } from "./arrive";
import { openLadder } from "./open-ladder";

export interface Relay {
  /**
   * Handles one request to /v1. Never rejects. `ip` is the caller's real address; `requestId` is unique for ever.
   * `upgrade`: for connections that can become a WebSocket; the response is then ignored. `known` is called as soon as
   * the caller is, before any of the body is read.
   */
  handle(request: Request, ip: string, requestId: string, upgrade?: Upgrade, known?: () => void): Promise<Response>;
  /**
   * The same for the console's own routes, which know their caller without a key. Their responses are for the console's
   * pages only.
   */
  handleAs(authentication: ConsoleAuthentication, request: Request, ip: string, requestId: string): Promise<Response>;
  readonly tasks: TaskService;
  /** Calls that this process serves now. */
  running(): Running;
  /** From now on no new calls, with 503; undefined: calls as usual. */
  drain(drain: Drain | undefined): void;
  readonly draining: boolean;
  /** Ends what drains of channels, keys and this instance end now; called every second. */
  endDrained(): void;
  /**
   * Ends streams and realtime sessions: running ones get `graceMs` to end normally. Resolves when everything is
   * charged.
   */
  stop(graceMs: number): Promise<void>;
  readonly stats: Readonly<RelayStats>;
}

/** Creates the data plane on its control plane. `deps` replace clock, randomness and network in tests. */
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
    running: new RunningCalls(),
    draining: false,
    drain: undefined,
  };
  return {
    stats,
    handle: (request, ip, requestId, upgrade, known) => handle(engine, request, ip, requestId, { upgrade, known }),
    handleAs: (authentication, request, ip, requestId) => handle(engine, request, ip, requestId, { authentication }),
    tasks: createTaskService(engine),
    running: () => engine.running.count(),
    drain: (drain) => void (engine.drain = drain),
    get draining() {
      return engine.drain !== undefined;
    },
    endDrained: () => endDrained(engine),
    stop: (graceMs) => endSessions(engine, graceMs),
  };
}

interface Entrance {
  authentication?: ConsoleAuthentication;
  upgrade?: Upgrade | undefined;
  known?: (() => void) | undefined;
}

/** receive → authenticate; then, for a model call, readBody … admit (openCall) and attempt … record (runCall). */
async function handle(
  engine: Engine,
  request: Request,
  ip: string,
  requestId: string,
  { authentication, upgrade, known: callerKnown }: Entrance,
): Promise<Response> {
  // A cookie counts on the console's own routes: no other site may read their responses.
  const responder = new Responder(requestId, authentication ? null : request.headers.get("origin"));
  if (request.method === "OPTIONS") return responder.preflight(request);
  const { route, arrival } = arrive(engine, request, ip, requestId);
  // Anthropic's SDKs read it (`_request_id`; platform.claude.com/docs/en/api/errors, read November 2026).
  if (arrival.dialect.key === "anthropic") responder.idHeader = "request-id";
  try {
    if (!route) fail("not_found", { method: request.method, path: arrival.path });
    if (engine.drain) fail("draining");
    if (route.operation === "open") return await route.answer({ engine, request, responder });
    const known = authentication && (await authenticateBy(authentication, arrival, request));
    const call = authenticatedAs(arrival, known ? known.caller : await authenticate(arrival, request));
    callerKnown?.();
    const body = known?.body;
    const { operation } = route;
    if (typeof operation === "string") return await answerBeside({ route, call, request, responder, body, upgrade });
    responder.array = arrival.dialect.key === "gemini" && !/[?&]alt=sse(&|$)/.test(request.url);
    const opened = await openCall(call, operation, request, responder, body);
    if (opened instanceof Response) return opened;
    return request.signal.aborted ? await abandon(opened, responder) : await runCall(opened, request, responder);
  } catch (error) {
    if (error instanceof AppError) engine.observer.refused(error.code);
    else engine.log.error({ err: error, request_id: requestId }, "relay failed");
    return responder.error(arrival.dialect, thrownError(error, arrival));
  }
}

/**
 * readBody → parse → screen → route → price → admit: everything before a channel is called. Throws the caller's error
 * when the call is refused before it is known whole, and returns it as a Response after that; its log row is written by
 * then. Returns a Response also when the call is a job. `given`: the body, where it was read already.
 */
async function openCall(
  authenticated: Authenticated,
  operation: Operation,
  request: Request,
  responder: Responder,
  given: Bytes | undefined,
): Promise<Opened | Response> {
  const { engine, caller } = authenticated;
  const { controlPlane } = engine;
  let model = "";
  let form: Form | undefined;
  let known: Asked | undefined;
  try {
    const content = await readContent(operation, request, controlPlane.option.maxBodyBytes, given);
    ({ form } = content);
    const parsing = parse(operation, content);
    const received = parsing instanceof Promise ? await parsing : parsing;
    ({ model } = received.asked);
    if (isBackground(operation, received))
      return await answerSideCall(
        { answer: submitBackground(received), billed: true },
        { ...authenticated, request, responder },
      );
    const opening = StoredConversation.open(engine, caller, operation, received);
    const conversation = opening && (await opening);
    // A call may leave its model to the answer that it continues.
    ({ model } = received.asked);
    requireModel(caller, model);
    const asked = askedIn(authenticated, operation, screened(controlPlane, operation, received), conversation);
    known = asked;
    const virtual = controlPlane.virtual?.(model, caller);
    if (virtual) return await openLadder(asked, received.json, virtual, responder);
    // Routing comes before the price: a model that no channel serves is unknown, whatever its price.
    const routed = routeCall(asked, received.json);
    const { candidates } = routed.selection;
    const held_at = controlPlane.now();
    const price = highestPrice(asked, candidates, held_at);
    const limitable = (): boolean => allTakeLimits(candidates, operation, model) && !answersInMore(asked, price);
    return await admitAndHold(asked, routed, { price, held_at }, responder, limitable);
  } catch (error) {
    form?.close();
    await recordRefusal(controlPlane, caller, { ...authenticated, model }, error);
    if (!known || !(error instanceof AppError)) throw error;
    engine.observer.refused(error.code);
    return errorResponse(known, thrownError(error, known), responder);
  }
}

/**
 * The caller has left before a channel was called: nothing is charged. So ends a call behind which a second request was
 * sent on its connection, which Bun then closes (docs/decisions/0047-pipelining.md).
 */
async function abandon({ call, billing }: Opened, responder: Responder): Promise<Response> {
  const { asked, deadlines, progress } = call;
  const error = new AppError("caller_left");
  progress.over = true;
  deadlines.clear();
  asked.form?.close();
  await billing.release(call);
  await recordRefusal(asked.engine.controlPlane, asked.caller, { ...asked, model: asked.request.model }, error);
  asked.engine.observer.refused(error.code);
  return errorResponse(asked, thrownError(error, asked), responder);
}

/** attempt with retry → deliver → settle → record. The hold always ends here. */
async function runCall(opened: Opened, request: Request, responder: Responder): Promise<Response> {
  const { call } = opened;
  const { engine, form } = call.asked;
  engine.stats.open_calls++;
  // Nothing else waits for it, and this is half the price of addEventListener.
  request.signal.onabort = () => handleDisconnect(call);
  try {
    return await deliver(opened, responder);
  } catch (error) {
    form?.close();
    await failed(opened, failureOf("malformed"), "upstream_error");
    throw error;
  } finally {
    engine.stats.open_calls--;
  }
}
