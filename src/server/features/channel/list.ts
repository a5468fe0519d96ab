/** Lists of channels: pages, tags and counts. */
import { countDistinct } from "drizzle-orm";
import { asc } from "drizzle-orm";
import { ne } from "drizzle-orm";
import { and } from "drizzle-orm";
import { inArray } from "drizzle-orm";
import { or } from "drizzle-orm";
import { eq } from "drizzle-orm";
import { desc } from "drizzle-orm";
import type { SQL } from "drizzle-orm";
import type * as z from "zod";
import type { Ctx } from "../../contracts/context";
import {
  CHANNEL_STATUS,
  type ChannelFilter,
  type channelSearchRest,
  type ChannelView,
  splitList,
} from "../../../shared/channel";
import { contains, count, hasItem, withoutNul } from "../../db/sql";
import { presentChannel } from "./present";
import type { Page } from "../../../shared/envelope";
import type { ChannelRow } from "../../db/schema";
import type { TagPage } from "../../../shared/channel-operations";

const ENABLED = CHANNEL_STATUS.enabled;

/** priority, then newest; with id_sort newest alone (C-059). */
const order = (ctx: Ctx, idSort: boolean): SQL[] => {
  const { channels } = ctx.db.t;
  return idSort ? [desc(channels.id)] : [desc(channels.priority), desc(channels.id)];
};

function filters(ctx: Ctx, filter: Partial<ChannelFilter>): SQL | undefined {
  const { channels } = ctx.db.t;
  const all: (SQL | undefined)[] = [];
  const keyword = withoutNul(filter.keyword?.trim() ?? "");
  if (keyword) {
    const id = /^\d{1,15}$/.test(keyword) ? eq(channels.id, Number(keyword)) : undefined;
    const hash = ctx.secrets.hash("channel-key", keyword);
    const { channel_keys } = ctx.db.t;
    const holders = ctx.db.read
      .select({ id: channel_keys.channel_id })
      .from(channel_keys)
      .where(eq(channel_keys.key_hash, hash));
    all.push(or(id, contains(channels.name, keyword), eq(channels.key_hash, hash), inArray(channels.id, holders)));
  }
  if (filter.group) all.push(hasItem(channels.group, withoutNul(filter.group)));
  if (filter.model) all.push(contains(channels.models, withoutNul(filter.model)));
  if (filter.tag) all.push(eq(channels.tag, withoutNul(filter.tag)));
  if (filter.status !== undefined) all.push(eq(channels.status, filter.status));
  if (filter.enabled !== undefined)
    all.push(filter.enabled ? eq(channels.status, ENABLED) : ne(channels.status, ENABLED));
  if (filter.type !== undefined) all.push(eq(channels.type, filter.type));
  return and(...all);
}

/** A slice of the list; `limit` rows from `offset`. */
async function listChannels(
  ctx: Ctx,
  { offset = 0, limit, ...filter }: Partial<ChannelFilter> & { offset?: number; limit?: number },
): Promise<ChannelView[]> {
  const query = ctx.db.read
    .select()
    .from(ctx.db.t.channels)
    .where(filters(ctx, filter))
    .orderBy(...order(ctx, filter.id_sort ?? false));
  const rows = limit === undefined ? await query : await query.limit(limit).offset(offset);
  return rows.map(presentChannel);
}

export async function pageChannels(
  ctx: Ctx,
  filter: ChannelFilter & { page: number; page_size: number },
): Promise<Page<ChannelView>> {
  const { page, page_size } = filter;
  const [[all], items] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(ctx.db.t.channels).where(filters(ctx, filter)),
    listChannels(ctx, { ...filter, offset: (page - 1) * page_size, limit: page_size }),
  ]);
  return { items, page, page_size, total: all?.n ?? 0 };
}

/**
 * tag_mode: pages over the tags of the channels that pass the filter, and answers all channels of those tags; untagged
 * ones are left out (C-074). All tags when there is no limit.
 */
async function listByTag(
  ctx: Ctx,
  { offset = 0, limit, id_sort = false, ...filter }: Partial<ChannelFilter> & { offset?: number; limit?: number },
): Promise<ChannelView[]> {
  const { channels } = ctx.db.t;
  const query = ctx.db.read
    .selectDistinct({ tag: channels.tag })
    .from(channels)
    .where(and(ne(channels.tag, ""), filters(ctx, filter)))
    .orderBy(asc(channels.tag));
  const tags = limit === undefined ? await query : await query.limit(limit).offset(offset);
  const rows: ChannelRow[] = [];
  for (let i = 0; i < tags.length; i += 500) {
    const names = tags.slice(i, i + 500).map((row) => row.tag);
    rows.push(
      ...(await ctx.db.read
        .select()
        .from(channels)
        .where(inArray(channels.tag, names))
        .orderBy(asc(channels.tag), ...order(ctx, id_sort))),
    );
  }
  return rows.map(presentChannel);
}

/**
 * A page for existing front-ends; all rows without `page_size`. In tag mode pages and total count tags. `type_counts`:
 * channels of each type, by the filters other than the type.
 */
export async function restPage(
  ctx: Ctx,
  { p, page_size, tag_mode, status, ...rest }: z.output<typeof channelSearchRest>,
): Promise<Page<ChannelView> & { type_counts: Record<number, number> }> {
  const { channels } = ctx.db.t;
  const filter: Partial<ChannelFilter> = { ...rest, enabled: status };
  const where = filters(ctx, filter);
  const slice = page_size ? { offset: (p - 1) * page_size, limit: page_size } : {};
  const counted = tag_mode ? countDistinct(channels.tag).mapWith(Number) : count();
  const [items, [all], types] = await Promise.all([
    (tag_mode ? listByTag : listChannels)(ctx, { ...filter, ...slice }),
    ctx.db.read
      .select({ n: counted })
      .from(channels)
      .where(and(tag_mode ? ne(channels.tag, "") : undefined, where)),
    ctx.db.read
      .select({ type: channels.type, n: count() })
      .from(channels)
      .where(filters(ctx, { ...filter, type: undefined }))
      .groupBy(channels.type),
  ]);
  return {
    items,
    page: p,
    page_size: page_size ?? items.length,
    total: all?.n ?? 0,
    type_counts: Object.fromEntries(types.map(({ type, n }) => [type, n])),
  };
}

/** Tag mode of the console: tags first, then the channels without one, paged as one list (C-074). */
export async function pageTags(
  ctx: Ctx,
  { page, page_size, ...filter }: Partial<ChannelFilter> & { page: number; page_size: number },
): Promise<TagPage> {
  const { channels } = ctx.db.t;
  const where = filters(ctx, filter);
  const [[tagged], [single]] = await Promise.all([
    ctx.db.read
      .select({ n: countDistinct(channels.tag).mapWith(Number) })
      .from(channels)
      .where(and(ne(channels.tag, ""), where)),
    ctx.db.read
      .select({ n: count() })
      .from(channels)
      .where(and(eq(channels.tag, ""), where)),
  ]);
  const tagCount = tagged?.n ?? 0;
  const offset = (page - 1) * page_size;
  const members = offset < tagCount ? await listByTag(ctx, { ...filter, offset, limit: page_size }) : [];
  const tags = new Map<string, ChannelView[]>();
  for (const channel of members) tags.set(channel.tag, [...(tags.get(channel.tag) ?? []), channel]);
  const room = page_size - tags.size;
  const untagged =
    room === 0
      ? []
      : await ctx.db.read
          .select()
          .from(channels)
          .where(and(eq(channels.tag, ""), where))
          .orderBy(...order(ctx, filter.id_sort ?? false))
          .limit(room)
          .offset(Math.max(0, offset - tagCount));
  return {
    tags: [...tags].map(([tag, list]) => ({ tag, channels: list })),
    untagged: untagged.map(presentChannel),
    page,
    page_size,
    total: tagCount + (single?.n ?? 0),
  };
}

/**
 * How many channels have each status: for the badge of the menu, and the number shown before disabled ones are deleted.
 */
export async function countByStatus(ctx: Ctx): Promise<Record<number, number>> {
  const { channels } = ctx.db.t;
  const rows = await ctx.db.read
    .select({ status: channels.status, n: count() })
    .from(channels)
    .groupBy(channels.status);
  return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
}

/** Every tag in use, sorted, for the fields that offer them. */
export async function listTags(ctx: Ctx): Promise<string[]> {
  const { channels } = ctx.db.t;
  const rows = await ctx.db.read
    .selectDistinct({ tag: channels.tag })
    .from(channels)
    .where(ne(channels.tag, ""))
    .orderBy(asc(channels.tag));
  return rows.map((row) => row.tag);
}

/** The models of the tag's channel that has the most, as a comma list; '' = no channel has the tag. */
export async function modelsOfTag(ctx: Ctx, tag: string): Promise<string> {
  const { channels } = ctx.db.t;
  const rows = await ctx.db.read
    .select({ models: channels.models })
    .from(channels)
    .where(and(ne(channels.tag, ""), eq(channels.tag, withoutNul(tag))));
  return rows.reduce((most, { models }) => (splitList(models).length > splitList(most).length ? models : most), "");
}
