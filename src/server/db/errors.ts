/** What an error of either engine means. */
import { causes } from "../lib/unavailable";

/** A unique index refused the row. */
export function isUniqueViolation(error: unknown): boolean {
  for (const c of causes(error)) {
    if (c.errno === "23505" || c.code === "23505") return true;
    if (c.code === "SQLITE_CONSTRAINT_UNIQUE" || c.code === "SQLITE_CONSTRAINT_PRIMARYKEY") return true;
  }
  return false;
}

/**
 * SQLSTATEs that end a connection or refuse one: ended by an operator, server starting or stopping, too many
 * connections, idle in a transaction for too long.
 */
const LOST = /^(08...|57P0[1-5]|53300|25P0[34])$/;

/** The connection ended, or could not be opened. */
export function isConnectionLost(error: unknown): boolean {
  for (const c of causes(error))
    if (LOST.test(String(c.errno ?? "")) || LOST_CODE.test(String(c.code ?? ""))) return true;
  return false;
}

/** The server cancelled a statement because it took too long: it was rolled back. */
export function isTimeout(error: unknown): boolean {
  for (const c of causes(error)) if (c.errno === "57014") return true;
  return isLockTimeout(error);
}

/** The statement waited for a lock for longer than its lock_timeout: it was rolled back. */
export function isLockTimeout(error: unknown): boolean {
  for (const c of causes(error)) if (c.errno === "55P03") return true;
  return false;
}

/**
 * Postgres asks to run the transaction again (also 53300 and 57P03: it took no connection), or the connection was lost.
 */
export function isTransient(error: unknown): boolean {
  for (const c of causes(error)) {
    const state = String(c.errno ?? c.code ?? "");
    if (
      /^(40001|40P01|57P0[13]|08006|08003|53300|ERR_POSTGRES_CONNECTION_CLOSED|ERR_POSTGRES_LIFETIME_TIMEOUT)$/.test(
        state,
      )
    )
      return true;
  }
  return false;
}

/** The driver's codes for it. */
const LOST_CODE = /^ERR_POSTGRES_(CONNECTION_|(LIFETIME|IDLE)_TIMEOUT)/;
