import { keepPreviousData } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import type { GridState } from "../../components/data-grid/grid-state";
import { useExistingPage } from "../../components/data-grid/listed-page";
import { trpc } from "../../lib/trpc";
import { useUrlState, type UrlParam } from "../../lib/url-state";
import { channelsOf, plainRows, tagRows } from "./channel-rows";

export const FILTER_KEYS = ["keyword", "model", "group", "type", "status"] as const;
export type ChannelGrid = GridState<(typeof FILTER_KEYS)[number]>;

const switchParam: UrlParam<boolean> = { read: (text) => text === "1", write: (on) => (on ? "1" : null) };
/** How the list is shown, as the address has it: by tag, which tags are unfolded, with boxes to select. */
const MODE = {
  tags: switchParam,
  unfold: {
    read: (text) => new Set((text ?? "").split(",").filter(Boolean).map(decodeURIComponent)),
    write: (tags) => [...tags].map(encodeURIComponent).join(",") || null,
  } satisfies UrlParam<ReadonlySet<string>>,
  batch: switchParam,
  /** The page belongs to the list; another order begins at the first. */
  p: { read: (text) => text ?? "", write: (text) => text || null } satisfies UrlParam<string>,
};

/** A filter of the address as the call wants it: a whole number, or nothing. */
const wholeNumber = (text: string): { number?: number } => (/^-?\d{1,9}$/.test(text) ? { number: Number(text) } : {});

/** How the list is shown, and the ways to change it. */
export function useListMode() {
  const [mode, setMode] = useUrlState(MODE);
  const { unfold } = mode;
  const fold = useCallback(
    (tag: string) => {
      const next = new Set(unfold);
      if (!next.delete(tag)) next.add(tag);
      setMode({ unfold: next });
    },
    [unfold, setMode],
  );
  return { mode, setMode, fold };
}

/** The rows of a page: channels, or tags with the channels of those that are unfolded. */
export function useChannelRows(grid: ChannelGrid, mode: ReturnType<typeof useListMode>["mode"], idSort: boolean) {
  const { keyword, model, group, type, status } = grid.filters;
  const { number: typeNumber } = wholeNumber(type);
  const { number: statusNumber } = wholeNumber(status);
  const { client } = trpc.useUtils();
  const filter = {
    id_sort: idSort,
    keyword,
    model,
    group,
    ...(typeNumber === undefined ? {} : { type: typeNumber }),
    ...(statusNumber === undefined ? {} : { status: statusNumber }),
  };
  const asked = { page: grid.page, page_size: grid.pageSize, ...filter };
  const quiet = { placeholderData: keepPreviousData, meta: { quiet: true } } as const;
  const plain = trpc.channel.list.useQuery(asked, { ...quiet, enabled: !mode.tags });
  const tagged = trpc.channel.tagPage.useQuery(asked, { ...quiet, enabled: mode.tags });
  const query = mode.tags ? tagged : plain;
  const { data } = query;
  const { unfold } = mode;
  const rows = useMemo(
    () => (mode.tags ? tagged.data && tagRows(tagged.data, unfold) : plain.data && plainRows(plain.data.items)),
    [mode.tags, tagged.data, plain.data, unfold],
  );
  const ids = useMemo(() => (rows ?? []).flatMap(channelsOf).map((channel) => channel.id), [rows]);

  useExistingPage(grid, query);

  return {
    query,
    rows,
    ids,
    total: data?.total,
    /** By tag, too, a file has the channels. */
    readPage: async (page: number, page_size: number) =>
      plainRows((await client.channel.list.query({ page, page_size, ...filter })).items),
    ...(tagged.data && mode.tags && { shown: tagged.data.tags.length + tagged.data.untagged.length }),
  };
}
