/** What both lists of jobs do alike: their filters, and asking again while something on the page goes on. */
import { keepPreviousData } from "@tanstack/react-query";
import { isOver } from "./job-looks";

/** Milliseconds between two looks at a page with jobs that go on; the vendors are asked every 15 s. */
const LOOK_EVERY = 3_000;

type Listed = { status: string };

/** Options of a list's query: while a job on the page goes on, and the page is seen, it is asked for again. */
export const listOptions = <Page extends { items: readonly Listed[] }>() => ({
  placeholderData: keepPreviousData,
  meta: { quiet: true },
  refetchInterval: ({ state }: { state: { data: Page | undefined } }) =>
    (state.data?.items.every((row) => isOver(row.status)) === false ? LOOK_EVERY : false) as number | false,
});

/** The same for one job. */
export const jobOptions = <Row extends Listed>() => ({
  meta: { quiet: true },
  refetchInterval: ({ state }: { state: { data: Row | undefined } }) =>
    (state.data && !isOver(state.data.status) ? LOOK_EVERY : false) as number | false,
});

export const numberOf = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
export const textOf = (text: string): string | undefined => text || undefined;

/** The id that an address names; NaN for one that no row has. */
export const idOf = (open: string | null): number =>
  open !== null && /^[1-9]\d{0,14}$/.test(open) ? Number(open) : Number.NaN;

/** Goes to the row beside the open one, if there is one on the page. */
export function step(
  rows: readonly { id: number }[] | undefined,
  open: string | null,
  by: 1 | -1,
  setOpen: (id: number) => void,
): void {
  const at = rows?.findIndex((row) => String(row.id) === open) ?? -1;
  const next = at < 0 ? undefined : rows?.[at + by];
  if (next) setOpen(next.id);
}
