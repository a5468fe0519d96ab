/** What the two engines' ledgers share: the columns of a charge's log row in one order, and the check of amounts. */
import { CHARGE_LIMIT, UNITS_LIMIT } from "../../../shared/quota";
import { postgresText } from "../../db/arrays";
import { withoutNul } from "../../db/sql";
import type { CallLog } from "../../contracts/ledger";

type Column = keyof CallLog;
export type Cell = string | number | boolean | null;

/** Columns of the settlement, which win over the row. */
type Settled = Required<Pick<CallLog, "request_id" | "user_id" | "token_id" | "quota">>;

/**
 * The row that a settlement writes, the same on both engines: every column, and what an absent value means. A new
 * column of `logs` does not compile until it is named here. Without NUL characters, which Postgres text cannot hold;
 * JSON (`other`) has none as it is, and is the longest text.
 */
export function logRow(log: CallLog, { request_id, user_id, token_id, quota }: Settled): Required<CallLog> {
  return {
    request_id: withoutNul(request_id),
    created_at: log.created_at,
    user_id,
    username: withoutNul(log.username ?? ""),
    token_id,
    token_name: withoutNul(log.token_name ?? ""),
    channel: log.channel ?? 0,
    channel_name: withoutNul(log.channel_name ?? ""),
    group: withoutNul(log.group ?? ""),
    model_name: withoutNul(log.model_name ?? ""),
    quota,
    prompt_tokens: log.prompt_tokens ?? 0,
    completion_tokens: log.completion_tokens ?? 0,
    use_time: log.use_time ?? 0,
    is_stream: log.is_stream ?? false,
    content: withoutNul(log.content ?? ""),
    code: withoutNul(log.code ?? ""),
    params: withoutNul(log.params ?? ""),
    other: log.other ?? "",
    end_reason: withoutNul(log.end_reason ?? ""),
    ip: withoutNul(log.ip ?? ""),
    upstream_request_id: withoutNul(log.upstream_request_id ?? ""),
    upstream_cost: log.upstream_cost ?? null,
    price_rule: withoutNul(log.price_rule ?? ""),
    plan_quota: log.plan_quota ?? 0,
    tags: withoutNul(log.tags ?? ""),
    visible: log.visible ?? true,
  };
}

/** The same as a list, in the order of LOG_COLUMNS. */
export const logValues = (log: CallLog, settled: Settled): Cell[] => Object.values(logRow(log, settled));

const ABSENT = logRow({ created_at: 0 } as CallLog, { request_id: "", user_id: 0, token_id: 0, quota: 0 });
export const LOG_COLUMNS = Object.keys(ABSENT) as readonly Column[];
const FALLBACKS: readonly Cell[] = LOG_COLUMNS.map((name) => ABSENT[name]);

/** Column list as SQL: `"request_id", "created_at", …`. */
export const LOG_COLUMN_LIST = LOG_COLUMNS.map((name) => `"${name}"`).join(", ");

/** By the type of what an absent value means; null stands for a number that is not known. */
const POSTGRES_TYPE: Record<string, string> = {
  string: "text",
  number: "bigint",
  boolean: "boolean",
  object: "bigint",
};

/** Postgres types in the order of LOG_COLUMNS, for the casts of INSERT … SELECT. */
export const LOG_COLUMN_TYPES = FALLBACKS.map((value) => POSTGRES_TYPE[typeof value]);

/** Columns that the ledger's statement on Postgres has from the settlement. */
const SETTLED: ReadonlySet<string> = new Set<keyof Settled>(["request_id", "user_id", "token_id", "quota"]);

/** The columns of a row that are not what an absent value means, for JSON; those of the settlement are left out. */
export function sparseRow(log: CallLog): Partial<Record<Column, Cell>> {
  const row: Partial<Record<Column, Cell>> = { created_at: cell(log.created_at) };
  for (let i = 0; i < LOG_COLUMNS.length; i++) {
    const name = LOG_COLUMNS[i] as Column; // i is inside the array
    const value = log[name];
    if (value !== undefined && value !== FALLBACKS[i] && !SETTLED.has(name)) row[name] = cell(value);
  }
  return row;
}

/** JSON has no NaN: as null it would become the fallback, as text the database refuses it. */
const cell = (value: Cell): Cell =>
  typeof value === "string"
    ? postgresText(value)
    : typeof value === "number" && !Number.isFinite(value)
      ? String(value)
      : value;

/** What a charge may take before a balance or a total exceeds the exact integers. */
export interface Room {
  /** Of the user, what was held for the call given back. */
  quota: number;
  used_quota: number;
  /** Of the token; undefined where it has no limit or there is none. */
  remain_quota: number | undefined;
}

/** The units of `quota` that can be charged: all of them, except for counts that no real answer can have. */
export const chargeable = (quota: number, { quota: balance, used_quota, remain_quota = UNITS_LIMIT }: Room): number =>
  Math.max(
    0,
    Math.min(quota, CHARGE_LIMIT, UNITS_LIMIT - used_quota, balance + UNITS_LIMIT, remain_quota + UNITS_LIMIT),
  );

/** Amounts are whole units below 2^53; anything else is a caller's fault and must not reach a balance. */
export function checkUnits(amount: number): void {
  if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`Not an amount of units: ${amount}`);
}
