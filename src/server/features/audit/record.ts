/**
 * The audit log: who changed what, before and after. Every administrative verb uses it. Values are named here or come
 * from a `present.ts`; whatever looks like a secret is masked all the same.
 */
import type { AuditAction } from "../../../shared/audit";
import { SECRET_BLOT } from "../../../shared/history";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import { isOptionKey, option } from "../../../shared/options";
import { type ActorCtx, type Ctx, seconds } from "../../contracts/context";
import { withoutNul } from "../../db/sql";

type Facts = Readonly<Record<string, unknown>>;

export interface Act {
  action: AuditAction;
  /** Id or key of the target; "" for several targets at once, which `after` then names. */
  target: string | number;
  before?: Facts | undefined;
  after?: Facts | undefined;
}

/** Members that never enter the log. */
const SECRET =
  /pass(word|wd)?|secret|cipher|hash|authorization|cookie|header_override|^key$|^keys$|(^|_)token$|_key$|Key$|Token$/i;

/**
 * Whether a member's name says that its value is secret. For options the registry decides: PasswordLoginEnabled is a
 * switch.
 */
const isSecret = (name: string): boolean => (isOptionKey(name) ? option(name).secret : SECRET.test(name));

/** The members that differ, before and after; a created or deleted target has one side only. */
export function changes<T extends Facts>(before: T, after: T): { before: Facts; after: Facts } {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const pick = (side: Facts) => Object.fromEntries(names.map((name) => [name, side[name]]));
  return { before: pick(before), after: pick(after) };
}

/** JSON with secrets masked at every depth, also in JSON that is kept as text; truncated members say so. */
export function safeJson(facts: Facts | undefined): string {
  if (facts === undefined) return "";
  const text = withoutNul(JSON.stringify(clean(facts)));
  return text.length <= TEXT_LIMITS.audit
    ? text
    : JSON.stringify({ cut: true, length: text.length, members: Object.keys(facts) });
}

function clean(value: unknown, name = ""): unknown {
  const said = value !== "" && value !== null && value !== undefined && value !== false && value !== 0;
  if (said && isSecret(name)) return SECRET_BLOT;
  if (Array.isArray(value)) return value.map((item) => clean(item));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clean(member, key)]));
  }
  if (typeof value !== "string") return value;
  if (/^\s*[{[]/.test(value)) {
    try {
      return JSON.stringify(clean(JSON.parse(value)));
    } catch {
      // Not JSON: an ordinary text.
    }
  }
  // A proxy's address may contain a name and a password.
  return value.replace(/:\/\/[^\s/@]+@/g, `://${SECRET_BLOT}@`);
}

/** The row of an act, for the transaction of that act. */
export function auditRow(
  ctx: Pick<Ctx, "actor" | "ip" | "request_id" | "now">,
  { action, target, before, after }: Act,
) {
  return {
    created_at: seconds(ctx),
    actor_id: ctx.actor.kind === "user" ? ctx.actor.id : 0,
    actor_name: ctx.actor.kind === "user" ? ctx.actor.username : ctx.actor.kind,
    action,
    target_type: action.slice(0, action.indexOf(".")),
    target_id: withoutNul(String(target)),
    before: safeJson(before),
    after: safeJson(after),
    ip: ctx.ip,
    request_id: ctx.request_id,
  };
}

/** Writes the row of an act that was done, for verbs without a transaction. */
export async function recordAct(ctx: ActorCtx, act: Act): Promise<void> {
  await ctx.db.q.insert(ctx.db.t.audit_log).values(auditRow(ctx, act)).returning({ id: ctx.db.t.audit_log.id });
}
