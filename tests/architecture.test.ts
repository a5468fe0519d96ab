/**
 * The rules of ARCHITECTURE.md as tests. A failure names the file and the broken rule; every exception is a line in one
 * of the lists here, with its reason.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { channelTypes } from "../src/shared/channel-types";
import { circles, ROOT, type SourceFile, sourceFiles } from "./kit/imports";

interface Room {
  name: string;
  files: RegExp;
  /** The project's own files that the room may import, types included. */
  may: RegExp;
  /** Packages and built-ins that the room must not load. */
  not?: RegExp;
  why: string;
}

/**
 * The rooms of src/server from top to bottom. A file imports from its own room or a lower one, types included; rooms on
 * one line are siblings, and do not import each other.
 */
const SERVER_ROOMS = [
  ["main"],
  ["serve"],
  ["app", "commands"],
  ["wiring", "jobs", "router"],
  ["features"],
  ["http"],
  ["relay"],
  ["contracts"],
  ["cluster"],
  ["protocol", "db"],
  ["env", "version"],
  ["lib"],
] as const;

/** The same for src/server/relay. */
const RELAY_ROOMS = [
  ["entry"],
  ["tasks"],
  ["realtime", "endpoints", "delivery"],
  ["upstream"],
  ["billing"],
  ["admission"],
  ["response"],
  ["call"],
  ["routing"],
  ["providers"],
  ["operations"],
] as const;

const SERVER_BUILTINS = /^(node:|bun$|bun:)/;

/** Rules of a room beyond the order of the rooms. The first entry that matches a file applies. */
const ROOMS: Room[] = [
  {
    name: "shared",
    files: /^src\/shared\//,
    may: /^src\/shared\//,
    not: SERVER_BUILTINS,
    why: "facts import nothing of ours and run in the browser as well as on the server",
  },
  {
    name: "client",
    files: /^src\/client\//,
    may: /^src\/(client|shared)\/|^locales\/|^src\/server\/router\.ts$/,
    not: SERVER_BUILTINS,
    why: "the console knows the type of the server's router only",
  },
  {
    name: "lib",
    files: /^src\/server\/lib\//,
    may: /^src\/(server\/lib|shared)\//,
    why: "lib holds small tools without product words",
  },
  {
    name: "protocol",
    files: /^src\/server\/protocol\//,
    may: /^src\/(server\/(protocol|lib)|shared)\//,
    not: /^(node:(?!util$|zlib$|buffer$)|bun$|bun:|drizzle-orm|elysia|@trpc)/,
    why: "translations need no database, feature, clock or network: files are enough to test them",
  },
  {
    name: "contracts",
    files: /^src\/server\/contracts\//,
    may: /^src\/(server\/(contracts|cluster|protocol|db|lib)\/|shared\/)|^src\/server\/env\.ts$/,
    not: /^(node:|bun$|bun:|drizzle-orm|elysia|@trpc)/,
    why: "contracts are types that the relay and the features stand on",
  },
  {
    name: "relay",
    files: /^src\/server\/relay\//,
    may: /^src\/(server\/(relay|contracts|protocol|lib)\/|shared\/)|^src\/server\/version\.ts$/,
    not: /^(bun:sqlite|drizzle-orm|@trpc)/,
    why: "the data plane meets the control plane in contracts/control-plane.ts and nowhere else; it knows no database",
  },
  {
    name: "routers",
    files: /^src\/server\/features\/[^/]+\/router\.ts$/,
    may: /^src\/(server\/(features\/[^/]+\/(?!router\.)|(http|lib|contracts)\/)|shared\/)/,
    not: /^(bun:sqlite|drizzle-orm)/,
    why: "a router calls its feature's verbs: database access and other routers do not belong into it",
  },
  {
    // relay/providers: channel tests and model lists use the same addresses as calls; relay/call: metrics and traces
    // read an ended call.
    name: "features",
    files: /^src\/server\/features\//,
    may: /^src\/(server\/(features\/[^/]+\/(?!router\.)|(db|lib|cluster|http|contracts|protocol|relay\/(providers|call))\/)|shared\/)|^src\/server\/(env|version)\.ts$/,
    not: /^elysia/,
    why: "a feature does not know the routers, nor how the relay makes a call",
  },
];

/** Run while bundling (`with { type: "macro" }`): only their result is in the bundle. */
const MACROS = new Set(["scripts/plugins/logo-sprite.ts"]);

/** Files over 400 lines, with the reason not to split them. */
const LONG_FILES: Record<string, string> = {
  "src/shared/channel-types.ts": "one entry a vendor: a table",
  "src/shared/options.ts": "one line an option: a table",
  "src/shared/channel-setting.ts": "one entry a member with its words: a table",
  "src/server/db/schema.ts": "every table: one thing a migration is made of",
  "src/shared/model-prices.ts": "one line a price, with its source: a table",
  "src/server/protocol/vendor-errors.ts": "one entry an error, with its source: a table",
};

/** `any` and non-null `!` outside tests: how many, and why. New ones need a reason here. */
const ESCAPES: Record<string, { any?: number; bang?: number; why: string }> = {
  "src/client/lib/url-state.ts": { any: 1, why: "a record whose parameters have a type each" },
};

/** Files besides lib/sse.ts that may write events, with the reason. */
const EVENT_WRITERS: Record<string, string> = {
  "src/server/features/demo/answer.ts": "plays an upstream: it writes what lib/sse.ts reads",
};

const source = sourceFiles("src/**/*.{ts,tsx}");
const server = source.filter((file) => file.path.startsWith("src/server/"));
const isOurs = (name: string): boolean => /^(src|tests|scripts|locales|drizzle)\//.test(name);

/** The matching lines of code without comments: `path:line: text`. */
function linesWith(files: SourceFile[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    file.text.split("\n").flatMap((line, index) => {
      const isComment = /^\s*(\/\/|\*|\/\*)/.test(line);
      return !isComment && pattern.test(line) ? [`${file.path}:${index + 1}: ${line.trim()}`] : [];
    }),
  );
}

/** The room of a path below `folder`: its subfolder, or the file itself. */
function roomOf(path: string, folder: string): string | undefined {
  if (!path.startsWith(folder)) return undefined;
  return path.slice(folder.length).replace(/(\/.*|\.tsx?)$/, "");
}

/** Imports that break the order of the rooms of a folder, each as a sentence. */
function againstTheOrder(folder: string, rooms: readonly (readonly string[])[]): string[] {
  const height = (room: string): number => rooms.findIndex((line) => line.includes(room));
  return source.flatMap((file) => {
    const from = roomOf(file.path, folder);
    if (from === undefined) return [];
    return file.names.flatMap((name) => {
      const to = roomOf(name, folder);
      if (to === undefined || to === from || height(to) > height(from)) return [];
      const way = height(to) === height(from) ? "is its sibling" : "stands above it";
      return [`${file.path} imports ${name}: ${folder}${to} ${way} (${folder}${from})`];
    });
  });
}

describe("who may import whom", () => {
  for (const [folder, rooms] of [
    ["src/server/", SERVER_ROOMS],
    ["src/server/relay/", RELAY_ROOMS],
  ] as const) {
    test(`${folder}: every file lies in one of the rooms, and every room is there`, () => {
      const there = new Set(source.flatMap(({ path }) => roomOf(path, folder) ?? []));
      expect([...there].sort()).toEqual([...rooms.flat()].sort());
    });

    test(`${folder}: imports go down the rooms, types included`, () => {
      expect(againstTheOrder(folder, rooms)).toEqual([]);
    });
  }

  test("no file imports itself by way of others, types included", () => {
    const files = [...source, ...sourceFiles("scripts/**/*.ts")];
    expect(circles(files).map((path) => path.join(" -> "))).toEqual([]);
  });

  for (const room of ROOMS) {
    test(`${room.name}: ${room.why}`, () => {
      const faults = source
        .filter((file) => ROOMS.find((candidate) => candidate.files.test(file.path)) === room)
        .flatMap((file) =>
          [
            ...file.names.filter((name) => isOurs(name) && !room.may.test(name) && !MACROS.has(name)),
            ...file.imports.filter((name) => !isOurs(name) && room.not?.test(name) === true),
          ].map((name) => `${file.path} imports ${name}: ${room.why}`),
        );
      expect(faults).toEqual([]);
    });
  }

  test("contracts do nothing: they are types, constants, and the seconds of a clock", () => {
    const values = linesWith(
      server.filter((file) => file.path.startsWith("src/server/contracts/")),
      /^export (?!type |interface |const [A-Z_]+: )/,
    );
    expect(values.filter((line) => !line.includes("export const seconds"))).toEqual([]);
  });

  test("nothing that ships imports tests or scripts", () => {
    const faults = source.flatMap((file) =>
      file.imports
        .filter((name) => /^(tests|scripts)\//.test(name) && !MACROS.has(name))
        .map((name) => `${file.path} imports ${name}`),
    );
    expect(faults).toEqual([]);
  });

  test("no util folders and no barrel files: a name says what a file contains, and a definition has one path", () => {
    const drawers = source.filter((file) => /\/(utils?|helpers?|managers?|common|misc)(\/|\.tsx?$)/.test(file.path));
    const barrels = source.filter((file) => {
      const code = file.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").trim();
      // A barrel of types alone loads nothing.
      return code.replace(/export (\*|\{[^}]*\})( as \w+)? from "[^"]+";?/g, "").trim() === "" && code !== "";
    });
    expect([...drawers, ...barrels].map((file) => file.path)).toEqual([]);
  });
});

describe("one definition of each fact", () => {
  const outsideRegistry = source.filter((file) => !file.path.startsWith("src/shared/channel-types"));

  test("no code compares a channel type's number: differences are fields of its entry", () => {
    const left = String.raw`\b(channel_?type|type\.id|(channel|row|type)\.type|type_id)\s*(===|!==|==|!=)\s*\d+`;
    const list = String.raw`\[\s*\d+(\s*,\s*\d+)+\s*\]\.includes\((channel_?type|type\.id|\w*\.type)\b`;
    expect(linesWith(outsideRegistry, new RegExp(`${left}|${list}`, "i"))).toEqual([]);
  });

  test("no code compares a provider's name: differences are fields of its entry", () => {
    // A dialect may have its inventor's name; protocol/dialects compares dialects.
    const dialects = new Set<string>(channelTypes.map((type) => type.dialect));
    const keys = channelTypes.map((type) => type.key).filter((key) => !dialects.has(key));
    const names = `"(${keys.join("|")})"`;
    const compared = String.raw`\b(type|provider|channel|vendor)\w*(\.key)?\s*[=!]==?\s*${names}`;
    expect(linesWith(outsideRegistry, new RegExp(`${compared}|\\bcase ${names}`, "i"))).toEqual([]);
  });

  test("events are read and written by lib/sse.ts alone", () => {
    const parsers = linesWith(
      server.filter((file) => file.path !== "src/server/lib/sse.ts" && !(file.path in EVENT_WRITERS)),
      /["'`]data: ?(["'`{[$]|\\n|\\r)|text\/event-stream.*split\(|startsWith\(["'`]data:/,
    );
    // A data URL is not an event.
    expect(parsers.filter((line) => !line.includes(";base64,"))).toEqual([]);
  });
});

describe("console", () => {
  test("lazy parts load through lib/lazy.tsx: React's own fallback blocks the page for 300 ms", () => {
    const client = source.filter((file) => file.path.startsWith("src/client/"));
    expect(linesWith(client, /import [^;]*\b(lazy|Suspense)\b[^;]*from "react"|\buseSuspense/)).toEqual([]);
  });
});

describe("database", () => {
  test("no query in a router or in the tree: verbs live in services", () => {
    const doors = server.filter((file) =>
      /\/router\.ts$|^src\/server\/(app|router)\.ts$|^src\/server\/http\//.test(file.path),
    );
    const allowed = new Set([
      "src/server/http/session.ts", // finds the caller
      "src/server/http/answered.ts", // keeps the answers of every procedure's repeated requests, so it is below them all
    ]);
    expect(
      linesWith(
        doors.filter((file) => !allowed.has(file.path)),
        /\bdb\.(q|tx|read)\b/,
      ),
    ).toEqual([]);
  });

  test("only db/ knows an engine's driver, and only the ledger's two engines have SQL of their own", () => {
    const drivers = server
      .filter((file) => !file.path.startsWith("src/server/db/") && !/ledger\.(sqlite|pg)\.ts$/.test(file.path))
      .filter((file) =>
        file.imports.some((name) => /^(bun:sqlite|drizzle-orm\/(bun|sqlite|pg|node|postgres))/.test(name)),
      );
    expect(drivers.map((file) => file.path)).toEqual([]);
  });
});

describe("what may leave the server", () => {
  test("a presenter names the fields it shows: it never spreads a row", () => {
    const presenters = server.filter((file) => file.path.endsWith("/present.ts"));
    expect(presenters.length).toBeGreaterThan(5);
    const faults = linesWith(presenters, /\.\.\.(rest|row|others)\b/);
    // Members of a JSON text that the relay wrote, not columns.
    expect(faults.filter((line) => !line.includes("admin_info"))).toEqual([]);
  });
});

describe("comments", () => {
  const OLD_WORDS =
    /\b(nobody|somebody|anybody|everybody|whoever|whom|anew|he|him|his|himself|she|her|hence|thence|lest)\b/i;
  const COMMENT = /^\s*(?:\/\/|\/?\*)(.*)|\s\/\/\s(.*)/;
  const files = [...new Bun.Glob("{src,scripts,tests}/**/*.{ts,tsx,mjs}").scanSync({ cwd: ROOT })].sort();

  /** The offending lines of a file: `path:line: text`. */
  const oldWordsIn = (path: string): string[] =>
    readFileSync(join(ROOT, path), "utf8")
      .split("\n")
      .flatMap((line, index) => {
        const [, whole, trailing = ""] = COMMENT.exec(line) ?? [];
        return OLD_WORDS.test(whole ?? trailing) ? [`${path}:${index + 1}: ${line.trim()}`] : [];
      });

  test("comments are in the field's plain words", () => {
    expect(files.flatMap(oldWordsIn)).toEqual([]);
  });
});

describe("size and escapes", () => {
  const lengthOf = (text: string): number => text.trimEnd().split("\n").length;

  test("a file over 400 lines has a stated reason, and the list is not longer than needed", () => {
    const long = [...source, ...sourceFiles("scripts/**/*.ts")]
      .filter((file) => lengthOf(file.text) > 400)
      .map((file) => file.path);
    expect(long.filter((path) => !(path in LONG_FILES))).toEqual([]);
    expect(Object.keys(LONG_FILES).filter((path) => !long.includes(path))).toEqual([]);
  });

  test("no any and no non-null ! beyond those with a stated reason", async () => {
    const oxlint = Bun.spawnSync(
      [
        process.execPath,
        "--bun",
        join(ROOT, "node_modules/.bin/oxlint"),
        "--disable-nested-config",
        "-c",
        "tests/kit/escapes.oxlintrc.json",
        "--format=json",
        "--ignore-pattern",
        "**/*.test.*",
        "src",
        "scripts",
      ],
      { cwd: ROOT },
    );
    const report = JSON.parse(oxlint.stdout.toString()) as {
      number_of_files: number;
      diagnostics: { code: string; filename: string }[];
    };
    expect(report.number_of_files).toBeGreaterThan(100);
    const counts: Record<string, { any: number; bang: number }> = {};
    for (const { code, filename } of report.diagnostics) {
      const count = (counts[filename] ??= { any: 0, bang: 0 });
      count[code.includes("any") ? "any" : "bang"]++;
    }
    const faults = Object.entries(counts).flatMap(([path, { any, bang }]) => {
      const allowed = ESCAPES[path];
      return any > (allowed?.any ?? 0) || bang > (allowed?.bang ?? 0)
        ? [`${path}: ${any} any, ${bang} non-null !`]
        : [];
    });
    expect(faults).toEqual([]);
    expect(Object.keys(ESCAPES).filter((path) => !(path in counts))).toEqual([]);
  });
});

describe("documents", () => {
  const documents = ["*.md", "docs/**/*.md"].flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: ROOT })]).sort();
  const ROOTS = ["", "src", "src/server", "src/client"];

  const exists = (path: string): boolean => {
    // A placeholder such as <noun> stands for any name.
    const pattern = path.replace(/<[^>]*>/g, "*").replace(/\/$/, "");
    return ROOTS.some((root) => {
      const full = join(root, pattern);
      if (!full.includes("*")) return existsSync(join(ROOT, full));
      const found = new Bun.Glob(full).scanSync({ cwd: ROOT, onlyFiles: false, dot: true });
      return found.next().done !== true;
    });
  };

  test("every path that a document names exists", () => {
    const faults = documents.flatMap((document) => {
      const text = readFileSync(join(ROOT, document), "utf8");
      const spans = [...text.matchAll(/`([^`\s]+)`/g)].map((match) => match[1] ?? "");
      const paths = spans.filter(
        (span) =>
          /^(src|docs|scripts|tests|drizzle|locales|deploy|\.ci)\/[\w./<>*-]*$/.test(span) ||
          /^(shared|features|relay|protocol|contracts|wiring|commands|http|db|lib|cluster|shell|ui|components)\/[\w./<>*-]*\.(tsx?|css)$/.test(
            span,
          ),
      );
      const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
        .map((match) => match[1] ?? "")
        .filter((link) => !/^[a-z]+:/.test(link));
      return [
        ...paths.filter((path) => !exists(path)).map((path) => `${document} names ${path}, which does not exist`),
        ...links
          .filter((link) => !existsSync(join(ROOT, dirname(document), link)))
          .map((link) => `${document} links to ${link}, which does not exist`),
      ];
    });
    expect(faults).toEqual([]);
  });

  test("every recipe and decision is found from a document above it", () => {
    const above = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
      .map((name) => join(ROOT, name))
      .filter(existsSync)
      .map((path) => readFileSync(path, "utf8"))
      .join("\n");
    const lost = documents.filter((path) => path.startsWith("docs/recipes/") && !above.includes(path));
    expect(lost).toEqual([]);
    expect(above).toContain("docs/decisions/");
  });
});
