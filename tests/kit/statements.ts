/** The statements that a service sends to the database, for tests of plans. */
import { spyOn } from "bun:test";
import type { Harness } from "./harness";

/** Statements of the read connection while `work` runs. */
export async function statementsOf(
  h: Harness,
  work: () => Promise<unknown>,
): Promise<{ sql: string; params: unknown[] }[]> {
  const found: { sql: string; params: unknown[] }[] = [];
  const { db } = h.services;
  const { read } = db;
  const original = read.select.bind(read);
  const spy = spyOn(read, "select").mockImplementation(((...fields: Parameters<typeof read.select>) => {
    const builder = original(...fields) as unknown as object;
    return watched(builder, found);
  }) as unknown as typeof read.select);
  const gather = db.gather.bind(db);
  const gathering = spyOn(db, "gather").mockImplementation((reading) =>
    gather((q) => {
      // SQLite gathers through the read connection, which is watched already.
      if (q === read) return reading(q);
      const select = q.select.bind(q);
      return reading({
        select: ((...fields: Parameters<typeof select>) =>
          watched(select(...fields) as unknown as object, found)) as unknown as typeof q.select,
      });
    }),
  );
  try {
    await work();
  } finally {
    spy.mockRestore();
    gathering.mockRestore();
  }
  return found;
}

/** The builder, which records its statement when it is awaited. */
function watched<B extends object>(builder: B, found: { sql: string; params: unknown[] }[]): B {
  return new Proxy(builder, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "then" && "toSQL" in target)
        found.push((target.toSQL as () => { sql: string; params: unknown[] }).call(target));
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const result: unknown = value.apply(target, args);
        return name !== "then" && name !== "as" && typeof result === "object" && result !== null && "where" in result
          ? watched(result, found)
          : result;
      };
    },
  });
}
