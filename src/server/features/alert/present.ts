/** What leaves the server of incidents, messages and targets. */
import { TARGETS, type AlertTarget, type TargetView } from "../../../shared/alert-targets";
import type { Severity } from "../../../shared/alert-rules";
import { type DeliveryView, incidentPath, incidentText, type IncidentView } from "../../../shared/incidents";
import { readParams } from "../../../shared/log-text";
import type { Lang } from "../../../shared/text";
import type { Delivery, Incident } from "./incidents";

export function presentIncident(row: Incident, lang: Lang, units: (amount: number) => string): IncidentView {
  const { id, rule, subject, code, opened_at, last_at, closed_at, count, muted_until, seen_by } = row;
  const params = readParams(row.params);
  return {
    id,
    rule,
    subject,
    severity: row.severity as Severity, // written from a rule's
    code,
    params,
    text: incidentText({ code, params, subject }, lang, units),
    path: incidentPath(subject),
    opened_at,
    last_at,
    closed_at,
    count,
    muted_until,
    seen_by,
  };
}

export const presentDelivery = ({ id, kind, target, attempts, next_at, sent_at, error }: Delivery): DeliveryView => ({
  id,
  kind,
  target,
  attempts,
  next_at,
  sent_at,
  error,
});

/** A target without its secrets, which are only named. */
export function presentTarget(target: AlertTarget): TargetView {
  const { name, type, on, lang, least } = target;
  const open: TargetView["open"] = {};
  const set: TargetView["set"] = [];
  for (const { field, secret } of TARGETS[type].fields) {
    if (secret !== true) open[field] = target[field];
    else if (target[field] !== "") set.push(field);
  }
  return { name, type, on, lang, least, open, set };
}
