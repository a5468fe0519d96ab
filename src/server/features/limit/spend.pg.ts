/**
 * Budgets on Postgres whose rows are there: one statement, so one round trip and one commit. A transaction of the same
 * steps is three round trips and more, and keeps the rows locked in between.
 */
import { numberArray, textArray } from "../../db/arrays";
import type { Connections } from "../../db/connection-types";

/** Locks the rows of $1 in its order; a locked row is read in its newest version. */
const LOCKED = `WITH locked AS MATERIALIZED (
  SELECT b.name, b.amount, a.place FROM unnest($1::text[]) WITH ORDINALITY AS a (name, place)
  JOIN budget_spend b ON b.name = a.name ORDER BY a.place FOR NO KEY UPDATE OF b
)`;

/** $1 names, $2 units, $3 limits */
const TAKE = `${LOCKED}, verdict AS MATERIALIZED (
  SELECT count(*)::int AS found,
    (array_agg(name ORDER BY place) FILTER (WHERE amount + $2::bigint > ($3::bigint[])[place::int]))[1] AS full_name
  FROM locked
), taken AS (
  UPDATE budget_spend SET amount = budget_spend.amount + $2::bigint FROM locked, verdict
  WHERE verdict.found = cardinality($1::text[]) AND verdict.full_name IS NULL AND budget_spend.name = locked.name
)
SELECT found, full_name FROM verdict`;

/** $1 names, $2 units */
const ADD = `${LOCKED}
UPDATE budget_spend SET amount = budget_spend.amount + $2::bigint FROM locked WHERE budget_spend.name = locked.name`;

/**
 * Takes `units` from each budget, or from none: one is too small (`full`, its name), or a row is not there, as for the
 * first call of a period. `budgets` in the common lock order.
 */
export async function takeFromRows(
  client: Connections,
  budgets: readonly { name: string; limit: number }[],
  units: number,
): Promise<{ taken: boolean; full?: string }> {
  const [answer] = await client.unsafe<{ found: number; full_name: string | null }>(TAKE, [
    textArray(budgets.map(({ name }) => name)),
    units,
    numberArray(budgets.map(({ limit }) => limit)),
  ]);
  if (answer?.full_name) return { taken: false, full: answer.full_name };
  return { taken: answer?.found === budgets.length };
}

/** Adds `units` to the budgets that have a row. `names` in the common lock order. */
export async function addToRows(client: Connections, names: readonly string[], units: number): Promise<void> {
  await client.unsafe(ADD, [textArray(names), units]);
}
