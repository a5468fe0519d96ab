/**
 * What one group commit of the SQLite ledger adds up before it writes: balances of users and tokens, hourly sums,
 * channel totals. Calls that are in one commit mostly share user, token, channel and hour, so a row is read and written
 * once for all of them (docs/decisions/0011-hot-path.md), and the log rows by few statements
 * (docs/decisions/0057-instructions-a-call.md). BEGIN IMMEDIATE holds the only write lock, so what was read stays true.
 */
import type { Database } from "bun:sqlite";
import { ADDED_TO_HOUR, type CallFigures, figuresOf, firstTokenOf, HOUR_COLUMNS } from "../log/hour-sums";
import { REOPEN } from "../log/sums";
import { type Cell, LOG_COLUMN_LIST, LOG_COLUMNS, type Room } from "./call-log";
import type { CallLog } from "../../contracts/ledger";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import { USER_STATUS } from "../../../shared/roles";

interface UserRow {
  quota: number;
  used_quota: number;
  usable: number;
}

interface UserMoves {
  row: UserRow | null;
  /** What the batch adds to quota. */
  moved: number;
  charged: number;
  calls: number;
}

interface TokenRow {
  remain_quota: number;
  unlimited_quota: number;
  status: number;
  deleted_at: number | null;
  expired_time: number;
  user_id: number;
}

interface TokenMoves {
  row: TokenRow | null;
  /** What holds took and gave back. */
  moved: number;
  /** Charges; a limited token also pays them. */
  charged: number;
  settled: boolean;
}

interface Hour extends CallFigures {
  hour: number;
  user_id: number;
  username: string;
  token_id: number;
  channel: number;
  model_name: string;
  group: string;
  count: number;
  quota: number;
  prompt_tokens: number;
  completion_tokens: number;
  use_time: number;
}

const NO_FIGURES: CallFigures = { upstream_cost: 0, costed_quota: 0, first_token_ms: 0, first_tokens: 0 };

/**
 * Rows of a statement that writes log rows: the largest that fits is taken. What a statement costs whatever its rows
 * are (its cursors on each index, the table's sequence) is a third of what a row alone costs.
 */
const ROWS_AT_ONCE = [16, 4, 1];

/** Writes rows of charges, unless their calls have one. Parameters: the cells of LOG_COLUMNS, row after row. */
export const insertLogs = (folded: number, rows = 1): string => {
  const row = `(${LOG_COLUMNS.map(() => "?").join(", ")}, ${LOG_TYPE.consume}, ${folded})`;
  return (
    `INSERT INTO logs (${LOG_COLUMN_LIST}, "type", folded) ` +
    `VALUES ${Array.from({ length: rows }, () => row).join(", ")} ON CONFLICT (request_id) DO NOTHING`
  );
};

/** Created once; holds the sums of the current batch. `seconds`: epoch seconds. */
export class Batch {
  /** The next verb is the only one of its transaction: a group was undone, and each must fail or succeed by itself. */
  alone = false;
  /** The cells of each log row. */
  #rows: (readonly Cell[])[] = [];
  readonly #users = new Map<number, UserMoves>();
  readonly #tokens = new Map<number, TokenMoves>();
  readonly #hours = new Map<string, Hour>();
  readonly #channels = new Map<number, number>();
  readonly #seconds: () => number;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(client: Database, seconds: () => number) {
    this.#statements = prepare(client);
    this.#seconds = seconds;
  }

  /** The user as this transaction sees them, the batch's moves included. */
  user(id: number): { quota: number; usable: boolean } | undefined {
    const { row, moved } = this.#user(id);
    return row ? { quota: row.quota + moved, usable: row.usable === 1 } : undefined;
  }

  /** The token as this transaction sees it, the batch's moves included. */
  token(id: number): Readonly<TokenRow> | undefined {
    const { row, moved, charged } = this.#token(id);
    if (!row) return undefined;
    // Charges take nothing from an unlimited one.
    return moved === 0 && (charged === 0 || row.unlimited_quota)
      ? row
      : { ...row, remain_quota: row.remain_quota + moved - (row.unlimited_quota ? 0 : charged) };
  }

  /** What a charge may take from a user and a token that get `back` and `tokenBack` with it. */
  room(user_id: number, back: number, token_id: number, tokenBack: number): Room {
    const { row, moved, charged } = this.#user(user_id);
    const token = token_id === 0 ? undefined : this.token(token_id);
    return {
      quota: (row?.quota ?? 0) + moved + back,
      used_quota: (row?.used_quota ?? 0) + charged,
      remain_quota: token && !token.unlimited_quota ? token.remain_quota + tokenBack : undefined,
    };
  }

  /** Adds units (negative: takes) to a user and their token. */
  move(user_id: number, units: number, token_id: number, tokenUnits: number): void {
    if (units !== 0) this.#user(user_id).moved += units;
    if (tokenUnits !== 0) this.#token(token_id).moved += tokenUnits;
  }

  /** A charge: one more call of the user, and of the token unless 0. */
  charge(user_id: number, token_id: number, units: number): void {
    const user = this.#user(user_id);
    user.moved -= units;
    user.charged += units;
    user.calls++;
    if (token_id === 0) return;
    const token = this.#token(token_id);
    token.charged += units;
    token.settled = true;
  }

  /**
   * Writes the log row of a charge with the others. `write` throws where its call has a row already, which no call has
   * whose hold was just deleted.
   */
  log(cells: readonly Cell[]): void {
    this.#rows.push(cells);
  }

  /** Adds the log row of a charge to its hour and its channel: it is written with `folded = 1`. */
  count(log: CallLog, user_id: number, token_id: number, quota: number): void {
    const { created_at, username = "", channel = 0, model_name = "", group = "" } = log;
    const hour = created_at - (created_at % 3600);
    const key = `${hour}\n${user_id}\n${token_id}\n${channel}\n${model_name}\n${group}`;
    let sums = this.#hours.get(key);
    if (!sums) {
      const nothing = { ...NO_FIGURES, count: 0, quota: 0, prompt_tokens: 0, completion_tokens: 0, use_time: 0 };
      this.#hours.set(key, (sums = { ...nothing, hour, user_id, username, token_id, channel, model_name, group }));
    }
    sums.count++;
    sums.quota += quota;
    sums.prompt_tokens += log.prompt_tokens ?? 0;
    sums.completion_tokens += log.completion_tokens ?? 0;
    sums.use_time += log.use_time ?? 0;
    const figures = figuresOf(quota, log.upstream_cost ?? null, firstTokenOf(log));
    // One by one, not in a loop over the names: this runs in every call.
    sums.upstream_cost += figures.upstream_cost;
    sums.costed_quota += figures.costed_quota;
    sums.first_token_ms += figures.first_token_ms;
    sums.first_tokens += figures.first_tokens;
    if (channel !== 0 && quota !== 0) this.#channels.set(channel, (this.#channels.get(channel) ?? 0) + quota);
  }

  /** Writes everything, inside the transaction. Throws where it must be undone and each verb run alone. */
  write(): void {
    this.#writeLogs();
    const { moveUser, moveToken, chargeToken, addHour, reopen, addChannel } = this.#statements;
    const now = this.#seconds();
    const thisHour = now - (now % 3600);
    for (const [id, { moved, charged, calls }] of this.#users) {
      if (moved !== 0 || calls !== 0) moveUser.run(id, moved, charged, calls);
    }
    for (const [id, { moved, charged, settled }] of this.#tokens) {
      if (settled) chargeToken.run(id, moved, charged, now);
      else if (moved !== 0) moveToken.run(id, moved);
    }
    for (const h of this.#hours.values()) {
      addHour.run(
        h.hour,
        h.user_id,
        h.token_id,
        h.channel,
        h.model_name,
        h.group,
        h.username,
        h.count,
        h.quota,
        h.prompt_tokens,
        h.completion_tokens,
        h.use_time,
        h.upstream_cost,
        h.costed_quota,
        h.first_token_ms,
        h.first_tokens,
      );
      if (h.hour < thisHour) reopen.run(h.hour);
    }
    for (const [id, quota] of this.#channels) addChannel.run(id, quota);
    this.clear();
  }

  /** Forgets everything: written, or rolled back. */
  clear(): void {
    this.#rows = [];
    this.#users.clear();
    this.#tokens.clear();
    this.#hours.clear();
    this.#channels.clear();
  }

  #writeLogs(): void {
    let next = 0;
    for (const { rows, statement } of this.#statements.insertLogs) {
      for (; this.#rows.length - next >= rows; next += rows) {
        const { changes } = statement.run(...this.#rows.slice(next, next + rows).flat());
        if (changes !== rows) throw new Error("A call whose hold was there has a log row already");
      }
    }
  }

  #user(id: number): UserMoves {
    let moves = this.#users.get(id);
    if (!moves)
      this.#users.set(id, (moves = { row: this.#statements.readUser.get(id), moved: 0, charged: 0, calls: 0 }));
    return moves;
  }

  #token(id: number): TokenMoves {
    let moves = this.#tokens.get(id);
    if (!moves)
      this.#tokens.set(id, (moves = { row: this.#statements.readToken.get(id), moved: 0, charged: 0, settled: false }));
    return moves;
  }
}

const prepare = (client: Database) => ({
  // Born folded: their sums are in the same commit, so the rows are never written again.
  insertLogs: ROWS_AT_ONCE.map((rows) => ({ rows, statement: client.prepare(insertLogs(FOLDED.done, rows)) })),
  readUser: client.prepare<UserRow, [number]>(
    `SELECT quota, used_quota, status = ${USER_STATUS.active} AND deleted_at IS NULL AS usable FROM users WHERE id = ?`,
  ),
  readToken: client.prepare<TokenRow, [number]>(
    "SELECT remain_quota, unlimited_quota, status, deleted_at, expired_time, user_id FROM tokens WHERE id = ?",
  ),
  moveUser: client.prepare(
    "UPDATE users SET quota = quota + ?2, used_quota = used_quota + ?3, request_count = request_count + ?4 WHERE id = ?1",
  ),
  moveToken: client.prepare("UPDATE tokens SET remain_quota = remain_quota + ?2 WHERE id = ?1"),
  // What was held comes back even when the token became unlimited meanwhile; only a limited one pays.
  chargeToken: client.prepare(
    "UPDATE tokens SET remain_quota = remain_quota + ?2 - CASE WHEN unlimited_quota THEN 0 ELSE ?3 END, " +
      "used_quota = used_quota + ?3, accessed_time = ?4 WHERE id = ?1",
  ),
  addHour: client.prepare(
    `INSERT INTO usage_hourly AS h (${HOUR_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${ADDED_TO_HOUR}`,
  ),
  reopen: client.prepare(REOPEN),
  addChannel: client.prepare("UPDATE channels SET used_quota = used_quota + ?2 WHERE id = ?1"),
});
