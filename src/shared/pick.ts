/**
 * The listed members of a record and no other: presenters list what may leave the server, so a new column stays inside.
 */
export function pick<T extends object, const K extends keyof T>(record: T, names: readonly K[]): Pick<T, K> {
  const picked = {} as Pick<T, K>; // every name is given its value below
  for (const name of names) picked[name] = record[name];
  return picked;
}
