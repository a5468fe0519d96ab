/** Local storage that never throws: private windows and blocked storage behave as if nothing was stored. */

/** The stored text under `key`, or null. */
export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Stores `value`; null removes the key. */
export function writeStored(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // Without storage a choice lasts until the page is left; nothing else depends on it.
  }
}

/** The stored JSON under `key` when `accepts` says that it has the right shape, else null. */
export function readStoredJson<T>(key: string, accepts: (value: unknown) => value is T): T | null {
  const text = readStored(key);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return accepts(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * A choice kept under `key`. When it was never made, the key that older front-ends used is read once and its value, if
 * it is a known one, is taken over.
 */
export function readChoice<T extends string>(
  key: string,
  choices: readonly T[],
  older: { key: string; map: Readonly<Record<string, T>> },
  fallback: T,
): T {
  const stored = readStored(key);
  if (stored !== null) return choices.find((choice) => choice === stored) ?? fallback;
  const adopted = older.map[readStored(older.key) ?? ""];
  if (adopted === undefined) return fallback;
  writeStored(key, adopted);
  return adopted;
}
