/** GET /api/status: the public values. Options mark themselves as part of it (`public` in shared/options.ts). */
import { publicStatus } from "../../../shared/options";
import type { Ctx } from "../../contracts/context";
import { VERSION } from "../../version";
import { onlineTopupEnabled } from "../order/service";
import { isSetUp } from "../setup/service";

const STARTED = Math.floor(Date.now() / 1000);

/** Remembered once true: the set-up is never undone. */
const done = new WeakSet<object>();

export async function status(ctx: Ctx) {
  if (!done.has(ctx.db) && (await isSetUp(ctx))) done.add(ctx.db);
  return {
    ...publicStatus((key) => ctx.options.get(key)),
    version: VERSION,
    start_time: STARTED,
    setup: done.has(ctx.db),
    /** Online top-up is offered when a gateway is configured. */
    enable_online_topup: onlineTopupEnabled(ctx),
    enable_batch_update: false,
    // Names of new-api since July 2025 (controller/misc.go, read 2026-11).
    quota_display_type: ctx.options.get("DisplayInCurrencyEnabled") ? "USD" : "TOKENS",
    password_login_enabled: ctx.options.get("PasswordLoginEnabled"),
    passkey_login: true,
    checkin_enabled: false,
    user_agreement_enabled: false,
    privacy_policy_enabled: false,
  };
}

/** The text is the family's (new-api controller/misc.go, 2025-04). Throws when the database does not answer. */
export async function testStatus(ctx: Ctx): Promise<{ message: string }> {
  await ctx.db.q.select({ name: ctx.db.t.meta.name }).from(ctx.db.t.meta).limit(1);
  return { message: "Server is running" };
}
