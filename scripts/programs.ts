/** Programs that some tests need besides Bun, and how to get each. */
import { existsSync } from "node:fs";
import { findChromium, HOW_TO_GET_CHROMIUM } from "./chromium";

export type Program = "chromium" | "mariadbd" | "nginx" | "pgbouncer" | "redis-server";

/** Debian keeps servers off the path of ordinary users. */
const findServer = (name: string): string | undefined =>
  Bun.which(name) ??
  ["/usr/sbin", "/usr/local/sbin"].map((folder) => `${folder}/${name}`).find((path) => existsSync(path));

export const PROGRAMS: Readonly<
  Record<Program, { readonly find: () => string | undefined; readonly for: string; readonly how: string }>
> = {
  chromium: { find: findChromium, for: "the console in a browser", how: HOW_TO_GET_CHROMIUM },
  mariadbd: {
    find: () => findServer("mariadbd"),
    for: "an import from MySQL and MariaDB",
    how: "Install it (Debian, Ubuntu: apt-get install mariadb-server).",
  },
  nginx: {
    find: () => findServer("nginx"),
    for: "the console and streams behind an nginx",
    how: "Install it (Debian, Ubuntu: apt-get install nginx-light).",
  },
  pgbouncer: {
    find: () => findServer("pgbouncer"),
    for: "Postgres behind a pooler",
    how: "Install it (Debian, Ubuntu: apt-get install pgbouncer).",
  },
  "redis-server": {
    find: () => Bun.which("redis-server") ?? undefined,
    for: "counters shared through Redis",
    how: "Install it (Debian, Ubuntu: apt-get install redis-server).",
  },
};

/** In a CI, and where everything is asked for (.ci/run), a test that cannot run is a failure. */
export const isEverythingRequired = (env: Readonly<Record<string, string | undefined>> = process.env): boolean =>
  env.WEIR_REQUIRE_ALL === "1" || /^(1|true)$/i.test(env.CI ?? "");

/** What to say of a program that is not there. */
export const missingProgram = (name: Program): string =>
  `${PROGRAMS[name].for}: no ${name} was found. ${PROGRAMS[name].how}`;
