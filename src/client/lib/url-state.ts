import { useCallback, useMemo } from "react";
import { useSearchParams } from "wouter";

/** How one value of the page lives in the address. `write` answers null when the address need not mention it. */
export interface UrlParam<T> {
  read: (text: string | null) => T;
  write: (value: T) => string | null;
}

/** Text; "" (or `fallback`) is not written. */
export function textParam(fallback = ""): UrlParam<string> {
  return { read: (text) => text ?? fallback, write: (value) => (value === fallback ? null : value) };
}

/** A whole number or nothing, such as the id of the open row. */
export function optionalIntParam(): UrlParam<number | null> {
  return {
    read: (text) => (text !== null && /^-?\d{1,15}$/.test(text) ? Number(text) : null),
    write: (value) => (value === null ? null : String(value)),
  };
}

/** One of a few words. */
export function choiceParam<T extends string>(choices: readonly T[], fallback: T): UrlParam<T> {
  return {
    read: (text) => choices.find((choice) => choice === text) ?? fallback,
    write: (value) => (value === fallback ? null : value),
  };
}

type Values<P> = { [K in keyof P]: P[K] extends UrlParam<infer T> ? T : never };

/**
 * Page state kept in the URL, so that a link shows the same thing to every user. Define `params` outside the component.
 * `patch` replaces the history entry unless `push` is set (opening a row: Back closes it).
 */
export function useUrlState<P extends Record<string, UrlParam<any>>>(
  // any: each parameter has its own type
  params: P,
): [Values<P>, (changes: Partial<Values<P>>, options?: { push?: boolean }) => void] {
  const [search, setSearch] = useSearchParams();
  const values = useMemo(() => {
    const read = Object.entries(params).map(([key, param]) => [key, param.read(search.get(key))]);
    return Object.fromEntries(read) as Values<P>; // built from the same keys
  }, [params, search]);

  const patch = useCallback(
    (changes: Partial<Values<P>>, options: { push?: boolean } = {}) => {
      setSearch(
        (current) => {
          const next = new URLSearchParams(current);
          for (const [key, value] of Object.entries(changes)) {
            const text = params[key]?.write(value) ?? null;
            if (text === null) next.delete(key);
            else next.set(key, text);
          }
          return next;
        },
        { replace: !options.push },
      );
    },
    [params, setSearch],
  );
  return [values, patch];
}
