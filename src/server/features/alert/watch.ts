/**
 * The upstream accounts of channels: models gained and lost, keys that expire, balances that run dry. A channel's
 * upstream is asked once a day, by the list that "fetch models" uses; what was found is a row of `meta`. Channels whose
 * type has no list are not asked.
 */
import { eq, inArray, like } from "drizzle-orm";
import { type AlertRule, severityOf } from "../../../shared/alert-rules";
import { CHANNEL_STATUS, splitList } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import { readParams } from "../../../shared/log-text";
import { type Held, NEVER_LOST } from "../../cluster/types";
import { type Services, seconds } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import { loadKeys } from "../channel/keys";
import { upstreamModels } from "../channel/models";
import { balanceFindings } from "./balance-pace";
import { closeIncidents, type Finding, openFindings, openIncidents } from "./incidents";
import { keyExpiry } from "./key-expiry";
import { rulesOf, targetsFor } from "./target-list";

const DAY = 86_400;
/** After a failure it is asked again in an hour. */
const AGAIN = 3600;
/** Channels that are asked in one round. */
const AT_A_TIME = 3;
/** Models of one incident's text. */
const MOST_NAMED = 20;
const PREFIX = "alerts.upstream:";

/** What is known of a channel's upstream. */
export interface Looked {
  /** Epoch seconds of the next look. */
  next_at: number;
  /** Its list, as of the last look; absent before the first. */
  models?: string[];
  /** Models that the channel serves and that the upstream has listed at some time. */
  listed: string[];
  gained: string[];
  lost: string[];
  /** The key that expires first: the end of the key and epoch seconds. */
  key?: { hint: string; at: number };
}

/** The names that a channel calls at its upstream. */
export function servedNames({ models, model_mapping }: Pick<ChannelRow, "models" | "model_mapping">): string[] {
  const mapping = readParams(model_mapping);
  return [
    ...new Set(
      splitList(models).map((name) => {
        const mapped = Object.hasOwn(mapping, name) ? mapping[name] : undefined;
        return typeof mapped === "string" && mapped !== "" ? mapped : name;
      }),
    ),
  ];
}

/**
 * What a new list says against what was known. A model counts as lost when the channel serves it and the upstream has
 * listed it before: many upstreams serve names that they never list.
 */
export function compareModels(known: Looked | undefined, list: readonly string[], served: readonly string[]) {
  const now = new Set(list);
  const before = new Set(known?.listed);
  const listed = served.filter((name) => now.has(name) || before.has(name));
  const old = known?.models;
  return {
    listed,
    lost: listed.filter((name) => !now.has(name)),
    gained: old === undefined ? [] : list.filter((name) => !old.includes(name)),
  };
}

/** One round: looks at some channels whose day is over, and judges the rules of upstream accounts. */
export async function watchUpstreams(services: Services, held: Held = NEVER_LOST): Promise<void> {
  const rules = rulesOf(services);
  const asked = rules.filter(({ kind }) => kind === "models" || kind === "key");
  const { channels } = services.db.t;
  const rows = await services.db.read.select().from(channels).where(eq(channels.status, CHANNEL_STATUS.enabled));
  const looked = asked.length === 0 ? new Map<number, Looked>() : await lookAround(services, rows);
  for (const rule of rules) {
    if (held.lost) return;
    if (rule.kind === "models") await judge(services, rule, modelFindings(services, rule, rows, looked));
    else if (rule.kind === "key") await judge(services, rule, keyFindings(services, rule, rows, looked));
    else if (rule.kind === "balance") await judge(services, rule, await balanceFindings(services, rule, rows));
  }
}

/** Opens what was found, or updates its figures, and ends the rest. */
async function judge(services: Services, rule: AlertRule, found: readonly Finding[]): Promise<void> {
  const subjects = new Set(found.map(({ subject }) => subject));
  const over = (await openIncidents(services)).filter(
    (incident) => incident.rule === rule.name && !subjects.has(incident.subject),
  );
  await openFindings(services, found);
  await closeIncidents(
    services,
    over.map(({ id }) => id),
    true,
  );
}

async function lookAround(services: Services, rows: readonly ChannelRow[]): Promise<Map<number, Looked>> {
  const { meta } = services.db.t;
  const stored = await services.db.read
    .select()
    .from(meta)
    .where(like(meta.name, `${PREFIX}%`));
  const looked = new Map(
    stored.map(({ name, value }) => [Number(name.slice(PREFIX.length)), JSON.parse(value) as Looked]),
  );
  const there = new Set(rows.map(({ id }) => id));
  const left = stored.filter(({ name }) => !there.has(Number(name.slice(PREFIX.length)))).map(({ name }) => name);
  if (left.length > 0) await services.db.bulk.delete(meta).where(inArray(meta.name, left));
  const now = seconds(services);
  const due = rows
    .filter(({ id, type }) => (looked.get(id)?.next_at ?? 0) <= now && channelType(type)?.fetch_models !== undefined)
    .slice(0, AT_A_TIME);
  await Promise.all(
    due.map(async (row) => {
      const found = await look(services, row, looked.get(row.id));
      looked.set(row.id, found);
      const [name, value] = [`${PREFIX}${row.id}`, JSON.stringify(found)];
      await services.db.q
        .insert(meta)
        .values({ name, value })
        .onConflictDoUpdate({ target: meta.name, set: { value } });
    }),
  );
  return looked;
}

async function look(services: Services, row: ChannelRow, known: Looked | undefined): Promise<Looked> {
  const now = seconds(services);
  const nothing: Looked = { listed: [], gained: [], lost: [], ...known, next_at: now + AGAIN };
  try {
    const models = await upstreamModels(services, row);
    const compared = compareModels(known, models, servedNames(row));
    const keys = await loadKeys(services, row);
    const key = await keyExpiry(
      services,
      keys.filter(({ autoDisabled }) => !autoDisabled),
    );
    return { next_at: now + DAY, models, ...compared, ...(key && { key }) };
  } catch (err) {
    services.log.debug({ err, channel: row.id }, "the upstream of a channel could not be asked for its models");
    return nothing;
  }
}

const modelsText = (models: readonly string[]) => ({ count: models.length, models: models.slice(0, MOST_NAMED) });

/** Gained models are told as long as they are the news of the last look: a day. */
function modelFindings(
  services: Services,
  rule: AlertRule,
  rows: readonly ChannelRow[],
  looked: ReadonlyMap<number, Looked>,
): Finding[] {
  return rows.flatMap(({ id, name }): Finding[] => {
    const { gained = [], lost = [] } = looked.get(id) ?? {};
    const common = { rule: rule.name };
    return [
      ...(lost.length === 0
        ? []
        : [
            {
              ...common,
              subject: `channel:${id}`,
              severity: severityOf(rule),
              code: "models_lost",
              params: { name, ...modelsText(lost) },
              targets: targetsFor(services, rule),
            },
          ]),
      ...(gained.length === 0
        ? []
        : [
            {
              ...common,
              // An incident of its own beside the lost ones.
              subject: `channel:${id}:gained`,
              severity: "info" as const,
              code: "models_gained",
              params: { name, ...modelsText(gained) },
              targets: targetsFor(services, rule, "info"),
            },
          ]),
    ];
  });
}

function keyFindings(
  services: Services,
  rule: Extract<AlertRule, { kind: "key" }>,
  rows: readonly ChannelRow[],
  looked: ReadonlyMap<number, Looked>,
): Finding[] {
  const now = seconds(services);
  return rows.flatMap(({ id, name }): Finding[] => {
    const key = looked.get(id)?.key;
    if (!key || key.at > now + rule.days * DAY) return [];
    const days = Math.max(0, Math.round((key.at - now) / DAY));
    const date = new Date(key.at * 1000).toISOString().slice(0, 10);
    return [
      {
        rule: rule.name,
        subject: `channel:${id}`,
        severity: severityOf(rule),
        code: "key_expires",
        params: { name, hint: key.hint, date, days },
        targets: targetsFor(services, rule),
      },
    ];
  });
}
