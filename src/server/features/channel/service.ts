/** Verbs on channels. A change is announced to every instance's pool and waits for this one's (C-327). */
import { desc, eq } from "drizzle-orm";
import {
  CHANNEL_LIMITS,
  CHANNEL_STATUS,
  type ChannelCreate,
  type ChannelDraft,
  type ChannelFields,
  type ChannelUpdate,
  channelIssues,
  type ChannelView,
  cleanList,
  COPY_SUFFIX,
  groupOf,
  splitKeys,
} from "../../../shared/channel";
import { MAX_KEYS } from "../../../shared/channel-keys";
import { baseUrlOf, otherOrDefault } from "../../../shared/channel-types";
import { fail } from "../../../shared/errors";
import type { Text } from "../../../shared/text";
import { type ActorCtx, type Ctx, seconds, type UserCtx } from "../../contracts/context";
import { run } from "../../db/transaction";
import type { ChannelRow } from "../../db/schema";
import { withoutNul } from "../../db/sql";
import { recordAct } from "../audit/record";
import { requireProof } from "../auth/step-up";
import { announceChange } from "./announce";
import { noteChannel } from "./audit";
import { goesElsewhere, holdsKey } from "./destination";
import { checkedKeys, clearKeys, dropKeys, insertKeys, lockChannel, reviveKeys } from "./keys";
import { presentChannel } from "./present";
import { keepsHeader, sealColumns, sealToCompare } from "./sealed";

const ONE_KEY: Text = { zh: "一个渠道只能有一个密钥", en: "a channel has one key" };

export async function findChannel(ctx: Pick<Ctx, "db">, id: number): Promise<ChannelRow> {
  const [row] = await ctx.db.q.select().from(ctx.db.t.channels).where(eq(ctx.db.t.channels.id, id));
  return row ?? fail("channel_not_found");
}

export const getChannel = async (ctx: Ctx, id: number): Promise<ChannelView> =>
  presentChannel(await findChannel(ctx, id));

/** A key as it is stored. */
export const sealKey = (ctx: Pick<Ctx, "secrets">, key: string) => ({
  key_cipher: ctx.secrets.encrypt("channel-key", key),
  key_hash: key ? ctx.secrets.hash("channel-key", key) : "",
});

function clearKey(ctx: ActorCtx, row: ChannelRow): string {
  try {
    return ctx.secrets.decrypt("channel-key", row.key_cipher);
  } catch (cause) {
    return fail("channel_key_unreadable", {}, cause);
  }
}

/** Throws the first fault of the fields, or of those in `only`. */
export function refuse(ctx: Pick<Ctx, "lang">, draft: ChannelDraft, only?: ReadonlySet<string>): void {
  const issue = channelIssues(draft, ctx.lang).find((found) => !only || only.has(found.field));
  if (issue) fail(issue.code, issue.values);
}

/** The columns that a set of fields writes; absent fields write nothing. */
export function columnsOf(fields: ChannelFields, type: number) {
  const { key: _key, groups: _groups, group: _group, models, status, base_url, other, name, tag, ...rest } = fields;
  const texts = Object.fromEntries(
    Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [field, typeof value === "string" ? withoutNul(value.trim()) : value]),
  ) as typeof rest;
  return {
    ...texts,
    ...(name === undefined ? {} : { name: withoutNul(name.trim()) }),
    ...(tag === undefined ? {} : { tag: withoutNul(tag.trim()) }),
    ...(models === undefined ? {} : { models: withoutNul(cleanList(models)) }),
    ...(fields.group === undefined && fields.groups === undefined ? {} : { group: withoutNul(groupOf(fields)) }),
    ...(base_url === undefined ? {} : { base_url: base_url.trim() === "" ? "" : baseUrlOf(type, base_url) }),
    ...(other === undefined ? {} : { other: withoutNul(otherOrDefault(type, other)) }),
    ...(status === undefined ? {} : { status }),
  };
}

/**
 * Creates one channel per line of `key`; mode "single" refuses more than one line. A form that is a copy of a row (no
 * key, or the row's id as key, which is what older front-ends send) takes the key of that row (C-094).
 */
export async function createChannels(ctx: ActorCtx, { mode, ...fields }: ChannelCreate): Promise<ChannelView[]> {
  const copied = await keysOfOriginal(ctx, fields);
  refuse(ctx, { ...fields, has_key: copied !== undefined, ...(copied === undefined ? {} : { key: "" }) });
  const type = fields.type ?? 0;
  const keys = copied?.keys ?? splitKeys(type, fields.key ?? "");
  const multi_key_mode = copied
    ? copied.multi_key_mode
    : fields.multi_key_mode || (mode === "multi_to_single" ? "random" : "");
  const several = multi_key_mode !== "" && keys.length > 0;
  if (several && keys.length > MAX_KEYS) fail("channel_keys_too_many", { max: MAX_KEYS });
  if (mode === "single" && keys.length > 1) fail("channel_key_invalid", { detail: ONE_KEY[ctx.lang] });
  if (!several && keys.length > CHANNEL_LIMITS.batch) fail("channel_batch_too_large", { max: CHANNEL_LIMITS.batch });
  const columns = columnsOf({ ...fields, other: fields.other ?? "", group: fields.group ?? groupOf(fields) }, type);
  const common = {
    ...sealColumns(ctx, columns, copied?.row),
    type,
    multi_key_mode: several ? multi_key_mode : "",
    name: fields.name?.trim() ?? "",
    status: fields.status === CHANNEL_STATUS.disabled ? CHANNEL_STATUS.disabled : CHANNEL_STATUS.enabled,
    created_time: seconds(ctx),
  };
  const rows = (keys.length && !several ? keys : [""]).map((key) => ({ ...common, ...sealKey(ctx, key) }));
  const created = await ctx.db.tx(function* (q) {
    const out: ChannelRow[] = [];
    for (let i = 0; i < rows.length; i += 50) {
      out.push(
        ...(yield* run(
          q
            .insert(ctx.db.t.channels)
            .values(rows.slice(i, i + 50))
            .returning(),
        )),
      );
    }
    if (several) for (const { id } of out) yield* insertKeys(ctx, q, id, keys);
    for (const row of out) yield* noteChannel(ctx, q, "channel.create", undefined, row);
    yield* announceChange(ctx, q, out.length === 1 && out[0] ? out[0].id : "*");
    return out;
  });
  return created.map(presentChannel);
}

interface CopiedKeys {
  keys: string[];
  multi_key_mode: string;
  row: ChannelRow;
}

async function keysOfRow(ctx: ActorCtx, row: ChannelRow): Promise<CopiedKeys> {
  const { multi_key_mode } = row;
  const keys = multi_key_mode === "" ? [clearKey(ctx, row)] : (await clearKeys(ctx, row.id)).map(({ key }) => key);
  return { keys, multi_key_mode, row };
}

/**
 * A channel's keys in clear, one per line. Recorded in the audit log before they are shown. Throws step_up_required,
 * channel_key_reveal_off, channel_not_found, channel_key_unreadable.
 */
export async function revealKeys(ctx: UserCtx, id: number): Promise<{ key: string }> {
  requireProof(ctx);
  if (!ctx.options.get("ChannelKeyRevealEnabled")) fail("channel_key_reveal_off");
  const { keys } = await keysOfRow(ctx, await findChannel(ctx, id));
  await recordAct(ctx, { action: "channel.reveal", target: id, after: { count: keys.length, via: ctx.actor.via } });
  return { key: keys.join("\n") };
}

/** The clear keys of the channel a form was copied from; undefined when the form is no copy. */
async function keysOfOriginal(ctx: ActorCtx, fields: ChannelFields): Promise<CopiedKeys | undefined> {
  const { channels } = ctx.db.t;
  const key = fields.key?.trim() ?? "";
  const isCopy = fields.name?.endsWith(COPY_SUFFIX) ?? false;
  const type = fields.type ?? 0;
  // As the form would be stored: absent fields are empty.
  const copy = {
    type,
    base_url: "",
    setting: "",
    model_mapping: "",
    ...columnsOf({ ...fields, other: fields.other ?? "" }, type),
  };
  const sameAddress = (row: ChannelRow): boolean =>
    row.type === type && !goesElsewhere(ctx.secrets, row, { ...row, ...sealToCompare(ctx.secrets, copy, row) });
  if (/^\d{1,15}$/.test(key)) {
    const [row] = await ctx.db.q
      .select()
      .from(channels)
      .where(eq(channels.id, Number(key)));
    if (row && sameAddress(row)) return keysOfRow(ctx, row);
    // A number that is not a channel's id may be a key; in a copy it never is.
    if (row) fail(isCopy ? "channel_key_required" : "channel_key_is_id");
    if (isCopy) fail("channel_not_found");
    return undefined;
  }
  if (key !== "" || !isCopy) return undefined;
  const name = fields.name?.slice(0, -COPY_SUFFIX.length) ?? "";
  const rows = await ctx.db.q.select().from(channels).where(eq(channels.name, name)).orderBy(desc(channels.id));
  if (rows.length === 0) return undefined;
  return keysOfRow(ctx, rows.find(sameAddress) ?? fail("channel_key_required"));
}

/** The server's copy: same settings and key, new counters, the name with its suffix. */
export async function copyChannel(ctx: Ctx, id: number, suffix = COPY_SUFFIX): Promise<ChannelView> {
  const { channels } = ctx.db.t;
  const { id: _id, ...row } = await findChannel(ctx, id);
  const keys = row.multi_key_mode === "" ? [] : await clearKeys(ctx, id);
  const created = await ctx.db.tx(function* (q) {
    const [copy] = yield* run(
      q
        .insert(channels)
        .values({
          ...row,
          name: row.name + suffix,
          // A copy of a channel that was disabled automatically is enabled; a copy of one disabled by hand stays
          // disabled.
          status: row.status === CHANNEL_STATUS.disabled ? CHANNEL_STATUS.disabled : CHANNEL_STATUS.enabled,
          other_info: "",
          used_quota: 0,
          balance: 0,
          balance_updated_time: 0,
          response_time: 0,
          test_time: 0,
          created_time: seconds(ctx),
        })
        .returning(),
    );
    if (!copy) return fail("internal");
    yield* insertKeys(
      ctx,
      q,
      copy.id,
      keys.map(({ key }) => key),
    );
    yield* noteChannel(ctx, q, "channel.create", undefined, copy);
    yield* announceChange(ctx, q, copy.id);
    return copy;
  });
  return presentChannel(created);
}

/**
 * Partial: absent fields stay, present ones are set even when empty; an empty key stays (C-205, C-506), unless the
 * calls would go elsewhere: then the keys and secret headers of the form are the only ones. Throws
 * channel_key_required, channel_headers_required, and the form's errors for a bad field.
 */
export async function updateChannel(ctx: ActorCtx, { id, key_mode, ...fields }: ChannelUpdate): Promise<ChannelView> {
  const { channels } = ctx.db.t;
  const stored = await findChannel(ctx, id);
  const type = fields.type ?? stored.type;
  // Older front-ends overwrite a row's key with its id: that is no new key.
  const key = fields.key?.trim() === String(id) ? "" : (fields.key ?? "");
  const touched = new Set(Object.keys(fields).filter((field) => fields[field as keyof ChannelFields] !== undefined));
  // Another type needs another address, other field and key.
  if (type !== stored.type) for (const field of ["base_url", "other", "key"]) touched.add(field);
  refuse(
    ctx,
    { ...stored, ...fields, key, has_key: stored.key_cipher !== "" || stored.multi_key_mode !== "" },
    touched,
  );
  const several = (fields.multi_key_mode ?? stored.multi_key_mode) !== "";
  const keys = several ? checkedKeys(ctx, type, key) : splitKeys(type, key);
  if (!several && keys.length > 1) fail("channel_key_invalid", { detail: ONE_KEY[ctx.lang] });
  const was = stored.multi_key_mode !== "";
  const replaced = key_mode === "replace" && several && keys.length > 0;
  const before = several === was ? [] : (await keysOfRow(ctx, stored)).keys.filter(Boolean);
  if (several && !was && before.length + keys.length === 0) fail("channel_name_and_key");
  // Back to one key: the new one, or the only one there is.
  const single = several || !was ? keys[0] : (keys[0] ?? (before.length === 1 ? before[0] : fail("channel_keys_left")));
  const set = {
    ...sealColumns(ctx, columnsOf(fields, type), stored),
    ...(several ? { key_cipher: "", key_hash: "" } : single ? sealKey(ctx, single) : {}),
    // A status set by hand ends what the gateway noted about it, and a drain.
    ...(fields.status !== undefined && fields.status !== stored.status
      ? { other_info: "", draining_since: 0, drain_deadline: 0 }
      : {}),
  };
  if (Object.keys(set).length === 0) return presentChannel(stored);
  const row = await ctx.db.tx(function* (q) {
    // As it is now, not as it was read: concurrent changes are judged one after the other.
    const current = (yield* lockChannel(ctx, q, id)) ?? fail("channel_not_found");
    if (
      current.type !== stored.type ||
      current.multi_key_mode !== stored.multi_key_mode ||
      current.key_cipher !== stored.key_cipher ||
      current.setting !== stored.setting ||
      current.header_override !== stored.header_override
    )
      return undefined;
    const elsewhere = goesElsewhere(ctx.secrets, current, { ...current, ...set });
    if (elsewhere && keys.length === 0 && holdsKey(ctx.secrets, current)) fail("channel_key_required");
    if (elsewhere && keepsHeader(ctx.secrets, current, { ...current, ...set })) fail("channel_headers_required");
    if (fields.status === CHANNEL_STATUS.enabled) yield* run(reviveKeys(ctx, q, eq(channels.id, id)));
    const [changed] = yield* run(q.update(channels).set(set).where(eq(channels.id, id)).returning());
    if (!changed) return fail("channel_not_found");
    if (was && (elsewhere || replaced || !several)) yield* run(dropKeys(ctx, q, eq(channels.id, id)));
    // Its single key becomes the first of several.
    if (several) yield* insertKeys(ctx, q, id, elsewhere || replaced ? keys : [...before, ...keys]);
    yield* noteChannel(ctx, q, "channel.update", stored, changed, keys.length > 0);
    yield* announceChange(ctx, q, id);
    return changed;
  });
  // Another change came first, and the decisions above are outdated.
  if (!row) return updateChannel(ctx, { id, key_mode, ...fields });
  return presentChannel(row);
}

export async function deleteChannel(ctx: ActorCtx, id: number): Promise<void> {
  const { channels } = ctx.db.t;
  await ctx.db.tx(function* (q) {
    yield* run(dropKeys(ctx, q, eq(channels.id, id)));
    const [row] = yield* run(q.delete(channels).where(eq(channels.id, id)).returning());
    if (!row) return fail("channel_not_found");
    yield* noteChannel(ctx, q, "channel.delete", row, undefined);
    yield* announceChange(ctx, q, id);
  });
}
