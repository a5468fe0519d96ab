/** Shared by both job lists: their filters, and polling while a job on the page runs. */
import { keepPreviousData } from "@tanstack/react-query";
import { useLingui } from "@lingui/react/macro";
import type { GridFilter } from "../../components/data-grid/types";
import { isOver } from "./job-looks";

/** Polling interval in milliseconds while jobs on the page run; the server polls the vendors every 15 s. */
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

/** When a job was submitted, and for administrators whose it is and where it went. */
export function useJobFilters(admin: boolean): readonly GridFilter[] {
  const { t } = useLingui();
  const times: readonly GridFilter[] = [
    { key: "start_timestamp", label: t`开始时间`, kind: "time" },
    { key: "end_timestamp", label: t`结束时间`, kind: "time" },
  ];
  if (!admin) return times;
  return [
    ...times,
    { key: "channel_id", label: t`渠道 ID`, kind: "text" },
    { key: "username", label: t`用户名`, kind: "text" },
  ];
}
