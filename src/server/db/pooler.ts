/** Whether a pooler shares its connections to Postgres between clients within their sessions. */
import { SQL } from "bun";

/** What is needed of a client with one connection. */
export interface Session {
  unsafe(text: string): PromiseLike<{ pid: number }[]>;
  begin<T>(work: (tx: Pick<Session, "unsafe">) => Promise<T>): Promise<T>;
  close(options: { timeout: number }): Promise<void>;
}

/** A pooler with a single free connection answers no sooner than the transaction has ended: nothing is known then. */
const ANSWER_MS = 2_000;
const CONNECT_SECONDS = 5;
/** A connection that was lost and made again looks the same once. */
const TIMES = 2;

const connect = (url: string): Session =>
  new SQL(url, { max: 1, connectionTimeout: CONNECT_SECONDS, bigint: false }) as unknown as Session;

/** What PgBouncer says in statement mode, which knows no transactions. */
const NO_TRANSACTIONS = /not allowed in statement pooling mode/;

const processOf = async (session: Pick<Session, "unsafe">): Promise<number> =>
  (await session.unsafe("SELECT pg_backend_pid() AS pid"))[0]?.pid ?? 0;

/**
 * Transactions of two clients in turn: behind a pooler in transaction or statement mode the second takes the server's
 * process of the first. Then LISTEN, time limits of a session and its locks do not hold. Rejects when the server cannot
 * be reached. `open` is a parameter for tests.
 */
export async function sharesSessions(url: string, open: (url: string) => Session = connect): Promise<boolean> {
  const [first, second] = [open(url), open(url)];
  try {
    for (let times = 0; times < TIMES; times++) {
      const before = await processOf(first);
      const meanwhile = await second.begin(async (tx) => {
        await processOf(tx);
        return Promise.race([processOf(first), Bun.sleep(ANSWER_MS).then(() => before)]);
      });
      if (meanwhile === before) return false;
    }
    return true;
  } catch (error) {
    if (error instanceof Error && NO_TRANSACTIONS.test(error.message)) return true;
    throw error;
  } finally {
    await Promise.all([first.close({ timeout: 0 }), second.close({ timeout: 0 })]);
  }
}
