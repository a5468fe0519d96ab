import { expect, test } from "bun:test";
import { freshPostgres } from "../../../tests/kit/databases";
import { HOOK_MS } from "../../../tests/kit/harness";
import { type Session, sharesSessions } from "./pooler";

/** A pooler in transaction mode: the server's process that was used last is the next one's. */
function pooler(): () => Session {
  const idle = [1, 2, 3];
  const using = async <T>(work: (pid: number) => Promise<T>): Promise<T> => {
    const pid = idle.pop() ?? expect.unreachable("no process is free");
    try {
      return await work(pid);
    } finally {
      idle.push(pid);
    }
  };
  return () => ({
    unsafe: () => using(async (pid) => [{ pid }]),
    begin: (work) => using((pid) => work({ unsafe: async () => [{ pid }] })),
    close: async () => undefined,
  });
}

test("a pooler that gives a session to others between its transactions is noticed", async () => {
  expect(await sharesSessions("", pooler())).toBe(true);
});

test(
  "Postgres itself is not taken for one",
  async () => {
    const fresh = await freshPostgres(1);
    expect(await sharesSessions(fresh.url)).toBe(false);
    await fresh.close();
  },
  HOOK_MS,
);
