/** What the audit log keeps of channels: settings, never a key or a counter. */
import type { AuditAction } from "../../../shared/audit";
import type { ActorCtx } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";
import type { ChannelRow } from "../../db/schema";
import { auditRow, changes } from "../audit/record";
import { presentChannel } from "./present";

const COUNTED = new Set([
  "id",
  "key",
  "used_quota",
  "balance",
  "balance_updated_time",
  "response_time",
  "test_time",
  "other_info",
  "draining_since",
  "drain_deadline",
  "created_time",
]);

const factsOf = (row: ChannelRow | undefined): Record<string, unknown> =>
  row ? Object.fromEntries(Object.entries(presentChannel(row)).filter(([name]) => !COUNTED.has(name))) : {};

/** Columns of which a secret alone has changed: shown they are as before. */
const changedSecrets = (before: ChannelRow, after: ChannelRow): Record<string, string> =>
  Object.fromEntries(
    (["setting", "header_override"] as const)
      .filter((name) => before[name] !== after[name] && presentChannel(before)[name] === presentChannel(after)[name])
      .map((name) => [name, "changed"]),
  );

/** The row of an act on one channel; undefined for an update without a change. `key`: a key was given. */
export function channelAct(
  ctx: ActorCtx,
  action: AuditAction,
  before: ChannelRow | undefined,
  after: ChannelRow | undefined,
  key = false,
): ReturnType<typeof auditRow> | undefined {
  const target = after?.id ?? before?.id ?? "";
  const both =
    before && after
      ? changes(factsOf(before), factsOf(after))
      : { before: before && factsOf(before), after: after && factsOf(after) };
  const secrets = before && after ? changedSecrets(before, after) : {};
  const facts = { ...both, after: both.after && { ...both.after, ...secrets, ...(key && { key: "changed" }) } };
  if (before && after && Object.keys(facts.after ?? {}).length === 0) return undefined;
  return auditRow(ctx, { action, target, ...facts });
}

/** Writes the row of `channelAct`, within the act's transaction. */
export function* noteChannel(
  ctx: ActorCtx,
  q: Q,
  action: AuditAction,
  before: ChannelRow | undefined,
  after: ChannelRow | undefined,
  key = false,
): Steps<void> {
  const row = channelAct(ctx, action, before, after, key);
  if (row) yield* run(q.insert(ctx.db.t.audit_log).values(row));
}
