/** How a user wants to be told: members of the JSON in `users.setting`, his secrets encrypted in it and never sent back. */
import { eq } from "drizzle-orm";
import * as z from "zod";
import { fail } from "../../../shared/errors";
import { NOTIFY_TYPES, type NoticeSettingInput } from "../../../shared/notice";
import type { UserCtx } from "../../context";
import { run } from "../../db/client";
import { forUpdate, withoutNul } from "../../db/sql";
import type { Secrets } from "../../lib/secrets";

/** Stored members. Whatever is of another shape counts as not set: the row may come from an import. */
const stored = z.object({
  language: z.enum(["zh", "en"]).catch("zh"),
  notify_type: z.enum(NOTIFY_TYPES).catch("email"),
  quota_warning_threshold: z.number().min(0).catch(0),
  notification_email: z.string().catch(""),
  webhook_url: z.string().catch(""),
  webhook_secret_cipher: z.string().catch(""),
  bark_url: z.string().catch(""),
  gotify_url: z.string().catch(""),
  gotify_token_cipher: z.string().catch(""),
  gotify_priority: z.number().catch(5),
});
export type NoticeSetting = z.output<typeof stored>;

/** Each secret, and the address that it belongs to. */
const SECRETS = [
  { secret: "webhook_secret", cipher: "webhook_secret_cipher", address: "webhook_url" },
  { secret: "gotify_token", cipher: "gotify_token_cipher", address: "gotify_url" },
] as const;

export const noticeSetting = (setting: string): NoticeSetting => stored.parse(membersOf(setting));

/** The setting without ciphers: `webhook_secret_set` says that there is one. "" stays "". */
export function presentSetting(setting: string): string {
  if (setting === "") return "";
  const members = membersOf(setting);
  for (const { secret, cipher } of SECRETS) {
    if (!(cipher in members)) continue;
    members[`${secret}_set`] = members[cipher] !== "";
    delete members[cipher];
  }
  return JSON.stringify(members);
}

/** Changes the caller's own setting; members that are not named stay. */
export async function saveNoticeSetting(ctx: UserCtx, input: NoticeSettingInput): Promise<void> {
  const { users } = ctx.db.t;
  const mine = eq(users.id, ctx.actor.id);
  const { webhook_secret, gotify_token, ...plain } = input;
  const given = { webhook_secret, gotify_token };
  await ctx.db.tx(function* (q) {
    const [row] = yield* run(forUpdate(ctx.db, q.select({ setting: users.setting }).from(users).where(mine)));
    if (!row) return fail("user_not_found");
    const before = membersOf(row.setting);
    const after: Record<string, unknown> = { ...before };
    for (const [name, value] of Object.entries(plain)) if (value !== undefined) after[name] = value;
    for (const { secret, cipher, address } of SECRETS) {
      const value = given[secret];
      if (value) after[cipher] = ctx.secrets.encrypt("user-secret", value);
      // A secret is not sent to a place it was not given for.
      else if (after[address] !== before[address]) after[cipher] = "";
    }
    yield* run(q.update(users).set({ setting: withoutNul(JSON.stringify(after)) }).where(mine));
  });
  await ctx.cluster.bus.publish("users", String(ctx.actor.id));
}

/** For `weir secret rotate`: the setting under another master secret; undefined when it has no secret. */
export function rotateSetting(setting: string, old: Secrets, next: Secrets): string | undefined {
  const members = membersOf(setting);
  let changed = false;
  for (const { cipher } of SECRETS) {
    const value = members[cipher];
    if (typeof value !== "string" || value === "") continue;
    members[cipher] = next.encrypt("user-secret", old.decrypt("user-secret", value));
    changed = true;
  }
  return changed ? JSON.stringify(members) : undefined;
}

function membersOf(setting: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(setting || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}
