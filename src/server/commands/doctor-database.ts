/** What `weir doctor` asks of either engine, in SQL that both understand. */
import { CANARY } from "../wiring/secret-source";
import { createSecrets } from "../lib/secrets";
import { SCHEMA_RELEASE } from "../db/migrate";
import { NO_PASSWORD, verifyPassword } from "../features/auth/password";
import { ROLE, USER_STATUS } from "../../shared/roles";
import { checked, type Found } from "./found";

/** Rows of a statement without parameters. */
export type Ask = (statement: string) => Promise<Record<string, unknown>[]>;

/** What people try first, and what other gateways deliver: their accounts can be imported with it. */
const KNOWN_PASSWORDS = ["123456", "12345678", "password", "admin123", "changeme"] as const;
/** Of each operator a hash is checked, which takes about 0.1 s a password. */
const MOST_OPERATORS = 20;
/** A clock that was set back leaves rows of a time that has not come. */
const MOST_AHEAD_S = 60;

/** Of a database that has Weir's tables. `secret`: the master secret that a server here would take, if any is known. */
export async function databaseChecks(ask: Ask, secret: string): Promise<Found[]> {
  const first = async (statement: string): Promise<Record<string, unknown>> => (await ask(statement))[0] ?? {};
  return [
    ...(await checked("schema", async () => {
      const { value } = await first("SELECT value FROM meta WHERE name = 'schema_release'");
      return [schemaFound(Number(value ?? 0))];
    })),
    ...(await checked("secret", async () => {
      const { value } = await first("SELECT value FROM meta WHERE name = 'canary'");
      return [secretFound(secret, String(value ?? ""))];
    })),
    ...(await checked("clock", async () => {
      const { at } = await first("SELECT max(created_at) AS at FROM logs WHERE created_at > 0");
      return clockFound(Number(at ?? 0), Math.floor(Date.now() / 1000));
    })),
    ...(await checked("passwords", () => passwords(ask))),
  ];
}

function schemaFound(release: number): Found {
  const check = "schema";
  if (release === SCHEMA_RELEASE) return { check, state: "ok", found: `release ${release}` };
  if (release < SCHEMA_RELEASE)
    return {
      check,
      state: "note",
      found: `release ${release}: the next start migrates to ${SCHEMA_RELEASE}`,
      advice: "Make a backup first.",
    };
  if (release === SCHEMA_RELEASE + 1)
    return {
      check,
      state: "note",
      found: `release ${release}, of a later Weir; this one serves on it`,
      advice: "End the upgrade: start the later release everywhere.",
    };
  return {
    check,
    state: "wrong",
    found: `release ${release}, and this program serves up to ${SCHEMA_RELEASE + 1}`,
    advice: "Start the newer program, or restore the copy made before the upgrade.",
  };
}

function secretFound(secret: string, canary: string): Found {
  const check = "secret";
  if (canary === "") return { check, state: "ok", found: "no server has used this database yet" };
  try {
    if (secret !== "" && createSecrets(secret).decrypt("canary", canary) === CANARY)
      return { check, state: "ok", found: "it opens what is stored" };
  } catch {
    // said below
  }
  return {
    check,
    state: "wrong",
    found: secret === "" ? "there is none, and the database needs one" : "it does not open what is stored",
    advice: "Set WEIR_SECRET to the value used before, or put back the file `secret` of the data folder.",
  };
}

/** `newest`, `now`: epoch seconds. */
function clockFound(newest: number, now: number): Found[] {
  if (newest <= now + MOST_AHEAD_S) return [];
  return [
    {
      check: "clock",
      state: "wrong",
      found: `the newest row of the log is ${newest - now} s ahead of this machine's clock`,
      advice: "Set the clock by NTP; it was ahead before, or is behind now.",
    },
  ];
}

async function passwords(ask: Ask): Promise<Found[]> {
  const check = "passwords";
  const rows = await ask(
    `SELECT username, password_hash FROM users WHERE role >= ${ROLE.admin} AND status = ${USER_STATUS.active}
      AND deleted_at IS NULL AND password_hash <> '${NO_PASSWORD}' ORDER BY role DESC, id LIMIT ${MOST_OPERATORS}`,
  );
  const weak: string[] = [];
  for (const { username, password_hash } of rows) {
    const name = String(username);
    for (const guess of [name, ...KNOWN_PASSWORDS])
      if (await verifyPassword(guess, String(password_hash))) weak.push(name);
  }
  if (weak.length === 0)
    return [{ check, state: "ok", found: `no operator (${rows.length} looked at) has one that everybody knows` }];
  return weak.map((name) => ({
    check,
    state: "wrong",
    found: `the operator ${name} has a password that everybody knows`,
    advice: `weir rescue ${name} --new-password`,
  }));
}
