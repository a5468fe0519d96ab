/**
 * First run: the root account and the purpose of the gateway. Closed forever after the first success, safe against two
 * at once (one row of `meta` decides), and guarded by a code that the server prints when it starts. Every caller needs
 * the code: behind a proxy without forwarding headers every caller seems to be on this machine.
 */
import { eq } from "drizzle-orm";
import type * as z from "zod";
import { AppError, fail } from "../../../shared/errors";
import { knownNamesIn } from "../../../shared/known-names";
import { ROLE } from "../../../shared/roles";
import { ROOT_QUOTA, type setupInput } from "../../../shared/user";
import { type Ctx, type Services, seconds } from "../../contracts/context";
import { run } from "../../db/transaction";
import { openSession } from "../../http/session";
import { countCritical, criticalCount } from "../../http/trpc";
import { sameText } from "../../lib/secrets";
import { rememberDevice } from "../auth/device";
import { hashPassword } from "../auth/password";
import { keepOwnAddress } from "../option/service";
import { creditSteps } from "../wallet/credit";
import { presentSignedIn } from "../user/present";

const DONE = "setup_done";

/** Databases that are known to be set up, which never changes: guests may ask as often as they like. */
const known = new WeakSet<object>();

export async function isSetUp(services: Pick<Services, "db">): Promise<boolean> {
  if (known.has(services.db)) return true;
  const { q, t } = services.db;
  const [done] = await q.select().from(t.meta).where(eq(t.meta.name, DONE));
  if (done) known.add(services.db);
  return done !== undefined;
}

/** Hexadecimal digits: 128 bits cannot be guessed. */
const CODE_DIGITS = 32;

/** The same on every instance and after every restart; useless once the set-up is done. */
const setupCode = (services: Pick<Services, "secrets">): string =>
  services.secrets.hash("setup-code", "weir").slice(0, CODE_DIGITS);

/**
 * The wizard's address with the code after the #, where no proxy and no log sees it. `reached`: the server's address on
 * this machine.
 */
export const setupLink = (
  { secrets, options, env }: Pick<Services, "secrets" | "options" | "env">,
  reached: string,
): string =>
  `${options.get("ServerAddress").replace(/\/+$/, "") || env.WEIR_SERVER_ADDRESS || reached}/setup#code=${setupCode({ secrets })}`;

export async function setupStatus(ctx: Ctx) {
  const status = await isSetUp(ctx);
  return {
    status,
    root_init: status,
    database_type: ctx.db.engine,
    /** The wizard needs the set-up code. */
    code_needed: !status,
  };
}

/** Options whose defaults are names that users read. */
const NAMING = ["UserUsableGroups", "PayMethods"] as const;

type SetupInput = z.output<typeof setupInput>;

/** Creates the root account and signs it in. */
export async function setUp(ctx: Ctx, input: SetupInput) {
  if (await isSetUp(ctx)) fail("setup_done");
  if (!sameText(input.code.trim().toLowerCase(), setupCode(ctx))) {
    // Only wrong codes count: the right one passes, however often others have guessed from the same address.
    await countCritical(ctx, criticalCount(ctx, "setup"));
    fail("setup_code_wrong");
  }
  const user = await createRoot(ctx, input);
  // The options' own names are Chinese.
  if (ctx.lang !== "zh")
    for (const key of NAMING) await ctx.options.set(key, knownNamesIn(ctx.options.text(key), ctx.lang));
  await keepOwnAddress(ctx, (addresses) => ctx.options.set("ConsoleAddresses", addresses));
  rememberDevice(ctx, user, await openSession(ctx, user.id));
  return presentSignedIn(user);
}

/**
 * WEIR_ROOT_USERNAME with WEIR_ROOT_PASSWORD: the same, unattended. False when it was done before, or by another
 * instance that starts at the same moment.
 */
export async function setUpUnattended(services: Services): Promise<boolean> {
  const { WEIR_ROOT_USERNAME: username, WEIR_ROOT_PASSWORD: password } = services.env;
  if (!username || (await isSetUp(services))) return false;
  try {
    const server_address = services.env.WEIR_SERVER_ADDRESS;
    await createRoot(services, {
      username,
      password,
      SelfUseModeEnabled: false,
      DemoSiteEnabled: false,
      code: "",
      server_address,
    });
  } catch (error) {
    if (error instanceof AppError && error.code === "setup_done") return false;
    throw error;
  }
  return true;
}

async function createRoot(services: Services, input: SetupInput) {
  const { t } = services.db;
  const password_hash = await hashPassword(input.password);
  const time = seconds(services);
  const user = await services.db.tx(
    function* (q) {
      const won = yield* run(
        q
          .insert(t.meta)
          .values({ name: DONE, value: String(time) })
          .onConflictDoNothing()
          .returning(),
      );
      if (won.length === 0) fail("setup_done");
      const [row] = yield* run(
        q
          .insert(t.users)
          .values({
            username: input.username,
            display_name: input.username,
            password_hash,
            role: ROLE.root,
            created_at: time,
            last_login_at: time,
          })
          .onConflictDoNothing()
          .returning(),
      );
      if (!row) fail("username_taken");
      // In the same transaction: a process that dies here leaves neither an account without its quota nor a closed
      // set-up.
      const credit = {
        user_id: row.id,
        amount: ROOT_QUOTA,
        kind: "setup",
        idempotency_key: `setup:${row.id}`,
        actor_id: row.id,
      } as const;
      yield* creditSteps(services.db, q, credit, time);
      return row;
    },
    { durable: true },
  );
  await applyMode(services, input);
  return { ...user, quota: ROOT_QUOTA };
}

/** What the three cards of the wizard set. */
async function applyMode(
  services: Services,
  { mode, SelfUseModeEnabled, DemoSiteEnabled, server_address }: SetupInput,
): Promise<void> {
  const { options } = services;
  if (SelfUseModeEnabled || mode === "self") await options.set("SelfUseModeEnabled", "true");
  if (DemoSiteEnabled) await options.set("DemoSiteEnabled", "true");
  if (mode === "self" || mode === "team") await options.set("RegisterEnabled", "false");
  if (server_address) await options.set("ServerAddress", server_address.replace(/\/+$/, ""));
}
