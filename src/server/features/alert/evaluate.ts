/**
 * One round of all rules, by the instance that holds the lease: what begins is opened, what is over is closed. Open
 * incidents are rows, so a restart or another holder goes on where the last one stopped.
 */
import { inArray } from "drizzle-orm";
import { isSeriesRule, severityOf, type SeriesRule } from "../../../shared/alert-rules";
import { type Held, NEVER_LOST } from "../../cluster/types";
import { type Services, seconds } from "../../contracts/context";
import { budgetFindings } from "./budgets";
import { channelsBack, eventFindings, eventsRead, newEvents } from "./event-findings";
import { closeIncidents, type Finding, type Incident, openFindings, openIncidents, touchIncidents } from "./incidents";
import { judge, lookBack } from "./judge";
import type { SeriesFeed } from "./series";
import { rulesOf, targetsFor } from "./target-list";

/** A rule must not hold for this long before its incident ends. */
const QUIET_SECONDS = 120;
/** So long an incident stays open of whose subject nothing is heard. */
const UNKNOWN_SECONDS = 1800;

interface Round {
  findings: Finding[];
  touch: number[];
  /** Over, and told. */
  over: number[];
  /** Over, and not worth a message. */
  drop: number[];
}

/** Judges every rule once; without its lease it writes nothing. */
export async function evaluate(services: Services, feed: SeriesFeed, held: Held = NEVER_LOST): Promise<void> {
  const rules = rulesOf(services);
  const open = Map.groupBy(await openIncidents(services), ({ rule }) => rule);
  const round: Round = { findings: [], touch: [], over: [], drop: [] };

  const series = rules.filter(isSeriesRule);
  if (series.length > 0) await feed.follow(lookBack(series));
  for (const rule of series) judgeSeries(services, rule, feed, open.get(rule.name) ?? [], round);

  const eventRules = rules.filter((rule) => rule.kind === "event");
  const events = await newEvents(services, [...new Set(eventRules.flatMap((rule) => rule.events))]);
  for (const rule of eventRules) {
    const found = eventFindings(services, rule, events);
    round.findings.push(...found);
    const old = (open.get(rule.name) ?? []).filter(({ subject }) => !found.some((one) => one.subject === subject));
    const back = new Set(await channelsBack(services, old));
    for (const { id, last_at } of old) {
      if (back.has(id)) round.over.push(id);
      else if (seconds(services) - last_at >= rule.minutes * 60) round.drop.push(id);
    }
  }

  for (const rule of rules) {
    if (rule.kind !== "budget") continue;
    const found = await budgetFindings(services, rule);
    const subjects = new Set(found.map(({ subject }) => subject));
    const known = new Set((open.get(rule.name) ?? []).map(({ subject }) => subject));
    round.findings.push(...found.filter(({ subject }) => !known.has(subject)));
    for (const { id, subject, last_at } of open.get(rule.name) ?? []) {
      if (subjects.has(subject)) round.touch.push(id);
      else if (seconds(services) - last_at >= QUIET_SECONDS) round.drop.push(id);
    }
  }

  const names = new Set(rules.map(({ name }) => name));
  for (const [name, incidents] of open) if (!names.has(name)) round.drop.push(...incidents.map(({ id }) => id));
  // The next holder has judged what this one read.
  if (held.lost) return;
  await keep(services, round);
  await eventsRead(services, events.at(-1)?.id);
}

function judgeSeries(services: Services, rule: SeriesRule, feed: SeriesFeed, open: readonly Incident[], round: Round) {
  const now = seconds(services);
  const bySubject = new Map(open.map((incident) => [incident.subject, incident]));
  const held = new Set<string>();
  for (const { subject, state, code, params } of judge(rule, feed.series, now, new Set(bySubject.keys()))) {
    const incident = bySubject.get(subject);
    held.add(subject);
    if (state === "on" && !incident)
      round.findings.push({
        rule: rule.name,
        subject,
        severity: severityOf(rule),
        code,
        params,
        targets: targetsFor(services, rule),
      });
    else if (incident && state !== "unknown") round.touch.push(incident.id);
    else if (incident && now - incident.last_at >= UNKNOWN_SECONDS) round.drop.push(incident.id);
  }
  for (const { id, subject, last_at } of open)
    if (!held.has(subject) && now - last_at >= QUIET_SECONDS) round.over.push(id);
}

async function keep(services: Services, { findings, touch, over, drop }: Round): Promise<void> {
  await openFindings(services, await named(services, findings));
  await touchIncidents(services, touch);
  await closeIncidents(services, over, true);
  await closeIncidents(services, drop, false);
}

/** Names of channels and users for the texts. */
async function named({ db }: Services, findings: readonly Finding[]): Promise<Finding[]> {
  const idsOf = (kind: string): number[] => [
    ...new Set(
      findings.flatMap(({ subject, params }) => {
        const id = new RegExp(`^${kind}:(\\d+)$`).exec(subject)?.[1];
        return id === undefined || params.name !== undefined ? [] : [Number(id)];
      }),
    ),
  ];
  const names = new Map<string, string>();
  const { channels, users } = db.t;
  const [channelIds, userIds] = [idsOf("channel"), idsOf("user")];
  for (let from = 0; from < channelIds.length; from += 500) {
    const some = inArray(channels.id, channelIds.slice(from, from + 500));
    for (const { id, name } of await db.read
      .select({ id: channels.id, name: channels.name })
      .from(channels)
      .where(some))
      names.set(`channel:${id}`, name);
  }
  for (let from = 0; from < userIds.length; from += 500) {
    const some = inArray(users.id, userIds.slice(from, from + 500));
    for (const { id, name } of await db.read.select({ id: users.id, name: users.username }).from(users).where(some))
      names.set(`user:${id}`, name);
  }
  return findings.map((finding) => {
    const name = names.get(finding.subject);
    return name === undefined ? finding : { ...finding, params: { ...finding.params, name } };
  });
}
