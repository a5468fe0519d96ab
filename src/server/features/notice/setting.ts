/**
 * How a user wants to be notified: members of the JSON in `users.setting`, the secrets encrypted in it and never sent
 * back.
 */
import { eq } from "drizzle-orm";
import * as z from "zod";
import { fail } from "../../../shared/errors";
import { type NoticeSettingInput, noticeSettingSchema, settingMembers } from "../../../shared/notice";
import type { UserCtx } from "../../contracts/context";
import { run } from "../../db/transaction";
import { forUpdate, withoutNul } from "../../db/sql";
import type { Secrets } from "../../lib/secrets";

/** With the members that only the server sees. */
const stored = noticeSettingSchema.extend({
  webhook_secret_cipher: z.string().catch(""),
  gotify_token_cipher: z.string().catch(""),
});
export type NoticeSetting = z.output<typeof stored>;

/** Each secret, and the address that it belongs to. */
const SECRETS = [
  { secret: "webhook_secret", cipher: "webhook_secret_cipher", address: "webhook_url" },
  { secret: "gotify_token", cipher: "gotify_token_cipher", address: "gotify_url" },
] as const;

export const noticeSetting = (setting: string): NoticeSetting => stored.parse(settingMembers(setting));

/** The setting without ciphers: `webhook_secret_set` says that there is one. "" stays "". */
export function presentSetting(setting: string): string {
  if (setting === "") return "";
  const members = settingMembers(setting);
  for (const { secret, cipher } of SECRETS) {
    if (!(cipher in members)) continue;
    members[`${secret}_set`] = members[cipher] !== "";
    delete members[cipher];
  }
  return JSON.stringify(members);
}

/** What administrators see of it: no address and no secret, only how and when. "" stays "". */
export function presentSettingToAdmin(setting: string): string {
  if (setting === "") return "";
  const { language, notify_type, quota_warning_threshold } = noticeSetting(setting);
  return JSON.stringify({ language, notify_type, quota_warning_threshold });
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
    const before = settingMembers(row.setting);
    const after: Record<string, unknown> = { ...before };
    for (const [name, value] of Object.entries(plain)) if (value !== undefined) after[name] = value;
    for (const { secret, cipher, address } of SECRETS) {
      const value = given[secret];
      if (value) after[cipher] = ctx.secrets.encrypt("user-secret", value);
      // A secret is not sent to an address that it was not given for.
      else if (after[address] !== before[address]) after[cipher] = "";
    }
    yield* run(
      q
        .update(users)
        .set({ setting: withoutNul(JSON.stringify(after)) })
        .where(mine),
    );
    yield* ctx.cluster.bus.announce(q, "users", String(ctx.actor.id));
  });
}

/** For `weir secret rotate`: the setting under another master secret; undefined when it has no secret. */
export function rotateSetting(setting: string, old: Secrets, next: Secrets): string | undefined {
  const members = settingMembers(setting);
  let changed = false;
  for (const { cipher } of SECRETS) {
    const value = members[cipher];
    if (typeof value !== "string" || value === "") continue;
    members[cipher] = next.encrypt("user-secret", old.decrypt("user-secret", value));
    changed = true;
  }
  return changed ? JSON.stringify(members) : undefined;
}
