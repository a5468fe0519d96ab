/**
 * The submit of a job, top to bottom: price, choose, limit, hold, ask, charge, tell. It survives the end of the process
 * at every line: the job's row and what it will cost are written before the vendor is asked, the vendor's id before
 * anything is charged; what is left half done is ended by the poller (poll.ts), charged or given back, never both.
 */
import { createHash, randomBytes } from "node:crypto";
import { fail } from "../../../shared/errors";
import type { SideRequest } from "../admission/side-call";
import type { Call } from "../call/call";
import { failed as failCall } from "../delivery/deliver";
import { UpstreamError } from "../../protocol/upstream-error";
import { failureOf } from "../../protocol/upstream-failure";
import { listedAt } from "../billing/call-price";
import type { CallBilling } from "../billing/call-billing";
import { recordRefusal } from "../billing/log-row";
import { budgetsOf } from "../billing/budgets";
import type { PoolChannel } from "../../contracts/channel";
import { tryChannels } from "../upstream/retry";
import { applyReport } from "./apply";
import { attempt } from "./attempt";
import { SUBMIT_LIMIT_MS, SUBMIT_CHECK_MS, watcherTimes } from "./clock";
import { prepare, providerFor, type Prepared } from "./prepare";
import { packPrice, termsOf, unitsOf } from "./price";
import type { Accepted, TaskOrder, TaskProvider, TaskWatcher } from "./provider";
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

/** The job of a client key that is used again. */
function again(earlier: Task, input_hash: string): Task {
  if (earlier.state.input_hash !== input_hash) fail("idempotency_key_reused");
  if (earlier.status === "NOT_START" && earlier.upstream_id === "") fail("task_in_flight");
  return earlier;
}

/**
 * Submits a job and answers it as it stands then: accepted and charged. The same `Idempotency-Key` header with the same
 * body answers the job of the first time. Throws an AppError for what is refused before a channel was asked, Failed for
 * what the last channel said; either way nothing is charged and the log has its row.
 */
export async function submitTask<Input>(sideRequest: SideRequest, order: TaskOrder<Input>): Promise<Task> {
  const { engine, caller, request_id, lang, ip, path } = sideRequest;
  const { controlPlane } = engine;
  const keys = keysOf(sideRequest, order.body);
  const earlier = keys.client_key === undefined ? undefined : await controlPlane.tasks.byClientKey(keys.client_key);
  if (earlier) return again(earlier, keys.input_hash);
  const arrived = controlPlane.now();
  let prepared: Prepared;
  try {
    prepared = await prepare(
      sideRequest,
      order,
      arrived,
      order.task_id ?? `${order.id_prefix ?? "task_"}${randomBytes(16).toString("hex")}`,
    );
  } catch (error) {
    await recordRefusal(controlPlane, caller, { arrived, request_id, ip, path, lang, model: order.model }, error);
    throw error;
  }
  engine.stats.open_calls++;
  try {
    return await run(order, prepared, keys);
  } finally {
    // Counts only while the hold is open.
    await prepared.billing.release();
    engine.stats.open_calls--;
  }
}

/** The call has its hold: asks channels until one accepts. */
async function run<Input>(order: TaskOrder<Input>, { call, billing, selection }: Prepared, keys: Keys): Promise<Task> {
  const { tasks: taskStore, ledger } = call.engine.controlPlane;
  let opened: Task | undefined;
  let state: TaskState | undefined;
  let twin = false;
  const outcome = await tryChannels<{
    ok: true;
    accepted: Accepted;
    provider: TaskProvider<Input>;
    channel: PoolChannel;
  }>(call, selection, async (_, channel) => {
    const provider = providerFor(order, channel);
    if (!provider) return { ok: false, failure: failureOf("malformed") };
    state = priceAt(call, channel, provider, order, keys.input_hash);
    if (opened) await taskStore.place(opened.id, destinationOf(call, channel, provider, state));
    else opened = await taskStore.open(newTask(call, order, keys, destinationOf(call, channel, provider, state)));
    twin = opened === undefined;
    if (!opened) return { ok: false, failure: failureOf("caller_mistake") };
    // From here on a sweep charges it, if this process ends; the poller then ends what was not accepted with a refund.
    if (!(await ledger.extend(call.request_id, 0, state.units))) throw new Error("the hold of a job is gone");
    const tried = await attempt(call, channel, provider, order);
    return tried.ok ? { ...tried, provider, channel } : tried;
  });
  if (twin) {
    await billing.release();
    const first = keys.client_key === undefined ? undefined : await taskStore.byClientKey(keys.client_key);
    return again(first ?? fail("task_in_flight"), keys.input_hash);
  }
  if (!outcome.ok || !opened || !state) {
    const failure = outcome.ok ? failureOf("malformed") : outcome.failure;
    await failCall(call, billing, failure, outcome.ok ? "upstream_error" : outcome.end_reason);
    if (opened)
      await taskStore.fail(opened, "NOT_START", failure.error?.message ?? failure.class, { next_poll_at_ms: 0 });
    throw new UpstreamError(failure);
  }
  const { upstream_id } = outcome.accepted;
  // Before the job has the vendor's id: from then on it is charged even if this process ends.
  await order.accepted?.({
    upstream_id,
    channel_id: outcome.channel.id,
    channel_key_id: outcome.channel.key_row?.id ?? 0,
  });
  return keep(call, billing, opened, state, outcome);
}

const destinationOf = <Input>(
  call: Call,
  channel: PoolChannel,
  { platform }: TaskProvider<Input>,
  state: TaskState,
) => ({
  platform,
  channel_id: channel.id,
  channel_key_id: channel.key_row?.id ?? 0,
  group: call.caller.group,
  state,
});

function newTask<Input>(
  call: Call,
  order: TaskOrder<Input>,
  { client_key }: Keys,
  place: ReturnType<typeof destinationOf>,
) {
  const { caller, request_id, engine } = call;
  const now = engine.controlPlane.now();
  return {
    ...place,
    client_key,
    task_id: call.task_id ?? "",
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

/** The call is priced as this channel's provider prices it. */
function priceAt<Input>(
  call: Call,
  channel: PoolChannel,
  provider: TaskProvider<Input>,
  { input, model, action, parent }: TaskOrder<Input>,
  input_hash: string,
): TaskState {
  const terms = termsOf(provider.terms?.(input, channel.model_mapping.get(model) ?? model, action, parent));
  call.request.terms = terms;
  const listed = listedAt(call, channel) ?? call.price;
  call.price = terms.priced?.(listed) ?? listed;
  const { usage, times, hidden_turns } = terms;
  const priced = { usage, ...(times && { times }), ...(hidden_turns && { hidden_turns }) };
  return {
    units: unitsOf(call.price, priced),
    price: packPrice(call.price),
    priced,
    budgets: budgetsOf(call),
    lang: call.lang,
    input_hash,
    fails: 0,
    own: {},
  };
}

/** The vendor has accepted: its id first, then the charge, then the job is alive. */
async function keep(
  call: Call,
  billing: CallBilling,
  opened: Task,
  placed: TaskState,
  { accepted, provider }: { accepted: Accepted; provider: TaskWatcher },
): Promise<Task> {
  const { engine } = call;
  const { tasks: taskStore, now } = engine.controlPlane;
  const { poll_ms, lifetime_ms } = watcherTimes(provider);
  const state = { ...placed, own: accepted.own ?? {} };
  const known = await taskStore.answered(opened.id, {
    upstream_id: accepted.upstream_id,
    data: accepted.data,
    state,
    deadline_ms: opened.submit_time_ms + lifetime_ms,
    ...(accepted.prompt !== undefined && { prompt: accepted.prompt }),
  });
  // It took so long that the job was given up and paid back: nothing is charged for what nobody can see.
  if (!known) fail("upstream_timeout", { phase: "submit" });
  await billing.settle({ end_reason: "complete", usage: undefined, content_bytes: 0 });
  // Where the charge is late it is the poller that finds it.
  await taskStore.activate(opened.id, state.units, now() + poll_ms);
  const task = await taskStore.find([provider.platform], opened.task_id, opened.user_id);
  if (!task) return fail("database_unavailable");
  if (!accepted.report || task.status === "NOT_START") return task;
  await applyReport(engine.controlPlane, provider, task, accepted.report);
  return (await taskStore.find([provider.platform], opened.task_id, opened.user_id)) ?? task;
}
