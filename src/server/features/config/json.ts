/** JSON values as the configuration file has them: in one order, and compared member by member. */

export type Members = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value with the members of every object in alphabetical order; lists keep theirs. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMembers(value)) return value;
  const names = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}

export const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

/** Stands for a secret in what is shown. */
export const HIDDEN = "********";

/** One value that differs; absent sides are undefined. */
export interface Difference {
  path: string;
  before: unknown;
  after: unknown;
}

/** Where two values differ, down to the members of objects. */
export function differences(before: unknown, after: unknown, path: string): Difference[] {
  if (same(before, after)) return [];
  if (!isMembers(before) || !isMembers(after)) return [{ path, before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort((a, b) => (a < b ? -1 : 1));
  return names.flatMap((name) =>
    differences(
      Object.hasOwn(before, name) ? before[name] : undefined,
      Object.hasOwn(after, name) ? after[name] : undefined,
      path === "" ? name : `${path}.${name}`,
    ),
  );
}
