/**
 * Whether the database is unavailable (no connection, a full disk, a lock), so that the same may succeed later. Decided
 * by codes, never by texts.
 */

import type { ErrorCode } from "../../shared/errors";

/** An error and its causes: drizzle wraps the driver's. */
export function* causes(error: unknown): Generator<{ code?: unknown; errno?: unknown; message?: unknown }> {
  let e: unknown = error;
  for (let depth = 0; depth < 6 && typeof e === "object" && e !== null; depth++) {
    yield e as { code?: unknown; errno?: unknown; message?: unknown };
    e = (e as { cause?: unknown }).cause;
  }
}

/** Connections that fail, end or time out. */
const DRIVER = /^ERR_POSTGRES_(CONNECTION|IDLE|LIFETIME|QUERY_CANCEL)/;
/**
 * SQLSTATE: connection exceptions, lack of resources, the server's or an operator's intervention, a server that only
 * reads.
 */
const STATE = /^(08|53|57)[0-9A-Z]{3}$|^25006$/;
/** The code that db/connections.ts throws; drizzle wraps it. */
const REFUSED = "database_unavailable" satisfies ErrorCode;
const SQLITE = /^SQLITE_(FULL|BUSY|LOCKED|IOERR|CANTOPEN|READONLY|NOMEM|PROTOCOL)/;

/** The database did not answer, or could not write. */
export function isUnavailable(error: unknown): boolean {
  for (const { code, errno } of causes(error)) {
    if (code === REFUSED) return true;
    if (typeof code === "string" && (DRIVER.test(code) || SQLITE.test(code))) return true;
    if (typeof code === "string" && code.startsWith("ERR_POSTGRES") && STATE.test(String(errno))) return true;
  }
  return false;
}
