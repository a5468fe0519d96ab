/** The changes of settings, of a member of their tables (a model's price), and putting back what was before one. */
import { fail } from "../../../shared/errors";
import { type History, membersOf, SECRET_BLOT } from "../../../shared/history";
import { isOptionKey } from "../../../shared/options";
import type { Ctx, UserCtx } from "../../contracts/context";
import { historyEntry, historyOf } from "../audit/history";
import { isSecretOption } from "./shown-change";
import { setOption } from "./service";

type Members = Record<string, unknown>;

/** One side of a change: a text, or of a table the members that it changed (null: there was none). */
const sideOf = (json: string, key: string): unknown => membersOf(json)?.[key];

/** The members of a side, whichever way it is kept. */
const tableOf = (side: unknown): Members | undefined =>
  typeof side === "string"
    ? membersOf(side)
    : typeof side === "object" && side !== null
      ? (side as Members)
      : undefined;

/** The changes of settings, newest first; with `member` those of one member of their tables. */
export function optionHistory(
  ctx: Ctx,
  keys: readonly string[],
  member: string | undefined,
  cursor: number | null | undefined,
): Promise<History> {
  return historyOf(ctx, "option", keys, cursor, ({ target_id: key, before, after }) => {
    const [old, now] = [sideOf(before, key), sideOf(after, key)];
    const restorable = old !== undefined && !isSecretOption(key) && !JSON.stringify(old).includes(SECRET_BLOT);
    if (member === undefined) return { before, after, restorable };
    const values = [old, now].map((side) => tableOf(side)?.[member] ?? null);
    if (JSON.stringify(values[0]) === JSON.stringify(values[1])) return undefined;
    const [was, is] = values.map((value) => JSON.stringify({ [member]: value }));
    return { before: was ?? "", after: is ?? "", restorable };
  });
}

/**
 * Sets an option so that what a change has changed is as it was before it; of a table only those members, or the one
 * that is named. Throws what setting throws, history_not_found and history_not_restorable.
 */
export async function restoreOption(
  ctx: UserCtx,
  { key, entry, member }: { key: string; entry: number; member?: string | undefined },
): Promise<void> {
  const row = await historyEntry(ctx, "option", key, entry);
  const was = sideOf(row.before, key);
  if (!isOptionKey(key) || isSecretOption(key) || was === undefined || JSON.stringify(was).includes(SECRET_BLOT))
    return fail("history_not_restorable");
  if (typeof was === "string" && member === undefined) return setOption(ctx, key, was);
  const [members, table] = [tableOf(was), membersOf(ctx.options.text(key))];
  if (!members || !table) return fail("history_not_restorable");
  for (const name of member === undefined ? Object.keys(members) : [member]) {
    const value = members[name] ?? null;
    if (value === null) delete table[name];
    else table[name] = value;
  }
  return setOption(ctx, key, JSON.stringify(table));
}
