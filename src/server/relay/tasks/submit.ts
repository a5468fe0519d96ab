/**
 * The submit of a job: route, price, limit, hold, send, charge, respond. It survives the end of the process at every
 * line: the job's row and its cost are written before the vendor is called, the vendor's id before anything is charged.
 * The poller (poll.ts) finishes an incomplete submit, charged or refunded, never both.
 */
import { createHash, randomBytes } from "node:crypto";
import { fail } from "../../../shared/errors";
import { isObject, tryParse } from "../../lib/json-bytes";
import type { SideRequest } from "../admission/side-call";
import type { Admitted, Answered, Attempted } from "../call/call";
import { failed as failCall } from "../delivery/failed";
import { UpstreamError } from "../../protocol/upstream-error";
import { failureOf } from "../../protocol/upstream-failure";
import type { Opened } from "../billing/admit-and-hold";
import { listedAt, type Quote, quoteAt, servedIn } from "../billing/call-price";
import { recordRefusal } from "../billing/log-row";
import { budgetsOf } from "../billing/budgets";
import type { PoolChannel } from "../../contracts/channel";
import type { Tried } from "../upstream/attempt";
import { tryChannels } from "../upstream/retry";
import { applyReport } from "./apply";
import { attemptJob } from "./attempt";
import { SUBMIT_LIMIT_MS, SUBMIT_CHECK_MS, watcherTimes } from "./clock";
import { prepare, providerFor } from "./prepare";
import { jobPrice, packPrice, termsOf, unitsOf } from "./price";
import type { Accepted, TaskOrder, TaskWatcher } from "./provider";
import type { Task, TaskState } from "../../contracts/task-store";

/** Longest Idempotency-Key. */
const MAX_CLIENT_KEY = 255;

const hashOf = (...parts: (string | Uint8Array)[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex");
};

interface Keys {
  client_key: string | undefined;
  input_hash: string;
}

function keysOf({ request, caller, path }: SideRequest, body: Uint8Array): Keys {
  const given = request.headers.get("idempotency-key") ?? "";
  if (given.length > MAX_CLIENT_KEY) fail("invalid_request", { detail: "idempotency-key" });
  return {
    client_key: given === "" ? undefined : hashOf(String(caller.user_id), given),
    input_hash: hashOf(path, body),
  };
}

/** The job of a repeated client key. */
function again(earlier: Task, input_hash: string): Task {
  if (earlier.state.input_hash !== input_hash) fail("idempotency_key_reused");
  if (earlier.status === "NOT_START" && earlier.upstream_id === "") fail("task_in_flight");
  return earlier;
}

/**
 * Submits a job and returns its state: accepted and charged. The same `Idempotency-Key` header with the same body
 * returns the first job. Throws an AppError for a refusal before a channel was called, UpstreamError for the last
 * channel's refusal; either way nothing is charged and the log has its row.
 */
export async function submitTask<Input>(sideRequest: SideRequest, order: TaskOrder<Input>): Promise<Task> {
  const { engine, caller, request_id, ip, path } = sideRequest;
  const { controlPlane } = engine;
  const keys = keysOf(sideRequest, order.body);
  const earlier = keys.client_key === undefined ? undefined : await controlPlane.tasks.byClientKey(keys.client_key);
  if (earlier) return again(earlier, keys.input_hash);
  const arrived = controlPlane.now();
  let prepared: Opened;
  try {
    prepared = await prepare(
      sideRequest,
      order,
      arrived,
      order.task_id ?? `${order.id_prefix ?? "task_"}${randomBytes(16).toString("hex")}`,
    );
  } catch (error) {
    await recordRefusal(controlPlane, caller, { arrived, request_id, ip, path, model: order.model }, error);
    throw error;
  }
  engine.stats.open_calls++;
  try {
    return await run(order, prepared, keys);
  } finally {
    // Counts only while the hold is open.
    await prepared.billing.release(prepared.call);
    engine.stats.open_calls--;
  }
}

/** The call has its hold: tries channels until one accepts. */
async function run<Input>(order: TaskOrder<Input>, opened: Opened, keys: Keys): Promise<Task> {
  const { call, billing } = opened;
  const { engine, request_id } = call.asked;
  const { tasks: taskStore, ledger } = engine.controlPlane;
  let job: Task | undefined;
  let state: TaskState | undefined;
  let twin = false;
  const submit = async (attempt: Attempted): Promise<Tried<Submitted>> => {
    const provider = providerFor(order, attempt.channel);
    if (!provider) return { ok: false, failure: failureOf("malformed") };
    state = stateOf(attempt, keys.input_hash);
    const place = placeOf(attempt, provider, state);
    if (job) await taskStore.place(job.id, place);
    else job = await taskStore.open(newTask(call, order, keys, place));
    twin = job === undefined;
    if (!job) return { ok: false, failure: failureOf("caller_mistake") };
    // From here on a sweep charges it, if this process ends; the poller then refunds a job that was not accepted.
    if (!(await ledger.extend(request_id, 0, state.units))) throw new Error("the hold of a job is gone");
    const tried = await attemptJob(attempt, provider, order);
    return tried.ok ? { ok: true, answer: { accepted: tried.answer, provider } } : tried;
  };
  const outcome = await tryChannels(call, submit, jobQuote(order));
  if (twin) {
    await billing.release(call);
    const first = keys.client_key === undefined ? undefined : await taskStore.byClientKey(keys.client_key);
    return again(first ?? fail("task_in_flight"), keys.input_hash);
  }
  if (!outcome.ok || !job || !state) {
    const failure = outcome.ok ? failureOf("malformed") : outcome.failure;
    await failCall(opened, failure, outcome.ok ? "upstream_error" : outcome.end_reason);
    if (job) await taskStore.fail(job, "NOT_START", failure.error?.message ?? failure.kind, { next_poll_at_ms: 0 });
    throw new UpstreamError(failure);
  }
  const { attempt, answer } = outcome;
  const { channel } = attempt;
  // Before the job has the vendor's id: from then on it is charged even if this process ends.
  await order.accepted?.({
    upstream_id: answer.accepted.upstream_id,
    channel_id: channel.id,
    channel_key_id: channel.key_row?.id ?? 0,
  });
  return keep(opened, outcome, job, state);
}

/** A provider's response to a submit. */
interface Submitted {
  accepted: Accepted;
  provider: TaskWatcher;
}

const placeOf = ({ channel, caller }: Attempted, { platform }: TaskWatcher, state: TaskState) => ({
  platform,
  channel_id: channel.id,
  channel_key_id: channel.key_row?.id ?? 0,
  group: caller.group,
  state,
});

function newTask<Input>(
  { asked }: Admitted,
  order: TaskOrder<Input>,
  { client_key }: Keys,
  place: ReturnType<typeof placeOf>,
) {
  const { caller, request_id, engine, task_id = "" } = asked;
  const now = engine.controlPlane.now();
  return {
    ...place,
    client_key,
    task_id,
    action: order.action,
    model: order.model,
    prompt: order.prompt,
    input: order.kept,
    parent_id: order.parent?.task_id ?? "",
    user_id: caller.user_id,
    username: caller.username,
    token_id: caller.token_id,
    charge_id: request_id,
    submit_time_ms: now,
    next_poll_at_ms: now + SUBMIT_CHECK_MS,
    deadline_ms: now + SUBMIT_LIMIT_MS,
  };
}

/** The price of a job comes from the terms of the channel's provider. */
const jobQuote =
  <Input>(order: TaskOrder<Input>) =>
  (call: Admitted, channel: PoolChannel, group: string | undefined): Quote => {
    const provider = providerFor(order, channel);
    if (!provider) return quoteAt(call, channel, group);
    const { input, model, action, parent } = order;
    const terms = termsOf(provider.terms?.(input, channel.model_mapping.get(model) ?? model, action, parent));
    const caller = servedIn(call.asked.caller, group);
    const listed = listedAt(call.asked, caller, channel) ?? call.price;
    const written = provider.passes && tryParse(Buffer.from(order.body));
    const body = isObject(written) ? provider.passes?.(written, channel) : undefined;
    const sent = body ? { ...order, body: Buffer.from(JSON.stringify(body)) } : order;
    return { caller, price: jobPrice(sent, call.held_at, terms, listed), terms };
  };

/** The part of its price that the job stores. */
function stateOf({ call, price, terms, slot }: Attempted, input_hash: string): TaskState {
  const { usage = {}, times, hidden_turns } = terms ?? {};
  const priced = { usage, ...(times && { times }), ...(hidden_turns && { hidden_turns }) };
  return {
    units: unitsOf(price, priced),
    price: packPrice(price),
    priced,
    budgets: budgetsOf(call.admission, slot),
    lang: call.asked.lang,
    input_hash,
    fails: 0,
    own: {},
  };
}

/** The vendor has accepted: stores its id first, then charges, then sets the job to SUBMITTED. */
async function keep(
  { call, billing }: Opened,
  { attempt, answer: { accepted, provider } }: Answered<Submitted>,
  job: Task,
  placed: TaskState,
): Promise<Task> {
  const { engine } = call.asked;
  const { tasks: taskStore, now } = engine.controlPlane;
  const { poll_ms, lifetime_ms } = watcherTimes(provider);
  const state = { ...placed, own: accepted.own ?? {} };
  const known = await taskStore.answered(job.id, {
    upstream_id: accepted.upstream_id,
    data: accepted.data,
    state,
    deadline_ms: job.submit_time_ms + lifetime_ms,
    ...(accepted.prompt !== undefined && { prompt: accepted.prompt }),
  });
  // The job was given up and refunded in the meantime: nothing is charged for a job that the caller cannot see.
  if (!known) fail("upstream_timeout", { phase: "submit" });
  await billing.settle(attempt, { end_reason: "complete", usage: undefined, content_bytes: 0 });
  // A late charge is found by the poller.
  await taskStore.activate(job.id, state.units, now() + poll_ms);
  const task = await taskStore.find([provider.platform], job.task_id, job.user_id);
  if (!task) return fail("database_unavailable");
  if (!accepted.report || task.status === "NOT_START") return task;
  await applyReport(engine.controlPlane, provider, task, accepted.report);
  return (await taskStore.find([provider.platform], job.task_id, job.user_id)) ?? task;
}
