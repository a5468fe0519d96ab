/**
 * Budgets on Postgres whose rows are there: one statement, so one round trip and one commit. A transaction of the same
 * steps is three round trips and more, and keeps the rows locked in between.
 */
import type { Connections } from "../../db/connection-types";

/**
 * Locks the rows of the names in their order; a locked row is read in its newest version. The names are parameters of
 * their own: the server does not know the length of an array beforehand, and plans again for each.
 */
const locked = (values: readonly string[]): string => `WITH locked AS MATERIALIZED (
  SELECT b.name, b.amount, a.place, a.most FROM (VALUES ${values.join(", ")}) AS a (place, name, most)
  JOIN budget_spend b ON b.name = a.name ORDER BY a.place FOR NO KEY UPDATE OF b
)`;

/** $1 units, then name and limit of each budget. */
const TAKE = textsByCount(
  (
    count,
  ) => `${locked(places(count).map((n) => `(${n}, $${2 * n + 2}::text, $${2 * n + 3}::bigint)`))}, verdict AS MATERIALIZED (
  SELECT count(*)::int AS found, (array_agg(name ORDER BY place) FILTER (WHERE amount + $1::bigint > most))[1] AS full_name
  FROM locked
), taken AS (
  UPDATE budget_spend SET amount = budget_spend.amount + $1::bigint FROM locked, verdict
  WHERE verdict.found = ${count} AND verdict.full_name IS NULL AND budget_spend.name = locked.name
)
SELECT found, full_name FROM verdict`,
);

/** $1 units, then the names. */
const ADD = textsByCount(
  (count) => `${locked(places(count).map((n) => `(${n}, $${n + 2}::text, 0)`))}
UPDATE budget_spend SET amount = budget_spend.amount + $1::bigint FROM locked WHERE budget_spend.name = locked.name`,
);

/** 0, 1, 2 … */
const places = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

/** A statement's text for each number of budgets, made once. */
function textsByCount(make: (count: number) => string): (count: number) => string {
  const texts = new Map<number, string>();
  return (count) => {
    const text = texts.get(count) ?? make(count);
    texts.set(count, text);
    return text;
  };
}

/**
 * Takes `units` from each budget, or from none: one is too small (`full`, its name), or a row is not there, as for the
 * first call of a period. `budgets` in the common lock order.
 */
export async function takeFromRows(
  client: Connections,
  budgets: readonly { name: string; limit: number }[],
  units: number,
): Promise<{ taken: boolean; full?: string }> {
  const [answer] = await client.unsafe<{ found: number; full_name: string | null }>(TAKE(budgets.length), [
    units,
    ...budgets.flatMap(({ name, limit }) => [name, limit]),
  ]);
  if (answer?.full_name) return { taken: false, full: answer.full_name };
  return { taken: answer?.found === budgets.length };
}

/** Adds `units` to the budgets that have a row. `names` in the common lock order. */
export async function addToRows(client: Connections, names: readonly string[], units: number): Promise<void> {
  await client.unsafe(ADD(names.length), [units, ...names]);
}
