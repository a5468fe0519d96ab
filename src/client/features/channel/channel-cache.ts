import { useQueryClient } from "@tanstack/react-query";
import { getQueryKey } from "@trpc/react-query";
import { useCallback } from "react";
import type { ChannelView } from "../../../shared/channel";
import type { TagPage } from "../../../shared/channel-operations";
import type { Page } from "../../../shared/envelope";
import { trpc } from "../../lib/trpc";

/** A row as it will be; the same object when the row is not concerned. */
export type RowChange = (row: ChannelView) => ChannelView;

/** Changes every copy of a channel that this page holds: in lists, in tags, alone. Answers how to take that back. */
export function usePatchChannels(): (change: RowChange) => () => void {
  const queries = useQueryClient();
  return useCallback(
    (change) => {
      const list = { queryKey: getQueryKey(trpc.channel.list) };
      const tags = { queryKey: getQueryKey(trpc.channel.tagPage) };
      const single = { queryKey: getQueryKey(trpc.channel.get) };
      const before = [list, tags, single].flatMap((filter) => queries.getQueriesData(filter));
      queries.setQueriesData<Page<ChannelView>>(list, (page) => page && { ...page, items: page.items.map(change) });
      queries.setQueriesData<TagPage>(
        tags,
        (page) =>
          page && {
            ...page,
            tags: page.tags.map((entry) => ({ ...entry, channels: entry.channels.map(change) })),
            untagged: page.untagged.map(change),
          },
      );
      queries.setQueriesData<ChannelView>(single, (row) => row && change(row));
      return () => {
        for (const [key, data] of before) queries.setQueryData(key, data);
      };
    },
    [queries],
  );
}

/**
 * Shows a change at once and makes the call for it; takes it back when the call fails, whose error the query client
 * shows. True when it was done.
 */
export function useOptimisticChannels(): (change: RowChange, call: () => Promise<unknown>) => Promise<boolean> {
  const queries = useQueryClient();
  const utils = trpc.useUtils();
  const patch = usePatchChannels();
  return useCallback(
    async (change, call) => {
      // An answer on its way would bring the old values back.
      const keys = [trpc.channel.list, trpc.channel.tagPage, trpc.channel.get].map((procedure) =>
        getQueryKey(procedure),
      );
      await Promise.all(keys.map((queryKey) => queries.cancelQueries({ queryKey })));
      const takeBack = patch(change);
      try {
        await call();
        return true;
      } catch {
        takeBack();
        return false;
      } finally {
        void utils.channel.invalidate();
      }
    },
    [queries, utils, patch],
  );
}
