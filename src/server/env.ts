/**
 * Every environment variable, once: parser, refusal messages and docs/generated/env.md come from this record.
 * An unknown WEIR_ name warns; a bad value refuses to start and says why.
 */
import { join, resolve } from "node:path";
import { addressProblem } from "../shared/token";
import { CannotStart } from "./lib/cannot-start";

interface Variable<T> {
  parse(text: string): T | undefined;
  fallback: T;
  /** What a good value looks like, for messages and documentation. */
  form: string;
  help: string;
  secret?: true;
}

const text = (help: string, fallback = "", secret?: true): Variable<string> => ({
  parse: (v) => v,
  fallback,
  form: "text",
  help,
  ...(secret ? { secret } : {}),
});
const url = (help: string, fallback: string): Variable<string> => ({
  parse: (v) => (/^https?:\/\//.test(v) && URL.canParse(v) ? v.replace(/\/+$/, "") : undefined),
  fallback,
  form: "an http:// or https:// address",
  help,
});
const whole = (help: string, fallback: number, min: number, max: number): Variable<number> => ({
  parse: (v) => (/^-?\d+$/.test(v) && Number(v) >= min && Number(v) <= max ? Number(v) : undefined),
  fallback,
  form: `a whole number from ${min} to ${max}`,
  help,
});
const flag = (help: string, fallback: boolean): Variable<boolean> => ({
  parse: (v) => (/^(1|true|yes|on)$/i.test(v) ? true : /^(0|false|no|off|)$/i.test(v) ? false : undefined),
  fallback,
  form: "true or false",
  help,
});
const choice = <const T extends string>(help: string, values: readonly T[], fallback: NoInfer<T>): Variable<T> => ({
  parse: (v) => values.find((x) => x === v),
  fallback,
  form: values.join(" or "),
  help,
});
const networks = (help: string): Variable<string[]> => ({
  parse: (v) => (addressProblem(v) ? undefined : v.split(/[\s,]+/).filter(Boolean)),
  fallback: [],
  form: "a comma-separated list of addresses and networks",
  help,
});

export const variables = {
  PORT: whole("Port of the console, /api and /v1.", 3000, 0, 65535),
  WEIR_HOST: text("Address to listen on.", "0.0.0.0"),
  WEIR_DATA_DIR: text(
    "Folder of the SQLite database, the secret file and backups; with Postgres too of the journal of unsettled calls.",
    "./data",
  ),
  DATABASE_URL: text("postgres://… to use Postgres; empty means SQLite in the data folder.", "", true),
  REDIS_URL: text("redis://… to count limits in a single Redis server, for all instances; optional.", "", true),
  WEIR_ROOT_USERNAME: text("With WEIR_ROOT_PASSWORD: does the set-up unattended on an empty database."),
  WEIR_ROOT_PASSWORD: text("See WEIR_ROOT_USERNAME.", "", true),
  WEIR_SECRET: text(
    "Master secret (at least 16 characters). Empty: one is made and kept in the data folder.",
    "",
    true,
  ),
  WEIR_NEW_SECRET: text("The next master secret, for `weir secret rotate`; empty: one is made.", "", true),
  WEIR_SQLITE_SYNC: choice(
    "full: a power cut loses nothing, at the price of a disk wait per commit.",
    ["normal", "full"],
    "normal",
  ),
  WEIR_PG_POOL: whole("Postgres connections of this process.", 20, 2, 500),
  WEIR_SERVER_ADDRESS: url(
    "Address that browsers open the console by, such as https://weir.example: stands in the set-up link, and requests of its pages are accepted whatever Host a proxy sends. The unattended set-up stores it as the option ServerAddress.",
    "",
  ),
  WEIR_TRUSTED_PROXIES: networks(
    "Addresses or networks whose X-Forwarded-For, -Proto and -Host are believed, such as 127.0.0.1,10.0.0.0/8.",
  ),
  WEIR_LOG_LEVEL: choice("Least level that is logged.", ["debug", "info", "warn", "error", "silent"], "info"),
  WEIR_LOG_FORMAT: choice("auto: JSON lines, readable text on a terminal.", ["auto", "json", "pretty"], "auto"),
  WEIR_METRICS_TOKEN: text(
    "Bearer token of /metrics. Without it and WEIR_METRICS_ADDRESSES nobody may read the page.",
    "",
    true,
  ),
  WEIR_METRICS_ADDRESSES: networks(
    "Addresses or networks that may read /metrics without the token. The socket's address counts: a proxy that is listed lets all of its callers in.",
  ),
  WEIR_OTLP_ENDPOINT: text(
    "Address of an OpenTelemetry collector (OTLP over HTTP), such as http://collector:4318. Empty: no traces.",
  ),
  WEIR_OTLP_HEADERS: text("Headers for the collector: name=value, comma-separated, values percent-encoded.", "", true),
  WEIR_OTLP_SAMPLE_PERCENT: whole("Share of the calls that are traced when their caller has not decided.", 100, 0, 100),
  WEIR_API_RATE_LIMIT: whole("Calls of /api per client address in 180 seconds; 0 = no limit.", 180, 0, 1_000_000),
  WEIR_CRITICAL_RATE_LIMIT: whole(
    "Sign-in, register, reset and similar calls per client address in 20 minutes; 0 = no limit.",
    20,
    0,
    1_000_000,
  ),
  WEIR_MAX_BODY_MB: whole("Largest request body of /v1, in MB.", 64, 1, 4096),
  WEIR_STALL_SECONDS: whole(
    "How long a request with a body may take, from its head to its answer, whose caller is not known by a key or a session.",
    30,
    1,
    255,
  ),
  WEIR_WORKERS: whole("Processes on one port; more than 1 needs Postgres.", 1, 1, 64),
  WEIR_WORKER: text("Set by Weir itself in each process that WEIR_WORKERS starts."),
  WEIR_DRAIN_SECONDS: whole(
    "After SIGTERM /readyz answers 503 this long while calls are still served, so that balancers turn away.",
    1,
    0,
    300,
  ),
  WEIR_SHUTDOWN_SECONDS: whole("How long running calls may finish after SIGTERM.", 30, 0, 3600),
  CHANNEL_TEST_FREQUENCY: whole("Minutes between two tests of all channels; 0 = only when asked for.", 0, 0, 525_600),
  CHANNEL_UPDATE_FREQUENCY: whole(
    "Minutes between two updates of all balances; 0 = only when asked for.",
    0,
    0,
    525_600,
  ),
  WEIR_STRIPE_API: text(
    "Address of the Stripe API; another one for tests against a stand-in.",
    "https://api.stripe.com",
  ),
  WEIR_GITHUB_URL: url(
    "Where people sign in by GitHub; a GitHub Enterprise Server has an address of its own.",
    "https://github.com",
  ),
  WEIR_LINUXDO_URL: url("Where people sign in by LinuxDO.", "https://connect.linux.do"),
  WEIR_TURNSTILE_URL: text(
    "Where Turnstile tokens are checked; another address for tests against a stand-in.",
    "https://challenges.cloudflare.com/turnstile/v0/siteverify",
  ),
  WEIR_ALLOW_PRIVATE_FETCH: flag(
    "Let addresses typed by users (webhooks, model lists) lead into private networks.",
    false,
  ),
} satisfies Record<string, Variable<unknown>>;

type Variables = typeof variables;
export type Env = { [K in keyof Variables]: Variables[K]["fallback"] } & {
  /** Absolute data folder. */
  dataDir: string;
  /** The url of openDb. */
  databaseUrl: string;
};

/** Read by scripts and tests, which pass their environment on to servers. */
const OF_TESTS = new Set(["WEIR_REQUIRE_ALL", "WEIR_CHROMIUM", "WEIR_TEST_POSTGRES_URL"]);

export class BadEnvironment extends CannotStart {}

/** Reads the environment. Throws BadEnvironment with all problems at once; `warn` is called for unknown WEIR_ names. */
export function readEnv(source: Record<string, string | undefined>, warn: (message: string) => void = () => {}): Env {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(variables) as [string, Variable<unknown>][]) {
    const given = source[name];
    if (given === undefined || given === "") {
      values[name] = variable.fallback;
      continue;
    }
    const value = variable.parse(given.trim());
    if (value === undefined)
      problems.push(`${name} must be ${variable.form}${variable.secret ? "" : `, not "${given}"`}`);
    values[name] = value;
  }
  for (const name of Object.keys(source)) {
    if (name.startsWith("WEIR_") && !(name in variables) && !OF_TESTS.has(name))
      warn(`Unknown environment variable ${name} (see docs/generated/env.md)`);
  }
  const env = values as Env;
  if (env.DATABASE_URL && !/^postgres(ql)?:\/\//.test(env.DATABASE_URL))
    problems.push("DATABASE_URL must begin with postgres://");
  if (env.REDIS_URL && !/^rediss?:\/\//.test(env.REDIS_URL)) problems.push("REDIS_URL must begin with redis://");
  if (
    env.WEIR_OTLP_ENDPOINT &&
    !(/^https?:\/\//.test(env.WEIR_OTLP_ENDPOINT) && URL.canParse(env.WEIR_OTLP_ENDPOINT))
  ) {
    problems.push("WEIR_OTLP_ENDPOINT must be an http:// or https:// address");
  }
  if (env.WEIR_SECRET && env.WEIR_SECRET.length < 16) problems.push("WEIR_SECRET must have at least 16 characters");
  if (Boolean(env.WEIR_ROOT_USERNAME) !== Boolean(env.WEIR_ROOT_PASSWORD)) {
    problems.push("WEIR_ROOT_USERNAME and WEIR_ROOT_PASSWORD must be set together");
  }
  if (env.WEIR_ROOT_PASSWORD && (env.WEIR_ROOT_PASSWORD.length < 8 || env.WEIR_ROOT_PASSWORD.length > 72)) {
    problems.push("WEIR_ROOT_PASSWORD must have 8 to 72 characters");
  }
  if (env.WEIR_WORKERS > 1 && env.PORT === 0) problems.push("WEIR_WORKERS above 1 needs a fixed PORT");
  if (env.WEIR_WORKERS > 1 && !env.DATABASE_URL) problems.push("WEIR_WORKERS above 1 needs DATABASE_URL (Postgres)");
  if (problems.length) throw new BadEnvironment(problems.join("\n"));
  env.dataDir = resolve(env.WEIR_DATA_DIR);
  env.databaseUrl = env.DATABASE_URL || join(env.dataDir, "weir.db");
  return env;
}
