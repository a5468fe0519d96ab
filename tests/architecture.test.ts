/**
 * The rules of ARCHITECTURE.md as tests. Each failure names the file, what it does, and why that is refused; an
 * exception is a line in one of the lists here, with its reason.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { channelTypes } from "../src/shared/channel-types";
import { ROOT, type SourceFile, sourceFiles } from "./kit/imports";

interface Room {
  name: string;
  files: RegExp;
  /** What of ours the room may load; types are free. */
  may: RegExp;
  /** Packages and built-ins that the room must not load. */
  not?: RegExp;
  why: string;
}

const SERVER_BUILTINS = /^(node:|bun$|bun:)/;
const PURE_RELAY =
  /^src\/server\/relay\/(events|sse|body|json|failures|translate|tally|usage-check|hidden-turns|dialects\/.*)\b/;

/** In order: the first room that a file matches is its room. */
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
    may: /^src\/(client|shared)\/|^locales\//,
    not: SERVER_BUILTINS,
    why: "the console knows the server's types only; server code must not reach the browser",
  },
  {
    name: "lib",
    files: /^src\/server\/lib\//,
    may: /^src\/(server\/lib|shared)\//,
    why: "lib holds small tools without product words: it imports shared only",
  },
  {
    name: "db",
    files: /^src\/server\/db\//,
    may: /^src\/(server\/(db|lib)|shared)\//,
    why: "the database knows no feature: db imports lib and shared only",
  },
  {
    name: "cluster",
    files: /^src\/server\/cluster\//,
    may: /^src\/(server\/(cluster|db|lib)|shared)\//,
    why: "what instances agree on is below the features: cluster imports db, lib and shared only",
  },
  {
    name: "pure relay",
    files: PURE_RELAY,
    may: new RegExp(`${PURE_RELAY.source}|^src/shared/`),
    not: /^(node:(?!util$|zlib$|buffer$)|bun$|bun:|drizzle-orm|elysia|@trpc)/,
    why: "translations need no database, feature, clock or network: files are enough to test them",
  },
  {
    name: "relay",
    files: /^src\/server\/relay\//,
    may: /^src\/(server\/(relay|lib)|shared)\/|^src\/server\/version\.ts$/,
    not: /^(bun:sqlite|drizzle-orm|@trpc)/,
    why: "the data plane meets the control plane at the five seams (contracts/control-plane.ts) and nowhere else",
  },
  {
    name: "doors",
    files: /^src\/server\/features\/[^/]+\/router\.ts$/,
    may: /^src\/(server\/(features\/[^/]+\/(?!router\.)|(http|lib)\/)|shared\/)/,
    not: /^(bun:sqlite|drizzle-orm)/,
    why: "a door calls its feature's verbs: database access and other doors do not belong into a router",
  },
  {
    // relay/providers: a channel test and a model list go where the relay's calls go, and its pure parts judge the
    // answer.
    name: "features",
    files: /^src\/server\/features\//,
    may: /^src\/(server\/(features\/[^/]+\/(?!router\.)|(db|lib|cluster|http|relay\/(providers|dialects))\/|relay\/(failures|failed|sse)\.ts$)|shared\/)|^src\/server\/(context|env|version)\.ts$/,
    not: /^elysia/,
    why: "a feature imports db, lib, cluster, shared and other features' verbs, never a door or the tree above it",
  },
  {
    name: "http",
    files: /^src\/server\/http\//,
    may: /^src\/(server\/(http|lib|db)|shared)\/|^src\/server\/(context|version|env)\.ts$|^src\/server\/relay\/routes(\.ts)?$/,
    why: "http/ turns requests into calls: it knows no feature",
  },
];

/** Run while bundling (`with { type: "macro" }`); what they return is in the bundle, they are not. */
const MACROS = new Set(["scripts/plugins/logo-sprite.ts"]);

/** Longer than 400 lines, and why splitting them would hide more than it shows. */
const LONG_FILES: Record<string, string> = {
  "src/shared/channel-types.ts": "one entry a vendor: a table",
  "src/shared/options.ts": "one line an option: a table",
  "src/server/db/schema.ts": "every table: one thing a migration is made of",
  "src/shared/model-prices.ts": "one line a price, with its source: a table",
};

/** `any` and non-null `!` outside tests: how many, and why. New ones need a reason here. */
const ESCAPES: Record<string, { any?: number; bang?: number; why: string }> = {
  "src/client/lib/url-state.ts": { any: 1, why: "a record whose parameters have a type each" },
};

/** Besides lib/sse.ts, who may write events, and why. */
const EVENT_WRITERS: Record<string, string> = {
  "src/server/features/demo/answer.ts": "plays an upstream: it writes what lib/sse.ts reads",
};

const source = sourceFiles("src/**/*.{ts,tsx}");
const server = source.filter((file) => file.path.startsWith("src/server/"));
const isOurs = (name: string): boolean => /^(src|tests|scripts|locales|drizzle)\//.test(name);

/** The lines of code that match, comments left out: `path:line: text`. */
function linesWith(files: SourceFile[], pattern: RegExp): string[] {
  return files.flatMap((file) =>
    file.text.split("\n").flatMap((line, index) => {
      const isComment = /^\s*(\/\/|\*|\/\*)/.test(line);
      return !isComment && pattern.test(line) ? [`${file.path}:${index + 1}: ${line.trim()}`] : [];
    }),
  );
}

describe("who may import whom", () => {
  for (const room of ROOMS) {
    test(`${room.name}: ${room.why}`, () => {
      const faults = source
        .filter((file) => ROOMS.find((candidate) => candidate.files.test(file.path)) === room)
        .flatMap((file) =>
          file.imports
            .filter((name) =>
              isOurs(name) ? !room.may.test(name) && !MACROS.has(name) : room.not?.test(name) === true,
            )
            .map((name) => `${file.path} imports ${name}: ${room.why}`),
        );
      expect(faults).toEqual([]);
    });
  }

  test("nothing that ships imports tests or scripts", () => {
    const faults = source.flatMap((file) =>
      file.imports
        .filter((name) => /^(tests|scripts)\//.test(name) && !MACROS.has(name))
        .map((name) => `${file.path} imports ${name}`),
    );
    expect(faults).toEqual([]);
  });

  test("a source file belongs to a room or is one of the files at the root of a half", () => {
    const homeless = source
      .map((file) => file.path)
      .filter((path) => {
        const atRoot = /^src\/server\/([^/]+|commands\/[^/]+)$/.test(path);
        return !atRoot && !ROOMS.some((room) => room.files.test(path));
      });
    expect(homeless).toEqual([]);
  });

  test("no drawers and no barrels: a name says what is inside, and one file says where a thing is", () => {
    const drawers = source.filter((file) => /\/(utils?|helpers?|managers?|common|misc)(\/|\.tsx?$)/.test(file.path));
    const barrels = source.filter((file) => {
      const code = file.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").trim();
      // A door for types alone loads nothing.
      return code.replace(/export (\*|\{[^}]*\})( as \w+)? from "[^"]+";?/g, "").trim() === "" && code !== "";
    });
    expect([...drawers, ...barrels].map((file) => file.path)).toEqual([]);
  });
});

describe("one definition of each fact", () => {
  const outsideRegistry = source.filter((file) => !file.path.startsWith("src/shared/channel-types"));

  test("nobody compares with a channel type's number: what differs is a field of its entry", () => {
    const left = String.raw`\b(channel_?type|type\.id|(channel|row|type)\.type|type_id)\s*(===|!==|==|!=)\s*\d+`;
    const list = String.raw`\[\s*\d+(\s*,\s*\d+)+\s*\]\.includes\((channel_?type|type\.id|\w*\.type)\b`;
    expect(linesWith(outsideRegistry, new RegExp(`${left}|${list}`, "i"))).toEqual([]);
  });

  test("nobody compares with a provider's name: what differs is a field of its entry", () => {
    // A dialect may have the name of its inventor; comparing dialects is what relay/dialects is for.
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
    // A file inside an address is no event.
    expect(parsers.filter((line) => !line.includes(";base64,"))).toEqual([]);
  });
});

describe("console", () => {
  test("what is fetched late waits by lib/lazy.tsx: behind React's own placeholder everything stands still for 300 ms", () => {
    const client = source.filter((file) => file.path.startsWith("src/client/"));
    expect(linesWith(client, /import [^;]*\b(lazy|Suspense)\b[^;]*from "react"|\buseSuspense/)).toEqual([]);
  });
});

describe("database", () => {
  test("no query in a router or in the tree: verbs live in services", () => {
    const doors = server.filter((file) =>
      /\/router\.ts$|^src\/server\/(app|router)\.ts$|^src\/server\/http\//.test(file.path),
    );
    const allowed = new Set(["src/server/http/session.ts"]); // finds the caller; the one door that reads a row
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
          /^(shared|features|relay|http|db|lib|cluster|shell|ui|components)\/[\w./<>*-]*\.(tsx?|css)$/.test(span),
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
