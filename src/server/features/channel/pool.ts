/**
 * The channels as the relay sees them: one snapshot in memory, built from all rows, replaced as a whole. Rows are
 * parsed once and kept as long as they do not change; keys are decrypted once. A change is read by every instance
 * within the debounce time, and by the instance that made it before its caller is answered.
 */
import { CHANNEL_STATUS, jsonObject, splitList } from "../../../shared/channel";
import { isMultiKeyMode } from "../../../shared/channel-keys";
import { readSetting } from "../../../shared/channel-setting";
import { baseUrlOf, canonicalModel, channelType } from "../../../shared/channel-types";
import { compileHeaders, headerProblem } from "../../../shared/header-override";
import { readLimits } from "../../../shared/limits";
import { resolveMapping, statusMapping } from "../../../shared/model-mapping";
import { compileOverride, overrideProblem } from "../../../shared/param-override";
import type { Services } from "../../contracts/context";
import { type KeyRow, keysIn, readKeys } from "./key-rows";
import { openColumns } from "./sealed";
import type { ChannelRow } from "../../db/schema";
import type { Secrets } from "../../lib/secrets";
import { drainOf } from "../../../shared/drain";
import type { PoolChannel } from "../../contracts/channel";
import type { ChannelPool } from "../../contracts/channel-pool";

/** Milliseconds for which changes are collected. */
const DEBOUNCE_MS = 50;

/** The columns that the pool reads; balances, totals and test results change often and do not matter here. */
const COLUMNS = [
  "id",
  "type",
  "name",
  "key_cipher",
  "base_url",
  "other",
  "models",
  "group",
  "model_mapping",
  "status_code_mapping",
  "setting",
  "param_override",
  "header_override",
  "test_model",
  "auto_ban",
  "priority",
  "weight",
  "openai_organization",
  "max_input_tokens",
  "multi_key_mode",
  "status",
  "draining_since",
  "drain_deadline",
] as const satisfies readonly (keyof ChannelRow)[];
/** Columns that hold JSON objects. */
const JSON_COLUMNS = ["model_mapping", "status_code_mapping", "setting", "param_override", "header_override"] as const;
type PoolRow = Pick<ChannelRow, (typeof COLUMNS)[number]>;

interface Entry {
  row: PoolRow;
  /** The state of its keys when it was parsed, where it has several. */
  keys: string;
  channel: PoolChannel;
  enabled: boolean;
}

const EMPTY: readonly PoolChannel[] = Object.freeze([]);
const NO_NAMES: readonly string[] = Object.freeze([]);

/** One state of all channels. */
class Snapshot {
  readonly index = new Map<string, Map<string, PoolChannel[]>>();
  private readonly names = new Map<string, readonly string[]>();

  constructor(readonly entries: ReadonlyMap<number, Entry>) {
    for (const { channel, enabled } of entries.values()) {
      if (!enabled) continue;
      for (const group of channel.groups) {
        let models = this.index.get(group);
        if (!models) this.index.set(group, (models = new Map()));
        for (const model of channel.models) {
          const list = models.get(model);
          if (list) list.push(channel);
          else models.set(model, [channel]);
        }
      }
    }
  }

  /** Sorted once per snapshot, when first asked for. '*' is every group. */
  models(group: string): readonly string[] {
    let names = this.names.get(group);
    if (!names) {
      const keys =
        group === "*"
          ? [...this.index.values()].flatMap((models) => [...models.keys()])
          : [...(this.index.get(group)?.keys() ?? [])];
      names = keys.length ? [...new Set(keys)].sort() : NO_NAMES;
      if (keys.length) this.names.set(group, names);
    }
    return names;
  }
}

/**
 * A stored channel as the relay uses it: key in clear, settings parsed. `report` gets what is unusable of it. undefined
 * when its type is unknown or its key cannot be read. `keyRows`: its keys, where it has several; the enabled ones
 * count.
 */
export function readChannel(
  row: PoolRow,
  secrets: Secrets,
  report: (problem: string) => void,
  keyRows: readonly KeyRow[] = [],
): PoolChannel | undefined {
  const type = channelType(row.type);
  if (!type) {
    report(`unknown type ${row.type}`);
    return undefined;
  }
  let clear: PoolRow;
  try {
    clear = openColumns(secrets, row);
  } catch {
    report("a secret of its settings cannot be read with this master secret");
    return undefined;
  }
  const json = (field: (typeof JSON_COLUMNS)[number]): Record<string, unknown> => {
    const value = jsonObject(clear[field]);
    if (!value) report(`${field} is not a JSON object`);
    return value ?? {};
  };
  let key: string;
  try {
    key = secrets.decrypt("channel-key", row.key_cipher);
  } catch {
    report("the key cannot be read with this secret");
    return undefined;
  }
  const setting = json("setting");
  const { limits, wrong } = readLimits(setting);
  if (wrong) report(`setting.${wrong} is no limit`);
  const { mapping, loops } = resolveMapping(json("model_mapping"));
  if (loops.length) report(`model_mapping goes in a circle at ${loops.join(", ")}`);
  const statuses = statusMapping(json("status_code_mapping"));
  if (statuses.wrong.length)
    report(`status_code_mapping has entries that are no statuses: ${statuses.wrong.join(", ")}`);
  const drain = drainOf(row);
  const channel: PoolChannel = {
    id: row.id,
    name: row.name,
    type,
    key,
    base_url: baseUrlOf(row.type, row.base_url),
    other: row.other,
    organization: row.openai_organization,
    models: new Set(splitList(row.models).map(canonicalModel)),
    groups: new Set(splitList(row.group)),
    priority: row.priority,
    weight: row.weight,
    auto_ban: row.auto_ban !== 0,
    model_mapping: mapping,
    status_mapping: statuses.mapping,
    setting: readSetting(setting, report),
    ...(limits && { limits }),
    test_model: row.test_model,
    max_input_tokens: row.max_input_tokens,
    ...(drain && { drain }),
    ...overrides(json("param_override"), json("header_override"), report),
  };
  return isMultiKeyMode(row.multi_key_mode) ? readKeys(channel, row.multi_key_mode, keyRows, secrets, report) : channel;
}

/** The channel's changes to bodies and headers; unusable ones are left out and reported. */
function overrides(
  params: Record<string, unknown>,
  headers: Record<string, unknown>,
  report: (problem: string) => void,
): Pick<PoolChannel, "override" | "headers"> {
  const wrongParams = overrideProblem(params);
  const wrongHeaders = headerProblem(headers);
  if (wrongParams) report(`param_override: ${wrongParams.en}`);
  if (wrongHeaders) report(`header_override: ${wrongHeaders.en}`);
  const override = wrongParams ? undefined : compileOverride(params);
  const rules = compileHeaders(headers);
  return { ...(override && { override }), ...(rules.size > 0 && { headers: rules }) };
}

/** Opens the pool; the first snapshot is in force when this resolves. */
export async function createChannelPool(
  services: Pick<Services, "db" | "secrets" | "cluster" | "log">,
  debounceMs = DEBOUNCE_MS,
): Promise<ChannelPool> {
  const store = new SnapshotStore(services);
  const reloads = new Reloads(() => store.read(), debounceMs);
  const changed = (_: string, own: boolean) => (own ? reloads.now() : reloads.soon());
  const unsubscribe = services.cluster.bus.subscribe("channels", changed, { whole: true });
  await reloads.now();
  return {
    candidates: (group, model) => store.current.index.get(group)?.get(model) ?? EMPTY,
    byId: (id) => store.current.entries.get(id),
    all: () => [...store.current.entries.values()].map(({ channel }) => channel),
    inGroup: (group) =>
      [...store.current.entries.values()].flatMap(({ channel, enabled }) =>
        enabled && !channel.drain && channel.groups.has(group) ? [channel] : [],
      ),
    models: (group) => store.current.models(group),
    enabledModels: () => store.current.models("*"),
    broken: (group, model) => store.hasUnusable(group, model),
    off: (group, model) =>
      [...store.current.entries.values()].some(
        ({ enabled, channel }) => !enabled && channel.groups.has(group) && channel.models.has(model),
      ),
    reload: () => reloads.now(),
    close: () => {
      store.close();
      reloads.close();
      unsubscribe();
    },
  };
}

/** The snapshot in force, and the rows that could not become part of it. */
class SnapshotStore {
  current = new Snapshot(new Map());
  readonly #services: Pick<Services, "db" | "secrets" | "log">;
  /** Rows that cannot be used, as they were when that was reported. */
  #unusable = new Map<number, PoolRow>();
  #closed = false;

  constructor(services: Pick<Services, "db" | "secrets" | "log">) {
    this.#services = services;
  }

  async read(): Promise<void> {
    const { db } = this.#services;
    const { channels } = db.t;
    const wanted = Object.fromEntries(COLUMNS.map((name) => [name, channels[name]])) as Pick<
      typeof channels,
      (typeof COLUMNS)[number]
    >;
    const rows: PoolRow[] = await db.read.select(wanted).from(channels);
    const keysByChannel = await keysIn(db);
    const entries = new Map<number, Entry>();
    const unusable = new Map<number, PoolRow>();
    for (const row of rows) {
      const entry = this.#entryOf(row, keysByChannel.get(row.id) ?? []);
      if (entry) entries.set(row.id, entry);
      else unusable.set(row.id, row);
    }
    if (this.#closed) return;
    this.current = new Snapshot(entries);
    this.#unusable = unusable;
  }

  /** Whether an enabled channel is stored for (group, model) whose row cannot be used. */
  hasUnusable(group: string, model: string): boolean {
    return [...this.#unusable.values()].some(
      (row) =>
        row.status === CHANNEL_STATUS.enabled &&
        splitList(row.group).includes(group) &&
        splitList(row.models).map(canonicalModel).includes(model),
    );
  }

  close(): void {
    this.#closed = true;
  }

  /** Unchanged rows keep their parsed form, so problems are reported once and keys decrypted once. */
  #entryOf(row: PoolRow, keyRows: readonly KeyRow[]): Entry | undefined {
    const known = this.current.entries.get(row.id);
    const keys = keyRows
      .map((key) => [key.id, key.status, key.position, key.draining_since, key.drain_deadline].join("."))
      .join();
    if (known && known.keys === keys && isSame(known.row, row)) return known;
    return isSame(this.#unusable.get(row.id), row) ? undefined : this.#parse(row, keyRows, keys);
  }

  #parse(row: PoolRow, keyRows: readonly KeyRow[], keys: string): Entry | undefined {
    const { log, secrets } = this.#services;
    const report = (problem: string) =>
      log.warn({ channel: row.id, problem }, "a channel's stored settings are not usable");
    const channel = readChannel(row, secrets, report, keyRows);
    return (
      channel && { row, keys, channel, enabled: row.status === CHANNEL_STATUS.enabled && channel.keys?.length !== 0 }
    );
  }
}

const isSame = (known: PoolRow | undefined, row: PoolRow): boolean =>
  known !== undefined && COLUMNS.every((name) => known[name] === row[name]);

/** When to read: one read at a time, and at most one more that waits. */
class Reloads {
  readonly #read: () => Promise<void>;
  readonly #debounceMs: number;
  #running: Promise<void> | undefined;
  #queued: Promise<void> | undefined;
  #soon: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(read: () => Promise<void>, debounceMs: number) {
    this.#read = read;
    this.#debounceMs = debounceMs;
  }

  /** Resolves when a read that began after this call is done. */
  now(): Promise<void> {
    if (!this.#running) return this.#start();
    // The read under way may have begun before the change: one more serves all that wait now.
    this.#queued ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#queued = undefined;
        return this.#start();
      });
    return this.#queued;
  }

  /** Changes elsewhere that come close together are read once. */
  soon(): Promise<void> {
    this.#soon ??= new Promise<void>((resolve) => (this.#timer = setTimeout(resolve, this.#debounceMs))).then(() => {
      this.#soon = undefined;
      return this.now();
    });
    return this.#soon;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #start(): Promise<void> {
    this.#running = this.#read().finally(() => (this.#running = undefined));
    return this.#running;
  }
}
