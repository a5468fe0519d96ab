/**
 * Several keys of a channel as programs of new-api (since July 2025) see and manage them: `channel_info` in its rows,
 * and `POST /api/channel/multi_key/manage`, one call for reading and changing, keys by their index. The verbs are those
 * of keys.ts.
 */
import { asc, inArray } from "drizzle-orm";
import type * as z from "zod";
import { CHANNEL_STATUS, type ChannelView } from "../../../shared/channel";
import type { ChannelKeyView, keyManage } from "../../../shared/channel-keys";
import { readStatusInfo } from "../../../shared/channel-operations";
import { fail } from "../../../shared/errors";
import type { Ctx } from "../../contracts/context";
import { listKeys, removeKeys, setKeyStatus } from "./keys";

const { enabled, disabled, auto_disabled } = CHANNEL_STATUS;

type Asked = z.output<typeof keyManage>;

/** The page of keys for get_key_status, how many were changed for the others. Throws as the verbs do. */
export async function manageKeys(ctx: Ctx, asked: Asked): Promise<object | number> {
  const { channel_id, action, key_index } = asked;
  const keys = await listKeys(ctx, channel_id);
  const ids = (which: (key: ChannelKeyView) => boolean) => keys.filter(which).map(({ id }) => id);
  const one = () => {
    const key = keys[key_index ?? -1];
    return [key?.id ?? fail("invalid_parameter", { detail: "key_index" })];
  };
  const all = ids(() => true);
  switch (action) {
    case "get_key_status":
      return keyPage(ctx, keys, asked);
    case "disable_key":
      return setKeyStatus(ctx, channel_id, one(), disabled);
    case "enable_key":
      return setKeyStatus(ctx, channel_id, one(), enabled);
    case "delete_key":
      return removeKeys(ctx, channel_id, one());
    case "enable_all_keys":
      return setKeyStatus(ctx, channel_id, all, enabled);
    case "disable_all_keys":
      return setKeyStatus(ctx, channel_id, all, disabled);
    case "delete_disabled_keys":
      return removeKeys(
        ctx,
        channel_id,
        ids(({ status }) => status === auto_disabled),
      );
  }
}

function keyPage(ctx: Ctx, keys: readonly ChannelKeyView[], { page, page_size, status }: Asked): object {
  const rows = keys.map((key, index) => ({
    index,
    status: key.status,
    disabled_time: key.status === enabled ? 0 : key.status_time,
    reason: readStatusInfo(key.reason, ctx.lang)?.reason ?? "",
    key_preview: key.hint,
  }));
  const found = rows.filter((row) => status === undefined || row.status === status);
  const total_pages = Math.max(1, Math.ceil(found.length / page_size));
  const shown = Math.min(page, total_pages);
  const count = (wanted: number) => rows.filter((row) => row.status === wanted).length;
  return {
    keys: found.slice((shown - 1) * page_size, shown * page_size),
    total: found.length,
    page: shown,
    page_size,
    total_pages,
    enabled_count: count(enabled),
    manual_disabled_count: count(disabled),
    auto_disabled_count: count(auto_disabled),
  };
}

/** new-api model/channel.go, ChannelInfo (read 2026-11). `multi_key_status_list`: index to status, of disabled keys. */
export interface ChannelInfo {
  is_multi_key: boolean;
  multi_key_size: number;
  multi_key_status_list: Record<number, number>;
  multi_key_polling_index: number;
  multi_key_mode: string;
}

/** The rows with what they tell of their keys. */
export async function withInfo(
  ctx: Ctx,
  rows: readonly ChannelView[],
): Promise<(ChannelView & { channel_info: ChannelInfo })[]> {
  const { channel_keys: t } = ctx.db.t;
  const several = rows.filter(({ multi_key_mode }) => multi_key_mode !== "").map(({ id }) => id);
  const stored =
    several.length === 0
      ? []
      : await ctx.db.read
          .select({ channel_id: t.channel_id, status: t.status })
          .from(t)
          .where(inArray(t.channel_id, several))
          .orderBy(asc(t.position), asc(t.id));
  const keysOf = Map.groupBy(stored, ({ channel_id }) => channel_id);
  return rows.map((row) => {
    const keys = keysOf.get(row.id) ?? [];
    const off = keys.map(({ status }, index) => [index, status] as const).filter(([, status]) => status !== enabled);
    const channel_info = {
      is_multi_key: row.multi_key_mode !== "",
      multi_key_size: keys.length,
      multi_key_status_list: Object.fromEntries(off),
      multi_key_polling_index: 0,
      multi_key_mode: row.multi_key_mode,
    };
    return { ...row, channel_info };
  });
}
