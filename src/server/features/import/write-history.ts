/** Orders and jobs of the past, as records: nothing is credited, charged or polled for them. */
import { isObject } from "../../lib/json-bytes";
import { run, type Steps } from "../../db/transaction";
import type { Q } from "../../db/types";
import type { Source } from "../../db/foreign/source";
import type { TaskState } from "../../contracts/task-store";
import { cut, TEXT_LIMITS } from "../../../shared/text-limits";
import { jsonText } from "../task/row";
import { HISTORY_ROWS, historyTables, OLD } from "./history";
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
  let written = 0;
  for (const record of records) {
    const user_id = input.target.idOf("user", record.user);
    // A row of a user who is not taken is nobody's here.
    if (user_id === 0) continue;
    const isNew =
      "trade_no" in record
        ? yield* writeOrder(input, q, record, user_id)
        : yield* writeJob(input, q, record, { id: user_id, username: names.get(user_id) ?? "" });
    if (isNew) written++;
  }
  return written;
}

/** True when it is new. */
function* writeOrder(
  { services, target }: HistoryInput,
  q: Q,
  { id, user: _user, ...order }: SourceOrder,
  user_id: number,
): Steps<boolean> {
  const { orders } = services.db.t;
  const trade_no = order.trade_no || `import_${target.source.replace(/\W/g, "_")}_${id}`;
  const made = yield* run(
    q
      .insert(orders)
      .values({ ...order, trade_no, user_id, status: "success" })
      .onConflictDoNothing({ target: orders.trade_no })
      .returning({ id: orders.id }),
  );
  if (made.length === 0) return false;
  yield* inOpening(services, q, {
    user_id,
    amount: order.quota,
    kind: "order",
    idempotency_key: `order:${trade_no}`,
    opening: `import:${target.source}:order:${id}`,
    created_at: order.complete_time,
  });
  return true;
}

/** True when it is new. */
function* writeJob(
  { services, target }: HistoryInput,
  q: Q,
  { id, user: _user, channel, token, data, own, quota, ...job }: SourceJob,
  user: { id: number; username: string },
): Steps<boolean> {
  const { tasks } = services.db.t;
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
  const made = yield* run(
    q
      .insert(tasks)
      .values({
        ...job,
        task_id: job.task_id || `import_${target.source.replace(/\W/g, "_")}_${id}`,
        user_id: user.id,
        username: user.username,
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
      })
      .onConflictDoNothing({ target: [tasks.platform, tasks.task_id] })
      .returning({ id: tasks.id }),
  );
  return made.length > 0;
}
