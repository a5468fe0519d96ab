import { useCallback, useMemo, useSyncExternalStore } from "react";
import { useSearchParams } from "wouter";
import { readStored, writeStored } from "../../lib/storage";
import { LONG_PAGES, PAGE_SIZES, type GridView, ROW_HEIGHT } from "./types";

/** The value of `edit` that means a new row. */
export const NEW = "new";

const PAGE_SIZE_KEY = "page-size";
/** Pixels of a page that are not rows: bars, tools, head and pager. */
const AROUND_ROWS = 260;

/**
 * The page size where none was chosen: one that fills the screen, 10 at least. A list of a few rows more
 * scrolls; one of half the screen wastes it.
 */
export function fittingPageSize(height: number): (typeof PAGE_SIZES)[number] {
  const rows = (height - AROUND_ROWS) / ROW_HEIGHT.default;
  return PAGE_SIZES.find((size) => size >= rows * 0.75) ?? 100;
}

/** Which column the list is sorted by. */
export interface GridSort {
  key: string;
  desc: boolean;
}

/** The part of a list's state that is kept in the URL, and the functions that change it. */
export interface GridState<F extends string> {
  /** Names the list in local storage. */
  name: string;
  /** From 1. */
  page: number;
  pageSize: number;
  sort: GridSort | null;
  /** All filters as text; "" is no filter. */
  filters: Readonly<Record<F, string>>;
  filterKeys: readonly F[];
  /** The row whose drawer is open (`?open=12`), and the row being edited (`?edit=12`, `?edit=new`). */
  open: string | null;
  edit: string | null;
  /** The cursor of the page (`after:…`, `before:…`), for lists that page by key. */
  at: string | null;
  /** `step`: Back leads to the page before. */
  setPage: (page: number, at?: string | null, step?: boolean) => void;
  setPageSize: (size: number) => void;
  setSort: (sort: GridSort | null) => void;
  /** Changes some filters and goes to the first page. */
  /** `step`: Back undoes it; by default where a filter comes or goes, so that typing is one step. */
  setFilters: (changes: Partial<Record<F, string>>, step?: boolean) => void;
  clearFilters: () => void;
  setOpen: (id: string | number | null) => void;
  setEdit: (id: string | number | null) => void;
  applyView: (view: Pick<GridView, "filters" | "sort">) => void;
  /** Filters and sorting as an address has them, for saved views. */
  viewSearch: string;
  applySearch: (search: string) => void;
}

/** The chosen page size, remembered and used by every list. */
function storedPageSize(): number {
  const stored = Number(readStored(PAGE_SIZE_KEY));
  return PAGE_SIZES.find((size) => size === stored) ?? fittingPageSize(window.innerHeight);
}

const sizeListeners = new Set<() => void>();

function useStoredPageSize(): number {
  return useSyncExternalStore((listener) => {
    sizeListeners.add(listener);
    return () => sizeListeners.delete(listener);
  }, storedPageSize);
}

/** `-used` is "by used, largest first". */
function parseSort(text: string | null): GridSort | null {
  if (!text) return null;
  return text.startsWith("-") ? { key: text.slice(1), desc: true } : { key: text, desc: false };
}

function sortText(sort: GridSort | null): string {
  return sort === null ? "" : `${sort.desc ? "-" : ""}${sort.key}`;
}

/**
 * The state of a list, kept in the URL, so that a link shows the same rows to every user and Back works:
 * `?p=2&size=50&sort=-used&status=3&open=12`. Keep `filterKeys` outside the component.
 */
export function useGridState<F extends string>(options: {
  name: string;
  filterKeys: readonly F[];
  /** As in the address; sent as `sort` when the user chose none. */
  defaultSort?: string;
  /**
   * Filters of an address that says nothing about them; removing one leaves `key=` there. Keep it outside, or in a
   * state.
   */
  defaults?: Readonly<Partial<Record<F, string>>>;
}): GridState<F> {
  const { name, filterKeys, defaultSort, defaults } = options;
  const [search, setSearch] = useSearchParams();
  const remembered = useStoredPageSize();

  const change = useCallback(
    (changes: Record<string, string | null>, push = false) => {
      setSearch(
        (current) => {
          const next = new URLSearchParams(current);
          // Another page has another cursor: it is dropped unless the change brings one.
          if ("p" in changes) next.delete("at");
          for (const [key, value] of Object.entries(changes)) {
            if (value === null || (value === "" && !hasDefault(defaults, key))) next.delete(key);
            else next.set(key, value);
          }
          return next;
        },
        { replace: !push },
      );
    },
    [setSearch, defaults],
  );

  return useMemo(() => {
    const text = (key: string) => search.get(key) ?? "";
    const asked = Number(text("size"));
    const filters = Object.fromEntries(
      filterKeys.map((key) => [key, search.get(key) ?? defaults?.[key] ?? ""]),
    ) as Record<F, string>; // same keys
    const none = Object.fromEntries(filterKeys.map((key) => [key, ""]));
    const unsaid = Object.fromEntries(filterKeys.map((key) => [key, null]));
    const view = new URLSearchParams();
    for (const key of ["sort", ...filterKeys]) {
      const said = search.get(key);
      if (said || (said !== null && hasDefault(defaults, key))) view.set(key, said);
    }

    return {
      name,
      page: /^\d{1,9}$/.test(text("p")) ? Math.max(1, Number(text("p"))) : 1,
      pageSize: [...PAGE_SIZES, ...LONG_PAGES].find((size) => size === asked) ?? remembered,
      sort: parseSort(search.get("sort") ?? defaultSort ?? null),
      filters,
      filterKeys,
      open: search.get("open"),
      edit: search.get("edit"),
      at: search.get("at"),
      setPage: (page, at = null, step = false) =>
        change({ p: page <= 1 ? null : String(page), at: page <= 1 ? null : at }, step),
      setPageSize: (size) => {
        writeStored(PAGE_SIZE_KEY, String(size));
        for (const listener of sizeListeners) listener();
        change({ size: String(size), p: null });
      },
      setSort: (sort) => change({ sort: sortText(sort) === defaultSort ? null : sortText(sort), p: null }),
      setFilters: (changes, step = filterKeys.some((key) => key in changes && !changes[key] !== !filters[key])) =>
        change({ ...changes, p: null }, step),
      clearFilters: () => change({ ...none, p: null }, true),
      // Opening is a step that Back undoes; walking on to the next row is not.
      setOpen: (id) => change({ open: id === null ? null : String(id) }, id !== null && !search.has("open")),
      setEdit: (id) => change({ edit: id === null ? null : String(id) }, id !== null && !search.has("edit")),
      applyView: (chosen) => change({ ...none, ...chosen.filters, sort: chosen.sort ?? null, p: null }, true),
      viewSearch: view.toString(),
      applySearch: (stored) =>
        change({ ...unsaid, sort: null, p: null, ...Object.fromEntries(new URLSearchParams(stored)) }, true),
    } satisfies GridState<F>;
  }, [name, filterKeys, defaultSort, defaults, search, remembered, change]);
}

const hasDefault = (defaults: object | undefined, key: string): boolean =>
  defaults !== undefined && Object.hasOwn(defaults, key);
