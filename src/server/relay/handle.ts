/** The story of one call, top to bottom. */
import { knownClientType } from "../../shared/client-type";
import { AppError, fail } from "../../shared/errors";
import type { EndReason } from "../../shared/log";
import type { Lang } from "../../shared/text";
import type { Logger } from "../lib/log";
import { fetchThrough } from "../lib/proxy";
import { Alarm, realTimers } from "./alarm";
import { parseBody, readBody } from "./body";
import type { Call, Engine, RelayDeps, RelayStats } from "./call";
import { Cooling } from "./cooling";
import type { CallerDialect } from "./dialects/dialect";
import { callerLang, Door, presentedKey } from "./door";
import { callError, ownError, thrownError } from "./error";
import { type Failure, failureOf } from "./failures";
import type { JsonObject } from "./json";
import { priceFor } from "./groups";
import { enter } from "./limits";
import { BYTES_PER_TOKEN, CallMoney, coveredAtFirst } from "./money";
import { receive } from "./operations/direct";
import { answerDirect } from "./operations/direct-call";
import type { Form } from "./operations/form";
import { subscription, usage } from "./operations/billing";
import { countTokens } from "./operations/count-tokens";
import { findModel, listModels, listShape } from "./operations/models";
import type { Operation } from "./operations/operation";
import { patienceOf } from "./patience";
import { reachable } from "./probe";
import { fallbackDialect, findRoute, pathOf } from "./routes";
import { callRow, refusedRow } from "./row";
import type { Caller, PoolChannel, Seams } from "./seams";
import { Selection, type Stage } from "./select";
import type { Bytes } from "./sse";
import { Sticky, stickyKey } from "./sticky";
import { StreamBody } from "./stream";
import { runAttempts, type TriesOutcome } from "./tries";
import { urlOf } from "./upstream";

export interface Relay {
  /** Answers one request to /v1. Never rejects. `ip` is the caller's real address, `requestId` is unique for ever. */
  handle(request: Request, ip: string, requestId: string): Promise<Response>;
  /** The same for a door of our own that knows its caller without a key. Its answers are for our own pages alone. */
  handleAs(admit: Admit, request: Request, ip: string, requestId: string): Promise<Response>;
  readonly stats: Readonly<RelayStats>;
}

/** Says who calls, and what of the body counts; throws an AppError for who may not. */
export type Admit = (body: JsonObject, lang: Lang) => Promise<{ caller: Caller; body: JsonObject }>;

/** The data plane over its five seams. `deps` replace time, chance and network in tests. */
export function createRelay(seams: Seams, deps: { log: Logger } & Partial<RelayDeps>): Relay {
  const stats: RelayStats = { open_calls: 0, open_streams: 0, late_settles: 0, missing_holds: 0, sticky_calls: 0, sticky_hits: 0 };
  const engine: Engine = {
    timers: realTimers, random: Math.random, fetch: fetchThrough, reachable, ...deps,
    seams, cooling: new Cooling(() => seams.now()), sticky: new Sticky(() => seams.now()), stats,
  };
  return {
    stats,
    handle: (request, ip, requestId) => handle(engine, request, ip, requestId),
    handleAs: (admit, request, ip, requestId) => handle(engine, request, ip, requestId, admit),
  };
}

async function handle(engine: Engine, request: Request, ip: string, requestId: string, admit?: Admit): Promise<Response> {
  const arrived = engine.seams.now();
  const lang = callerLang(request);
  // A cookie counts at our own doors: no other site may read their answers.
  const door = new Door(requestId, admit ? null : request.headers.get("origin"));
  if (request.method === "OPTIONS") return door.preflight(request);
  const path = pathOf(request.url);
  const route = findRoute(request.method, path);
  const dialect = route?.dialect ?? fallbackDialect;
  try {
    if (!route) fail("not_found", { method: request.method, path });
    const { caller, body } = await callerOf(engine, request, ip, lang, admit);
    if (route.operation === "unserved") fail("api_not_implemented", { method: request.method, path });
    if (route.operation === "models") return door.json(JSON.stringify(listModels(engine.seams, caller, listShape(request))));
    if (route.operation === "subscription") return door.json(JSON.stringify(await subscription(engine.seams, caller)));
    if (route.operation === "usage") return door.json(JSON.stringify(await usage(engine.seams, caller)));
    if (route.operation === "model") {
      const entry = findModel(engine.seams, caller, route.model, listShape(request));
      return entry ? door.json(JSON.stringify(entry)) : door.error(dialect, unknownModel(caller, route.model, lang, requestId));
    }
    if (route.operation === "count_tokens") {
      const admission = engine.seams.limits.admit(caller, 0);
      const entered = admission && enter(await admission, door);
      try {
        return door.json(JSON.stringify(await countTokens(engine, caller, request, route.counter, route.model)));
      } finally {
        entered?.end({ tokens: 0, success: true });
      }
    }
    door.array = dialect.key === "gemini" && !/[?&]alt=sse(&|$)/.test(request.url);
    const client_type = knownClientType(request.headers.get("user-agent") ?? "");
    const arrival = { client_type, dialect, operation: route.operation, caller, lang, ip, path, request_id: requestId, arrived };
    return await relay(engine, request, door, arrival, body);
  } catch (error) {
    if (!(error instanceof AppError)) engine.log.error({ err: error, request_id: requestId }, "relay failed");
    return door.error(dialect, thrownError(error, lang, requestId));
  }
}

/** The caller, by his key or by what a door of ours knows; that door has read the body already. */
async function callerOf({ seams }: Engine, request: Request, ip: string, lang: Lang, admit?: Admit): Promise<{ caller: Caller; body?: Bytes }> {
  if (!admit) return { caller: await seams.authenticate(presentedKey(request), ip, lang) };
  const { caller, body } = await admit(parseBody(await readBody(request, seams.option.maxBodyBytes)), lang);
  return { caller, body: Buffer.from(JSON.stringify(body)) };
}

function unknownModel({ group }: Caller, model: string, lang: Lang, requestId: string) {
  return { ...ownError("model_not_found", { group, model }, lang, requestId), status: 404, type: "invalid_request_error", param: "model" };
}

interface Arrival {
  dialect: CallerDialect;
  operation: Operation;
  caller: Caller;
  lang: Lang;
  ip: string;
  path: string;
  client_type: string;
  request_id: string;
  arrived: number;
}

/** A call with an operation: read, price, select, hold, attempt, answer. */
async function relay(engine: Engine, request: Request, door: Door, arrival: Arrival, given?: Bytes): Promise<Response> {
  const { seams } = engine;
  const { caller, operation } = arrival;
  let model = "";
  let form: Form | undefined;
  let prepared: { call: Call; selection: Selection; money: CallMoney };
  try {
    const received = await receive(operation, request, seams.option.maxBodyBytes, given);
    const { asked, body, input_bound } = received;
    ({ form } = received);
    model = asked.model;
    if (caller.models && !caller.models.has(model)) fail("token_model_denied", { model });
    // Who serves it first: a model that nobody serves is unknown, whatever its price.
    const selection = selectionFor(engine, arrival, model, Math.ceil(input_bound / BYTES_PER_TOKEN));
    const sticky_key = selection.left > 1 && seams.option.stickyRouting && operation.streams && received.json
      ? stickyKey(received.json, caller.user_id, caller.group, model) : undefined;
    if (sticky_key !== undefined) selection.prefer(engine.sticky, sticky_key, engine.stats);
    const listed = priceFor(seams, caller, model, selection.candidates) ?? fail("model_price_missing", { model });
    const price = asked.terms?.priced?.(listed) ?? listed;
    // Written out: a spread of so many members costs a microsecond.
    const call: Call = {
      dialect: arrival.dialect, operation, caller, lang: arrival.lang, ip: arrival.ip, path: arrival.path, client_type: arrival.client_type,
      betas: request.headers.get("anthropic-beta") ?? "", request_id: arrival.request_id, arrived: arrival.arrived, engine, request: asked, body, form, price, input_bound,
      alarm: new Alarm(() => seams.now(), engine.timers), attempts: [], explain: () => selection.explain(),
      channel: undefined, upstream_model: "", upstream_request_id: "", warnings: [], first_content_at: -1, left: false, over: false, onLeave: undefined,
    };
    if (sticky_key !== undefined) call.sticky_key = sticky_key;
    const money = new CallMoney(call);
    const admission = seams.limits.admit(caller, call.input_bound + coveredAtFirst(call));
    if (admission) call.admission = enter(await admission, door);
    try {
      await money.hold();
    } catch (error) {
      call.admission?.end({ tokens: 0, success: false });
      throw error;
    }
    prepared = { call, selection, money };
  } catch (error) {
    form?.close();
    const content = thrownError(error, arrival.lang, arrival.request_id).message;
    await seams.recordFailure(refusedRow(caller, { ...arrival, model, content }));
    throw error;
  }
  const { call, selection, money } = prepared;
  engine.stats.open_calls++;
  request.signal.addEventListener("abort", () => leave(call), { once: true });
  try {
    if (operation.direct) return await answerDirect(call, selection, money, door, refuse);
    return await (call.request.stream ? answerStream : answerWhole)(call, selection, money, door);
  } catch (error) {
    form?.close();
    await failed(call, money, failureOf("malformed"), "upstream_error");
    throw error;
  } finally {
    engine.stats.open_calls--;
  }
}

/** The caller has gone: the upstream gets a little time to say what it used. */
function leave(call: Call): void {
  if (call.left || call.over) return;
  call.left = true;
  call.alarm.total(patienceOf(call.engine.seams.option, call.channel).drainMs, true);
  call.onLeave?.();
}

/** The channels that may be tried for about `input` tokens. Throws what the caller gets when there is none. */
function selectionFor(engine: Engine, { caller, operation }: Arrival, model: string, input: number): Selection {
  const { pool } = engine.seams;
  const { group } = caller;
  let candidates: readonly PoolChannel[];
  let stages: Stage[] | undefined;
  if (caller.channel_id === undefined) {
    stages = caller.groups?.map((name) => ({ group: name, candidates: pool.candidates(name, model) }));
    candidates = stages ? [...new Set(stages.flatMap((stage) => stage.candidates))] : pool.candidates(group, model);
    if (candidates.length === 0) fail("model_not_found", { group, model });
  } else {
    const pinned = pool.byId(caller.channel_id) ?? fail("invalid_request", { detail: `channel ${caller.channel_id}` });
    if (!pinned.enabled) fail("channel_disabled");
    candidates = [pinned.channel];
  }
  const supports = (channel: PoolChannel): boolean => urlOf(channel, operation, model) !== undefined;
  const { cooling, random } = engine;
  const selection = new Selection({ candidates, model, input, cooling, supports, random, stages });
  if (selection.left === 0) fail(selection.tooLong ? "input_too_long" : "operation_unsupported", { group, model });
  return selection;
}

/** A whole answer: read, charged, then sent. */
async function answerWhole(call: Call, selection: Selection, money: CallMoney, door: Door): Promise<Response> {
  const outcome = await runAttempts(call, selection);
  call.over = true;
  call.alarm.clear();
  if (!outcome.ok || outcome.kind !== "whole") return refuse(call, money, door, outcome);
  const { body, result } = outcome;
  const end_reason = call.left ? "caller_left" : "complete";
  await money.settle({ end_reason, usage: result.usage, content_bytes: result.content_bytes });
  return door.json(body);
}

/** A streamed answer: its head goes with the first content, or with a ping when that takes long. */
async function answerStream(call: Call, selection: Selection, money: CallMoney, door: Door): Promise<Response> {
  const outcome = runAttempts(call, selection);
  const first = await Promise.race([outcome, new Promise<"ping">((resolve) => (call.alarm.onPing = () => resolve("ping")))]);
  if (first !== "ping" && (!first.ok || first.kind !== "stream")) return refuse(call, money, door, first);
  const fail = (failure: Failure, reason: EndReason): Promise<void> => failed(call, money, failure, reason);
  const body = new StreamBody(call, money, first === "ping" ? outcome : first, fail);
  const whole = first === "ping" ? undefined : await body.whole();
  return whole ? door.events(whole) : door.events(new ReadableStream(body, { highWaterMark: 0 }));
}

async function refuse(call: Call, money: CallMoney, door: Door, outcome: TriesOutcome): Promise<Response> {
  const failure = outcome.ok ? failureOf("malformed") : outcome.failure;
  await failed(call, money, failure, outcome.ok ? "upstream_error" : outcome.end_reason);
  return door.error(call.dialect, callError(call, failure));
}

/** Ends a call that failed before its content: nothing is charged, the row keeps every attempt. */
async function failed(call: Call, money: CallMoney, failure: Failure, end_reason: EndReason): Promise<void> {
  call.over = true;
  call.alarm.clear();
  await money.release();
  const content = callError(call, failure).message;
  const row = callRow(call, { end_reason, quota: 0, bill: [], usage: undefined, estimated: false, content });
  await call.engine.seams.recordFailure(row);
}
