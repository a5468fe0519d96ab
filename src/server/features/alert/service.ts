/** Verbs of operators on incidents and alert targets. */
import { and, desc, eq, gt, ne } from "drizzle-orm";
import type * as z from "zod";
import { SEVERITIES } from "../../../shared/alert-rules";
import {
  type AlertTarget,
  parseTargets,
  TARGET_FIELDS,
  TARGETS,
  type TargetField,
  type TargetInput,
  targetsCodec,
  type TargetView,
} from "../../../shared/alert-targets";
import { AppError, fail } from "../../../shared/errors";
import type { Page } from "../../../shared/envelope";
import {
  type Bell,
  BELL_MOST,
  type DeliveryView,
  type incidentListInput,
  type IncidentView,
  type muteInput,
} from "../../../shared/incidents";
import { type Ctx, seconds, type UserCtx } from "../../contracts/context";
import { count, startsWith, withoutNul } from "../../db/sql";
import { recordAct } from "../audit/record";
import { quotaText } from "../wallet/quota-text";
import { messageFacts, problemOf, sendTo } from "./deliver";
import { deliveriesOf, type Incident, markSeen, muteIncident } from "./incidents";
import { compose } from "./message";
import { presentDelivery, presentIncident, presentTarget } from "./present";

const present = (ctx: Ctx) => (row: Incident) => presentIncident(row, ctx.lang, (units) => quotaText(ctx, units));

/** Incidents, the newest first. */
export async function listIncidents(
  ctx: Ctx,
  { p, page_size, state, severity, rule, subject }: z.output<typeof incidentListInput>,
): Promise<Page<IncidentView>> {
  const { incidents } = ctx.db.t;
  const where = and(
    state === "open" ? eq(incidents.closed_at, 0) : undefined,
    state === "closed" ? ne(incidents.closed_at, 0) : undefined,
    state === "unseen" ? eq(incidents.seen_by, 0) : undefined,
    severity === "" ? undefined : eq(incidents.severity, severity),
    rule === "" ? undefined : eq(incidents.rule, withoutNul(rule)),
    subject === "" ? undefined : startsWith(incidents.subject, withoutNul(subject)),
  );
  const bounded = ctx.db.read.select({ id: incidents.id }).from(incidents).where(where).limit(10_000).as("bounded");
  const [[all], rows] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(bounded),
    ctx.db.read
      .select()
      .from(incidents)
      .where(where)
      .orderBy(desc(incidents.last_at), desc(incidents.id))
      .limit(page_size)
      .offset((p - 1) * page_size),
  ]);
  return { items: rows.map(present(ctx)), page: p, page_size, total: all?.n ?? 0 };
}

const BELL_ITEMS = 20;
/** What is older is no news. */
const BELL_SECONDS = 7 * 86_400;

/** Open incidents and how many were not seen, as the bell shows them. */
export async function bell(ctx: Ctx): Promise<Bell> {
  const { incidents } = ctx.db.t;
  const open = eq(incidents.closed_at, 0);
  const fresh = and(eq(incidents.seen_by, 0), gt(incidents.last_at, seconds(ctx) - BELL_SECONDS));
  const bounded = ctx.db.read.select({ id: incidents.id }).from(incidents).where(fresh).limit(BELL_MOST).as("bounded");
  const [[unseen], severities, rows] = await Promise.all([
    ctx.db.read.select({ n: count() }).from(bounded),
    ctx.db.read
      .select({ severity: incidents.severity, n: count() })
      .from(incidents)
      .where(open)
      .groupBy(incidents.severity),
    ctx.db.read.select().from(incidents).where(open).orderBy(desc(incidents.id)).limit(BELL_ITEMS),
  ]);
  return {
    unseen: unseen?.n ?? 0,
    open: severities.reduce((all, { n }) => all + n, 0),
    worst: SEVERITIES.findLast((one) => severities.some(({ severity }) => severity === one)) ?? "",
    items: rows.map(present(ctx)),
  };
}

/** One incident with its messages. Throws incident_not_found. */
export async function incidentDetail(ctx: Ctx, id: number): Promise<IncidentView & { deliveries: DeliveryView[] }> {
  const { incidents } = ctx.db.t;
  const [row] = await ctx.db.q.select().from(incidents).where(eq(incidents.id, id));
  if (!row) return fail("incident_not_found");
  return { ...present(ctx)(row), deliveries: (await deliveriesOf(ctx, id)).map(presentDelivery) };
}

/** Marks incidents as seen; returns how many were not before. */
export async function seeIncidents(ctx: UserCtx, ids: readonly number[]): Promise<number> {
  const seen = await markSeen(ctx, ctx.actor.id, ids);
  if (seen > 0) await recordAct(ctx, { action: "incident.seen", target: ids.join(",").slice(0, 100), after: { seen } });
  return seen;
}

/** Mutes an incident, 0 hours: no longer. Throws incident_not_found. */
export async function mute(ctx: UserCtx, { id, hours }: z.output<typeof muteInput>): Promise<IncidentView> {
  const until = hours === 0 ? 0 : seconds(ctx) + Math.round(hours * 3600);
  const row = await muteIncident(ctx, id, until);
  if (!row) return fail("incident_not_found");
  await recordAct(ctx, { action: "incident.mute", target: id, after: { rule: row.rule, subject: row.subject, hours } });
  return present(ctx)(row);
}

/** The targets without their secrets. */
export const listTargets = (ctx: Ctx): TargetView[] => ctx.options.get("AlertTargets").map(presentTarget);

/**
 * A target as typed, with the secrets that are stored for it where none was typed. They stay with their kind and with
 * the address that they were given for.
 */
function completeTarget(targets: readonly AlertTarget[], { was, ...input }: TargetInput): AlertTarget {
  const stored = targets.find(({ name }) => name === (was ?? input.name));
  const { fields } = TARGETS[input.type];
  const openFields = fields.filter(({ secret }) => secret !== true).map(({ field }) => field);
  const same =
    stored !== undefined &&
    stored.type === input.type &&
    (!openFields.includes("url") || stored.url === (input.url ?? "").trim());
  const value = (field: TargetField): string => {
    const fact = fields.find((one) => one.field === field);
    if (!fact) return "";
    const typed = (input[field] ?? "").trim();
    return typed === "" && fact.secret === true && same ? stored[field] : typed;
  };
  const filled = Object.fromEntries(TARGET_FIELDS.map((field) => [field, value(field)]));
  const parsed = parseTargets([{ ...input, ...filled }]);
  if ("problem" in parsed) return fail("alert_target_invalid", { detail: parsed.problem.replace(/^0\./, "") });
  return parsed.targets[0] ?? fail("alert_target_invalid", { detail: "" });
}

/** Saves a target under its name; `was` renames one. Throws alert_target_invalid. */
export async function saveTarget(ctx: UserCtx, input: TargetInput): Promise<TargetView> {
  const targets = ctx.options.get("AlertTargets");
  const target = completeTarget(targets, input);
  const old = input.was ?? target.name;
  const place = targets.findIndex(({ name }) => name === old);
  const next = place < 0 ? [...targets, target] : targets.with(place, target);
  const checked = parseTargets(next);
  if ("problem" in checked) return fail("alert_target_invalid", { detail: checked.problem });
  await ctx.options.set("AlertTargets", targetsCodec.print(checked.targets));
  const before = targets[place];
  await recordAct(ctx, {
    action: "alert.update",
    target: target.name,
    ...(before && { before: { ...presentTarget(before) } }),
    after: { ...presentTarget(target) },
  });
  return presentTarget(target);
}

/** Removes a target. Throws alert_target_not_found. */
export async function removeTarget(ctx: UserCtx, name: string): Promise<void> {
  const targets = ctx.options.get("AlertTargets");
  const target = targets.find((one) => one.name === name) ?? fail("alert_target_not_found");
  await ctx.options.set("AlertTargets", targetsCodec.print(targets.filter((one) => one !== target)));
  await recordAct(ctx, { action: "alert.delete", target: name, before: { ...presentTarget(target) } });
}

/**
 * Sends a test to a target, saved or as typed; the vendor's answer is for root to read. Throws alert_target_invalid
 * and address_forbidden; what the target answers, or that it does not, is a result.
 */
export async function testTarget(ctx: UserCtx, input: TargetInput): Promise<{ ok: boolean; answer: string }> {
  const target = completeTarget(ctx.options.get("AlertTargets"), input);
  const now = seconds(ctx);
  const incident: Incident = {
    id: 0,
    rule: "test",
    subject: "",
    severity: "info",
    code: "test",
    params: JSON.stringify({ name: "*_[a](b)_* <&>" }),
    opened_at: now,
    last_at: now,
    // Alertmanager keeps an open alert for days.
    closed_at: target.type === "alertmanager" ? now + 60 : 0,
    count: 1,
    muted_until: 0,
    seen_by: 0,
  };
  const delivery = {
    id: 0,
    incident_id: 0,
    kind: "begin",
    target: target.name,
    attempts: 0,
    next_at: 0,
    sent_at: 0,
    error: "",
    created_at: now,
  };
  const message = compose([{ delivery, incident }], messageFacts(ctx, target.lang));
  try {
    const { ok, answer } = await sendTo(ctx, target, message);
    return { ok, answer };
  } catch (error) {
    if (error instanceof AppError && error.code !== "mail_failed") throw error;
    return { ok: false, answer: problemOf(error) };
  }
}
