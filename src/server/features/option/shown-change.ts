/** How the audit log keeps the change of an option. */
import { membersOf } from "../../../shared/history";
import { isOptionKey, option } from "../../../shared/options";

/** Options of other releases count as secret. */
export const isSecretOption = (key: string): boolean => !isOptionKey(key) || option(key).secret;

type Members = Record<string, unknown>;

/** What an option's audit row keeps of a change: of a table the members that differ, of others both texts. */
export function shownChange(key: string, before: string, after: string): { before: Members; after: Members } {
  const [old, now] = [membersOf(before), membersOf(after)];
  if (isSecretOption(key) || !old || !now) return { before: { [key]: before }, after: { [key]: after } };
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (name) => JSON.stringify(old[name]) !== JSON.stringify(now[name]),
  );
  const pick = (side: Members) => Object.fromEntries(names.map((name) => [name, side[name] ?? null]));
  return { before: { [key]: pick(old) }, after: { [key]: pick(now) } };
}
