/**
 * `weir rescue NAME …`: for an operator who is locked out. Anyone who can run it on the server has the database anyway;
 * each change leaves a line in the audit log. Servers may run meanwhile.
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { eq, or } from "drizzle-orm";
import { ROLE, USER_STATUS } from "../../shared/roles";
import type { Services } from "../contracts/context";
import { run } from "../db/transaction";
import type { UserRow } from "../db/schema";
import type { Env } from "../env";
import { auditRow } from "../features/audit/record";
import { hasPassword, hashPassword } from "../features/auth/password";
import { ownedFactors, removeFactorSteps } from "../features/factor/own";
import { CannotStart } from "../lib/cannot-start";
import type { Logger } from "../lib/log";
import { randomText } from "../lib/secrets";
import { openServices } from "../wiring/services";

export interface Rescue {
  /** A generated password; the account's sessions and system access token end. */
  password?: boolean | undefined;
  enable?: boolean | undefined;
  superAdmin?: boolean | undefined;
  removeSecondFactors?: boolean | undefined;
}

const PASSWORD_LENGTH = 16;

const trace = (services: Services) =>
  ({ actor: { kind: "system" }, ip: "", request_id: "weir rescue", now: services.now }) as const;

async function find({ db }: Services, name: string): Promise<UserRow> {
  const { users } = db.t;
  const rows = await db.q
    .select()
    .from(users)
    .where(or(eq(users.username, name), eq(users.email, name.toLowerCase())));
  const user = rows.find((row) => row.username === name) ?? rows[0];
  if (!user) throw new CannotStart(`there is no account ${name}.`);
  if (user.deleted_at !== null) throw new CannotStart(`the account ${name} was deleted and cannot be brought back.`);
  return user;
}

/**
 * Makes the requested changes in one transaction; returns the new password, if one was made. Throws CannotStart for an
 * unknown or deleted account.
 */
export async function rescue(services: Services, name: string, wanted: Rescue): Promise<{ password?: string }> {
  const { db } = services;
  const user = await find(services, name);
  const password = wanted.password ? randomText(PASSWORD_LENGTH) : undefined;
  const password_hash = password && (await hashPassword(password));
  const { users, sessions, audit_log } = db.t;
  await db.tx(
    function* (q) {
      const set = {
        ...(password_hash ? { password_hash, access_token_hash: null } : {}),
        ...(wanted.enable ? { status: USER_STATUS.active } : {}),
        ...(wanted.superAdmin ? { role: ROLE.root } : {}),
      };
      if (Object.keys(set).length > 0)
        yield* run(q.update(users).set(set).where(eq(users.id, user.id)).returning({ id: users.id }));
      if (password_hash)
        yield* run(q.delete(sessions).where(eq(sessions.user_id, user.id)).returning({ id: sessions.id }));
      if (wanted.removeSecondFactors) yield* removeFactorSteps(services, q, user.id);
      const before = { status: user.status, role: user.role };
      const after = {
        status: wanted.enable ? USER_STATUS.active : user.status,
        role: wanted.superAdmin ? ROLE.root : user.role,
        ...(password ? { password: "changed" } : {}),
        ...(wanted.removeSecondFactors ? { second_factors: "removed" } : {}),
      };
      yield* run(
        q
          .insert(audit_log)
          .values(auditRow(trace(services), { action: "user.rescue", target: user.id, before, after }))
          .returning({ id: audit_log.id }),
      );
      yield* services.cluster.bus.announce(q, "users", String(user.id));
    },
    { durable: true },
  );
  return password ? { password } : {};
}

/** Switches sign-in by password on again (D-52). */
export async function allowPasswordLogin(services: Services): Promise<void> {
  const before = services.options.text("PasswordLoginEnabled");
  await services.options.set("PasswordLoginEnabled", "true");
  const { audit_log } = services.db.t;
  const act = {
    action: "option.update",
    target: "PasswordLoginEnabled",
    before: { PasswordLoginEnabled: before },
    after: { PasswordLoginEnabled: "true" },
  } as const;
  await services.db.q
    .insert(audit_log)
    .values(auditRow(trace(services), act))
    .returning({ id: audit_log.id });
}

/** What keeps the owner of an account from signing in, in lines. */
export async function describeAccount(services: Services, name: string): Promise<string[]> {
  const user = await find(services, name);
  const { identities } = services.db.t;
  const [bound, { totp, passkeys }] = await Promise.all([
    services.db.q.select().from(identities).where(eq(identities.user_id, user.id)),
    ownedFactors(services, user.id),
  ]);
  return [
    `${user.username} (id ${user.id}): role ${user.role}${user.role === ROLE.root ? ", super administrator" : ""}, ${user.status === USER_STATUS.active ? "enabled" : "banned"}`,
    `password: ${hasPassword(user) ? "set" : "none"}; sign-in by password is ${services.options.get("PasswordLoginEnabled") ? "on" : "OFF for everybody"}`,
    `bound accounts: ${bound.map((row) => row.provider).join(", ") || "none"}`,
    `second factors: ${totp ? "one-time codes" : "no one-time codes"}, ${passkeys} passkey${passkeys === 1 ? "" : "s"}`,
  ];
}

const OPTIONS = {
  "new-password": { type: "boolean" },
  enable: { type: "boolean" },
  "super-admin": { type: "boolean" },
  "remove-second-factors": { type: "boolean" },
  "password-login": { type: "boolean" },
} as const;

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Exit code 0 when done, 2 for bad arguments. */
export async function rescueCommand(env: Env, log: Logger, args: readonly string[]): Promise<number> {
  const parsed = read(args);
  const problem =
    typeof parsed === "string" ? parsed : parsed.positionals.length > 1 ? "one account at a time" : undefined;
  if (typeof parsed === "string" || problem !== undefined) {
    console.error(`weir rescue: ${problem}\n\n${RESCUE_HELP}`);
    return 2;
  }
  const {
    values,
    positionals: [name],
  } = parsed;
  const wanted: Rescue = {
    password: values["new-password"],
    enable: values.enable,
    superAdmin: values["super-admin"],
    removeSecondFactors: values["remove-second-factors"],
  };
  const acts = Object.values(wanted).some(Boolean);
  if (name === undefined && (acts || !values["password-login"])) {
    console.error(`weir rescue: which account?\n\n${RESCUE_HELP}`);
    return 2;
  }
  // A mistyped folder must not create an empty database.
  if (!env.DATABASE_URL && !existsSync(env.databaseUrl))
    throw new CannotStart(`there is no database at ${env.databaseUrl}. Set WEIR_DATA_DIR or DATABASE_URL.`);
  const { services, close } = await openServices(env, log);
  try {
    if (values["password-login"]) {
      await allowPasswordLogin(services);
      console.log(
        `Sign-in by password is on.${services.db.engine === "sqlite" ? " A server that is running hears of it when it is restarted." : ""}`,
      );
    }
    if (name !== undefined) {
      const done = acts ? await rescue(services, name, wanted) : {};
      for (const line of await describeAccount(services, name)) console.log(line);
      if (done.password)
        console.log(
          `new password: ${done.password}\nSign in with it and change it; every session of the account has ended.`,
        );
      if (!acts && !values["password-login"]) console.log(`\nNothing was changed.\n\n${RESCUE_HELP}`);
    }
  } finally {
    await close();
  }
  return 0;
}

export const RESCUE_HELP = `weir rescue NAME [what to do]      NAME is a username or an e-mail address
  --new-password             a made password, printed once; ends every session of the account
  --remove-second-factors    one-time codes and passkeys
  --enable                   lifts a ban
  --super-admin              role 100
  --password-login           switches sign-in by password on for everybody (needs no NAME)
Without anything to do: says how the account can be signed in to.`;
