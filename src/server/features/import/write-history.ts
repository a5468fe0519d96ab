/** Orders and jobs of the past, as records: nothing is credited, charged or polled for them. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { isObject } from "../../lib/json-bytes";
import { run, type Steps } from "../../db/transaction";
import type { Q } from "../../db/types";
import type { Source } from "../../db/foreign/source";
import type { TaskState } from "../../contracts/task-store";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";
import { jsonText } from "../task/row";
import { HISTORY_ROWS, historyTables } from "./history";
import { eachOf } from "./plan";
import { isLeft, type SourceJob, type SourceOrder } from "./records";
import type { Survey } from "./survey";
import { inOpening, type Needs, type Target } from "./target";

/** New rows of each kind. */
export interface HistoryWritten {
  orders: number;
  drawings: number;
  tasks: number;
}

interface HistoryInput {
  services: Needs;
  source: Source;
  survey: Survey;
  target: Target;
  progress(done: number, of: string): void;
  stopped(): boolean;
}

/** Every row is read again by each run: one that had no end then may have one now. What is here already stays. */
export async function writeHistory(input: HistoryInput): Promise<HistoryWritten> {
  const { services, source, survey } = input;
  const written: HistoryWritten = { orders: 0, drawings: 0, tasks: 0 };
  const { since } = survey;
  if (since === undefined) return written;
  const names = new Map<number, string>();
  const { users } = services.db.t;
  for (const { id, username } of await services.db.q.select({ id: users.id, username: users.username }).from(users))
    names.set(id, username);
  for (const [becomes, use, time] of historyTables(survey.tables)) {
    let part: (SourceOrder | SourceJob)[] = [];
    const flush = async (): Promise<void> => {
      const records = part;
      part = [];
      if (records.length === 0) return;
      written[becomes] += await services.db.tx((q) => writeSome(input, q, records, names), {
        durable: becomes === "orders",
        long: true,
      });
      input.progress(written[becomes], becomes);
      // A signal is heard when the event loop turns.
      await nextTurn();
    };
    for await (const { record } of eachOf(source, use, HISTORY_ROWS)) {
      if (input.stopped()) return written;
      if (isLeft(record) || time(record) < since) continue;
      if (part.push(record) >= HISTORY_ROWS) await flush();
    }
    await flush();
  }
  return written;
}

function* writeSome(
  input: HistoryInput,
  q: Q,
  records: readonly (SourceOrder | SourceJob)[],
  names: ReadonlyMap<number, string>,
): Steps<number> {
  const orders: Owned<SourceOrder>[] = [];
  const jobs: Owned<SourceJob>[] = [];
  for (const record of records) {
    const user_id = input.target.idOf("user", record.user);
    // The user was not taken: the row has no owner here.
    if (user_id === 0) continue;
    if ("trade_no" in record) orders.push({ ...record, user_id });
    else jobs.push({ ...record, user_id });
  }
  return (yield* writeOrders(input, q, orders)) + (yield* writeJobs(input, q, jobs, names));
}

/** With the account here. */
type Owned<Record> = Record & { user_id: number };

/** The id of a row that has none. */
const madeId = ({ source }: Target, id: string): string => `import_${source.replace(/\W/g, "_")}_${id}`;

/** Returns how many are new. */
function* writeOrders({ services, target }: HistoryInput, q: Q, records: readonly Owned<SourceOrder>[]): Steps<number> {
  if (records.length === 0) return 0;
  const { orders } = services.db.t;
  const named = records.map((one) => ({ ...one, trade_no: one.trade_no || madeId(target, one.id) }));
  const rows = named.map(({ id: _id, user: _user, ...order }) => ({ ...order, status: "success" }));
  const made = yield* run(
    q
      .insert(orders)
      .values(rows)
      .onConflictDoNothing({ target: orders.trade_no })
      .returning({ trade_no: orders.trade_no }),
  );
  const fresh = new Set(made.map(({ trade_no }) => trade_no));
  for (const { id, user_id, trade_no, quota, complete_time } of named)
    if (fresh.delete(trade_no))
      yield* inOpening(services, q, {
        user_id,
        amount: quota,
        kind: "order",
        idempotency_key: `order:${trade_no}`,
        opening: `import:${target.source}:order:${id}`,
        created_at: complete_time,
      });
  return made.length;
}

/** Returns how many are new. */
function* writeJobs(
  { services, target }: HistoryInput,
  q: Q,
  records: readonly Owned<SourceJob>[],
  names: ReadonlyMap<number, string>,
): Steps<number> {
  if (records.length === 0) return 0;
  const { tasks } = services.db.t;
  const rows = records.map(({ id, user: _user, channel, token, data, own, quota, ...job }) => {
    const state: TaskState = {
      units: 0,
      price: "",
      priced: { usage: {} },
      budgets: [],
      lang: "en",
      input_hash: "",
      fails: 0,
      own,
    };
    const failed = job.status === "FAILURE";
    return {
      ...job,
      task_id: job.task_id || madeId(target, id),
      username: names.get(job.user_id) ?? "",
      token_id: target.idOf("token", token),
      channel_id: target.idOf("channel", channel),
      prompt: cut(job.prompt, TEXT_LIMITS.task_prompt),
      fail_reason: cut(job.fail_reason, TEXT_LIMITS.task_reason),
      quota: failed ? 0 : quota,
      refunded: failed ? quota : 0,
      // Never empty: an erased user's is.
      input: "{}",
      data: isObject(data) || Array.isArray(data) ? jsonText(data) : "",
      state: jsonText(state),
    };
  });
  const made = yield* run(
    q
      .insert(tasks)
      .values(rows)
      .onConflictDoNothing({ target: [tasks.platform, tasks.task_id] })
      .returning({ id: tasks.id }),
  );
  return made.length;
}
