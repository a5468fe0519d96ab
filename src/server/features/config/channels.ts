/** Channels of the configuration file against those that are stored: what would be made, changed and removed. */
import { asc } from "drizzle-orm";
import { type ChannelFields, splitKeys } from "../../../shared/channel";
import { isMultiKeyMode } from "../../../shared/channel-keys";
import { AppError, errorText } from "../../../shared/errors";
import type { ActorCtx } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import { goesElsewhere, holdsKey } from "../channel/destination";
import { addKeys, checkedKeys, removeKeys } from "../channel/keys";
import { keepsHeader, sealColumns } from "../channel/sealed";
import { columnsOf, createChannels, deleteChannel, refuse, updateChannel } from "../channel/service";
import { type ChannelEntry, entryOf, fieldOf, wantedOf } from "./channel-entry";
import type { ConfigFile } from "./format";
import { differences, type Difference, HIDDEN, isMembers } from "./json";
import { nothingIn } from "./options";
import type { ReadSecret, SecretRef } from "./secret-refs";

/** The stored keys in clear, with their ids where the channel has several; undefined: they cannot be read. */
type StoredKeys = { id: number; key: string }[] | undefined;

export interface Stored {
  row: ChannelRow;
  keys: StoredKeys;
}

/** Every channel with its keys, oldest first. */
export async function storedChannels({ db, secrets }: Pick<ActorCtx, "db" | "secrets">): Promise<Stored[]> {
  const { channels, channel_keys } = db.t;
  const rows = await db.q.select().from(channels).orderBy(asc(channels.id));
  const keyRows = await db.q.select().from(channel_keys).orderBy(asc(channel_keys.position), asc(channel_keys.id));
  const byChannel = Map.groupBy(keyRows, ({ channel_id }) => channel_id);
  return rows.map((row) => {
    const ciphers = isMultiKeyMode(row.multi_key_mode) ? (byChannel.get(row.id) ?? []) : [{ ...row, id: 0 }];
    try {
      const keys = ciphers.map(({ id, key_cipher }) => ({ id, key: secrets.decrypt("channel-key", key_cipher) }));
      return { row, keys: keys.filter(({ key }) => key !== "") };
    } catch {
      return { row, keys: undefined };
    }
  });
}

/** `left`: told which channels have no entry. */
export function exportChannels(
  { secrets }: Pick<ActorCtx, "secrets">,
  stored: readonly Stored[],
  left: (what: string) => void,
): ChannelEntry[] {
  const named = Map.groupBy(stored, ({ row }) => row.name);
  return stored.flatMap(({ row, keys }) => {
    const entry = entryOf(secrets, row, (named.get(row.name)?.length ?? 0) > 1, keys === undefined || keys.length > 0);
    if (!entry) left(`channel ${row.id} "${row.name}": its type ${row.type} is not known`);
    return entry ? [entry] : [];
  });
}

export interface ChannelChange {
  act: "create" | "update" | "delete";
  /** 0 for a new one. */
  id: number;
  name: string;
  differences: Difference[];
  run(): Promise<void>;
}

export interface ChannelsPlan {
  changes: ChannelChange[];
  kept: SecretRef[];
  unnamed: { id: number; name: string }[];
  problems: string[];
  /** Models and groups of each channel, once the changes are done. */
  after: { models: ReadonlySet<string>; groups: readonly string[] }[];
}

/** `prune`: channels that the file does not name are deleted. */
export function planChannels(
  ctx: ActorCtx,
  stored: readonly Stored[],
  file: ConfigFile,
  read: ReadSecret,
  prune: boolean,
): ChannelsPlan {
  const plan: ChannelsPlan = { changes: [], kept: [], unnamed: [], problems: [], after: [] };
  const taken = new Set<number>();
  const made = new Set<string>();
  (file.channels ?? []).forEach((entry, index) => {
    const path = `channels[${index}] "${entry.name}"`;
    const refused = (problem: string): void => void plan.problems.push(`${path}: ${problem}`);
    const found = stored.filter(({ row }) => (entry.id === undefined ? row.name === entry.name : row.id === entry.id));
    const [one] = found;
    if (found.length > 1) return refused("several channels have this name; say which one by its id");
    if (entry.id !== undefined && !one) return refused(`there is no channel ${entry.id}`);
    if (one ? taken.has(one.row.id) : made.has(entry.name)) return refused("it is named twice");
    if (one) taken.add(one.row.id);
    else made.add(entry.name);
    planOne(ctx, plan, { entry, stored: one, read, refused });
  });
  for (const { row } of stored.filter((other) => !taken.has(other.row.id))) {
    const { id, name } = row;
    plan.unnamed.push({ id, name });
    if (prune) plan.changes.push({ act: "delete", id, name, differences: [], run: () => deleteChannel(ctx, id) });
    else plan.after.push(servedBy(row));
  }
  return plan;
}

const servedBy = ({ models = "", group = "" }: { models?: string; group?: string }) => ({
  models: new Set(models.split(",")),
  groups: group.split(","),
});

interface One {
  entry: ChannelEntry;
  stored: Stored | undefined;
  read: ReadSecret;
  refused(problem: string): void;
}

function planOne(ctx: ActorCtx, plan: ChannelsPlan, { entry, stored, read, refused }: One): void {
  const row = stored?.row;
  const wanted = wantedOf(ctx.secrets, entry, row, read);
  const given = entry.key && read(entry.key);
  if (entry.key && given === undefined) {
    if (stored && stored.keys?.length !== 0) plan.kept.push(entry.key);
    else wanted.missing.push(entry.key);
  }
  plan.kept.push(...wanted.kept);
  for (const ref of wanted.missing) refused(nothingIn(ref));
  const type = wanted.fields.type ?? 0;
  const columns = columnsOf(wanted.fields, type);
  plan.after.push(servedBy(columns));
  const several = (wanted.fields.multi_key_mode ?? "") !== "";
  try {
    const keys = given === undefined ? undefined : several ? checkedKeys(ctx, type, given) : splitKeys(type, given);
    if (keys && !several && keys.length > 1) return refused("key: several keys need a multi_key_mode");
    refuse(ctx, { ...wanted.fields, key: given ?? "", has_key: stored !== undefined && stored.keys?.length !== 0 });
    if (!row) {
      if (wanted.missing.length === 0)
        plan.changes.push(creation(ctx, entry, wanted.fields, wanted.secret, wanted.after, given));
      return;
    }
    const change = update(ctx, stored, wanted, keys, several);
    if (change) plan.changes.push(change);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    refused(errorText(error.code, error.values, "en"));
  }
}

/** A value without the text of a secret at or below `path`. */
function hidden(value: unknown, path: string, secret: ReadonlySet<string>): unknown {
  if (value === undefined) return undefined;
  if (secret.has(path)) return HIDDEN;
  if (!isMembers(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hidden(one, `${path}.${name}`, secret)]));
}

/** Differences without the text of a secret. */
const shown = (secret: ReadonlySet<string>, all: readonly Difference[]): Difference[] =>
  all.map(({ path, before, after }) => ({
    path,
    before: hidden(before, path, secret),
    after: hidden(after, path, secret),
  }));

function creation(
  ctx: ActorCtx,
  { name }: ChannelEntry,
  fields: ChannelFields,
  secret: ReadonlySet<string>,
  after: Readonly<Record<string, unknown>>,
  key: string | undefined,
): ChannelChange {
  const mode = fields.multi_key_mode ? "multi_to_single" : "single";
  return {
    act: "create",
    id: 0,
    name,
    differences: shown(secret, differences({}, after, "")).filter(({ after: value }) => !isNothing(value)),
    run: async () => void (await createChannels(ctx, { ...fields, mode, ...(key !== undefined && { key }) })),
  };
}

const isNothing = (value: unknown): boolean =>
  value === "" || value === 0 || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

function update(
  ctx: ActorCtx,
  { row, keys: before }: Stored,
  wanted: ReturnType<typeof wantedOf>,
  keys: readonly string[] | undefined,
  several: boolean,
): ChannelChange | undefined {
  const { id } = row;
  const found = differences(wanted.before, wanted.after, "");
  const names = new Set(found.map(({ path }) => fieldOf(path.split(".")[0] ?? "")));
  const fields = Object.fromEntries(
    Object.entries(wanted.fields).filter(([name]) => names.has(name as keyof ChannelFields)),
  ) as ChannelFields;
  const next = { ...row, ...sealColumns(ctx, columnsOf(fields, wanted.fields.type ?? 0), row) };
  const elsewhere = goesElsewhere(ctx.secrets, row, next);
  if (elsewhere && keys === undefined && holdsKey(ctx.secrets, row)) throw new AppError("channel_key_required");
  if (elsewhere && keepsHeader(ctx.secrets, row, next)) throw new AppError("channel_headers_required");
  const was = isMultiKeyMode(row.multi_key_mode);
  if (was && !several && (keys ?? before)?.length !== 1) throw new AppError("channel_keys_left");
  const known = before?.map(({ key }) => key) ?? [];
  const added = keys?.filter((key) => !known.includes(key)) ?? [];
  const removed = keys && before ? before.filter(({ key }) => !keys.includes(key)) : [];
  const otherKeys = keys !== undefined && (before === undefined || added.length > 0 || removed.length > 0);
  if (found.length === 0 && !otherKeys) return undefined;
  // One by one where the rest stays: each key has its own state.
  const oneByOne = was && several && !elsewhere && before !== undefined;
  return {
    act: "update",
    id,
    name: row.name,
    differences: [
      ...shown(wanted.secret, found),
      ...(otherKeys ? [{ path: "key", before: HIDDEN, after: HIDDEN }] : []),
    ],
    run: async () => {
      const whole = keys !== undefined && !oneByOne && (otherKeys || elsewhere || was !== several);
      if (found.length > 0 || whole)
        await updateChannel(ctx, {
          id,
          ...fields,
          ...(whole && { key: keys.join("\n"), key_mode: "replace" }),
        });
      if (!oneByOne) return;
      if (added.length > 0) await addKeys(ctx, id, added.join("\n"));
      if (removed.length > 0)
        await removeKeys(
          ctx,
          id,
          removed.map((one) => one.id),
        );
    },
  };
}
