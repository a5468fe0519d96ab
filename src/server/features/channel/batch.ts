/**
 * Changes of several channels at once: by selection, by tag, or of all that are disabled. Each is one transaction with
 * a log row of type 3 that says who did what to which channels (C-066, C-067, C-413 to C-422, C-514 to C-526).
 */
import { eq, inArray, type SQL } from "drizzle-orm";
import type * as z from "zod";
import {
  CHANNEL_LIMITS,
  CHANNEL_STATUS,
  channelIssues,
  cleanList,
  type ManualStatus,
  splitList,
} from "../../../shared/channel";
import { type ChannelEdits, isUntouched, type tagEdit } from "../../../shared/channel-operations";
import { fail } from "../../../shared/errors";
import type { Ctx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { ChannelRow } from "../../db/schema";
import { forUpdate, withoutNul } from "../../db/sql";
import { auditRow } from "../audit/record";
import { announceChange } from "./announce";
import { channelAct } from "./audit";
import type { EventName } from "../../../shared/events";
import type { TextParams } from "../../../shared/text";
import { dropKeys, reviveKeys } from "./keys";
import { maskColumns, sealColumns } from "./sealed";

/** Ids per statement: both engines limit the parameters of one. */
const CHUNK = 500;
/** Names that a log row spells out. */
const NAMED = 20;

/** A channel that was changed. */
interface Hit {
  id: number;
  name: string;
}

const chunks = (ids: readonly number[]): number[][] => {
  const distinct = [...new Set(ids)];
  return Array.from({ length: Math.ceil(distinct.length / CHUNK) }, (_, i) =>
    distinct.slice(i * CHUNK, (i + 1) * CHUNK),
  );
};

interface Deed {
  event: EventName;
  /** Of the event's text. */
  params?: TextParams;
  details?: Record<string, unknown>;
  /** Done for each condition before the change. */
  before?(q: Q, where: SQL): PromiseLike<unknown>;
  /** Refuses when no channel matches. */
  none?(): never;
}

/**
 * Runs `change` for each condition in one transaction, writes the log row, announces. Returns the number of channels
 * that matched.
 */
async function carryOut(
  ctx: Ctx,
  { event, params, details, before, none }: Deed,
  where: SQL[],
  change: (q: Q, where: SQL) => Steps<readonly Hit[]>,
): Promise<number> {
  const hits = await ctx.db.tx(function* (q): Steps<Hit[]> {
    const all: Hit[] = [];
    for (const condition of where) {
      if (before) yield* run(before(q, condition));
      all.push(...(yield* change(q, condition)));
    }
    if (all.length === 0) return all;
    const named = all.slice(0, NAMED).map(({ id, name }) => `#${id} ${name}`);
    const channels = `${named.join(", ")}${all.length > NAMED ? " …" : ""}`;
    yield* ctx.events.record(q, {
      type: "admin",
      actor: ctx.actor,
      ip: ctx.ip,
      event,
      params: { ...params, count: all.length, channels },
      other: { ids: all.map((hit) => hit.id), ...details },
    });
    const after = { event, ids: all.map((hit) => hit.id), ...details };
    yield* run(q.insert(ctx.db.t.audit_log).values(auditRow(ctx, { action: "channel.batch", target: "", after })));
    yield* announceChange(ctx, q, "*");
    return all;
  });
  if (hits.length === 0) none?.();
  return hits.length;
}

const hit = ({ db }: Pick<Ctx, "db">) => ({ id: db.t.channels.id, name: db.t.channels.name });

const byIds = ({ db }: Pick<Ctx, "db">, ids: readonly number[]): SQL[] =>
  chunks(ids).map((chunk) => inArray(db.t.channels.id, chunk));

/** Deletes channels by id; unknown ids are skipped. Throws batch_delete_empty. */
export async function deleteChannels(ctx: Ctx, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) fail("batch_delete_empty");
  const deed = {
    event: "channels_deleted" as const,
    before: (q: Q, where: SQL) => dropKeys(ctx, q, where),
  };
  return carryOut(ctx, deed, byIds(ctx, ids), (q, where) =>
    run(q.delete(ctx.db.t.channels).where(where).returning(hit(ctx))),
  );
}

/** Deletes every channel that is disabled, by hand or automatically (C-516). */
export async function deleteDisabled(ctx: Ctx): Promise<number> {
  const { channels } = ctx.db.t;
  const deed = {
    event: "disabled_channels_deleted" as const,
    before: (q: Q, where: SQL) => dropKeys(ctx, q, where),
  };
  const disabled = inArray(channels.status, [CHANNEL_STATUS.disabled, CHANNEL_STATUS.auto_disabled]);
  return carryOut(ctx, deed, [disabled], (q, where) => run(q.delete(channels).where(where).returning(hit(ctx))));
}

/** Puts channels under a tag; null takes theirs away. Throws batch_tag_empty, tag_empty. */
export async function setTag(ctx: Ctx, ids: readonly number[], tag: string | null | undefined): Promise<number> {
  if (ids.length === 0) fail("batch_tag_empty");
  const name = tag === null ? "" : withoutNul(tag?.trim() ?? "") || fail("tag_empty");
  const event = name ? ("channels_tagged" as const) : ("channels_untagged" as const);
  const deed = { event, params: { tag: name }, details: { tag: name } };
  return update(ctx, deed, byIds(ctx, ids), { tag: name });
}

const enables = (status: ManualStatus): boolean => status === CHANNEL_STATUS.enabled;

/** An enabled channel needs enabled keys first. */
const reviving = (ctx: Ctx, status: ManualStatus): Pick<Deed, "before"> =>
  enables(status) ? { before: (q, where) => reviveKeys(ctx, q, where) } : {};

/** Disabling ends a drain: a channel that is enabled again serves. */
const statusSet = (status: ManualStatus) => ({
  status,
  other_info: "",
  ...(!enables(status) && { draining_since: 0, drain_deadline: 0 }),
});

/** Enables or disables channels by hand. Throws batch_empty. */
export async function setStatus(ctx: Ctx, ids: readonly number[], status: ManualStatus): Promise<number> {
  if (ids.length === 0) fail("batch_empty");
  const deed = {
    event: enables(status) ? ("channels_enabled" as const) : ("channels_disabled" as const),
    details: { status },
    ...reviving(ctx, status),
  };
  return update(ctx, deed, byIds(ctx, ids), statusSet(status));
}

/**
 * Sets fields of the selected channels. Throws batch_empty, tag_nothing_changed, and what a form throws for a bad
 * field.
 */
export async function editChannels(ctx: Ctx, ids: readonly number[], edits: ChannelEdits): Promise<number> {
  if (ids.length === 0) fail("batch_empty");
  const set = checkedEdits(ctx, edits);
  return update(ctx, { event: "channels_edited", details: { set: maskColumns(set) } }, byIds(ctx, ids), set);
}

const tagDeed = (tag: string, deed: Omit<Deed, "none">): Deed => ({
  ...deed,
  none: () => fail("tag_not_found", { tag }),
});

/** The tag as stored; an empty one matches no channel (C-525). */
const tagName = (tag: string): string => withoutNul(tag.trim()) || fail("tag_empty");

/** Enables (1) or disables (2) every channel of a tag. Throws tag_empty, tag_not_found. */
export async function setTagStatus(ctx: Ctx, tag: string, status: ManualStatus): Promise<number> {
  const name = tagName(tag);
  const deed = tagDeed(name, {
    event: enables(status) ? "tag_enabled" : "tag_disabled",
    params: { tag: name },
    details: { tag: name, status },
    ...reviving(ctx, status),
  });
  return update(ctx, deed, [eq(ctx.db.t.channels.tag, name)], statusSet(status));
}

/**
 * Overwrites fields of every channel of a tag; blank ones stay. `new_tag` "" dissolves the tag, another tag's name
 * merges the two. Throws tag_empty, tag_not_found, tag_nothing_changed, and what a form throws for a bad field.
 */
export async function editTag(ctx: Ctx, { tag, new_tag, ...edits }: z.output<typeof tagEdit>): Promise<number> {
  const name = tagName(tag);
  const renamed = new_tag === undefined || withoutNul(new_tag.trim()) === name ? undefined : withoutNul(new_tag.trim());
  const set = renamed === undefined ? checkedEdits(ctx, edits) : { ...writtenEdits(ctx, edits), tag: renamed };
  const deed = tagDeed(name, {
    event: "tag_edited",
    params: { tag: name },
    details: { tag: name, set: maskColumns(set) },
  });
  return update(ctx, deed, [eq(ctx.db.t.channels.tag, name)], set);
}

type Columns = Partial<Omit<ChannelRow, "id">>;

/** Sets columns; each channel's history has what that changed of it. */
function update(ctx: Ctx, deed: Deed, where: SQL[], set: Columns): Promise<number> {
  const { channels, audit_log } = ctx.db.t;
  return carryOut(ctx, deed, where, function* (q, condition) {
    const before = new Map(
      (yield* run(forUpdate(ctx.db, q.select().from(channels).where(condition).orderBy(channels.id)))).map(
        (row) => [row.id, row] as const,
      ),
    );
    const after = yield* run(q.update(channels).set(set).where(condition).returning());
    const acts = after.flatMap((row) => {
      const old = before.get(row.id);
      return (old && channelAct(ctx, "channel.update", old, row)) ?? [];
    });
    for (let at = 0; at < acts.length; at += CHUNK) {
      yield* run(q.insert(audit_log).values(acts.slice(at, at + CHUNK)));
    }
    return after;
  });
}

function checkedEdits(ctx: Ctx, edits: ChannelEdits): Columns {
  if (isUntouched(edits)) fail("tag_nothing_changed");
  const written = writtenEdits(ctx, edits);
  // Lists of commas alone: not blank, and yet without a value.
  if (Object.keys(written).length === 0) fail("tag_nothing_changed");
  return written;
}

/** The columns that the edits write, checked by the rules of the channel form; blank ones write nothing. */
function writtenEdits(ctx: Ctx, edits: ChannelEdits): Columns {
  const { models, groups, priority, weight } = edits;
  const out: Columns = {};
  for (const field of ["model_mapping", "param_override", "header_override"] as const) {
    const text = withoutNul(edits[field]?.trim() ?? "");
    if (text) out[field] = text;
  }
  const list = withoutNul(cleanList(models ?? ""));
  if (list) out.models = list;
  const group = withoutNul(cleanList(groups ?? ""));
  if (group) out.group = group;
  if (priority !== undefined) out.priority = priority;
  if (weight !== undefined) out.weight = weight;
  const fields = new Set<string>(Object.keys(out));
  const issue = channelIssues({ ...out, has_key: true }, ctx.lang).find(({ field }) => fields.has(field));
  if (issue) fail(issue.code, issue.values);
  const long = splitList(group).find((entry) => entry.length > CHANNEL_LIMITS.name);
  if (long) fail("invalid_parameter", { detail: `groups: ${long.slice(0, 40)}…` });
  return sealColumns(ctx, out);
}
