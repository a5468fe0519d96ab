/**
 * Writes docs/generated/*.md from the registries, and NOTICE from the installed packages. `bun run docs` writes,
 * `bun run docs --check` fails when one is stale. They are never edited by hand.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { channelTypes } from "../src/shared/channel-types";
import { errors } from "../src/shared/errors";
import { cards, option, optionKeys } from "../src/shared/options";
import { priceTableKeys } from "../src/shared/pricing";
import { callbackRoutes } from "../src/server/wiring/callbacks";
import { variables } from "../src/server/env";
import { restRoutes } from "../src/server/http/rest";
import { type Ability, features } from "../src/server/protocol/dialects/features";
import { listedRoutes } from "../src/server/relay/entry/routes";
import { upstreamDialects } from "../src/server/protocol/dialects/vendor-dialects";
import { appRouter } from "../src/server/router";
import { OWN_MEMBERS } from "../src/server/protocol/dialects/own-members";
import { failuresPage } from "./failures-page";
import { notice } from "./licenses";
import { withLines } from "./line-links";
import { code, table } from "./markdown";
import { coverageFaults, coveragePage, specCoverage } from "./spec-coverage";

const root = join(import.meta.dir, "..");
const NOTE = "<!-- Written by `bun run docs`; do not edit. -->\n\n";

/** Every file below src/server, for finding who reads an option. */
function serverFiles(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return serverFiles(path);
    return /\.ts$/.test(entry.name) && !/\.test\.ts$/.test(entry.name) ? [path] : [];
  });
}

const sources = serverFiles(join(root, "src/server")).map((path) => ({
  path: path.slice(root.length + 1),
  text: readFileSync(path, "utf8"),
}));

/** Files that name the option's key in a read; a public option is read by GET /api/status. */
function readersOf(key: string): string[] {
  const read = new RegExp(`(?:get|text)\\("${key.replaceAll(".", "\\.")}"\\)`);
  const readers = sources.filter(({ text }) => read.test(text)).map(({ path }) => path);
  // The price book reads the tables of prices by their list.
  if (readers.length === 0 && priceTableKeys.some((name) => name === key))
    readers.push("src/server/features/pricing/price.ts");
  const isPublic = option(key as (typeof optionKeys)[number]).public !== undefined;
  return isPublic ? [...readers, "GET /api/status"] : readers;
}

function optionsPage(): string {
  const rows: string[][] = [];
  for (const key of optionKeys) {
    const fact = option(key);
    const readers = readersOf(key);
    const shown = fact.default.length > 60 ? `${fact.default.slice(0, 57)}…` : fact.default;
    rows.push([
      code(key),
      cards[fact.card].title.en,
      fact.label.en,
      fact.kind,
      code(shown),
      readers.map(code).join(", "),
    ]);
    if (readers.length === 0) throw new Error(`nothing reads the option ${key}`);
  }
  return (
    `# Options\n\n${NOTE}Set in the console or by \`PUT /api/option/\`; every value is text on the wire. The last column names who reads it.\n\n` +
    table(["Key", "Card", "Label", "Kind", "Default", "Read by"], rows)
  );
}

const ability = (said: Ability): string => (said === true ? "yes" : "no" in said ? `no: ${said.no}` : said.partly);

function dialectsPage(): string {
  const dialects = Object.entries(upstreamDialects);
  return (
    `# Dialects\n\n${NOTE}What each chat dialect can say. A feature travels from a caller to a channel when both say yes; what is lost ` +
    "is named in the log row (`other.warnings`). Callers speak the first four; the others are the languages of single vendors.\n\n" +
    table(
      ["Feature", ...dialects.map(([key]) => key)],
      features.map((feature) => [
        feature.replaceAll("_", " "),
        ...dialects.map(([, dialect]) => ability(dialect.features[feature])),
      ]),
    )
  );
}

const coverage = specCoverage(root);

const membersPage = (): string =>
  `# Members of a request\n\n${NOTE}Members that only one dialect has, and what becomes of each at a channel of another dialect. ` +
  `*Refused*: the call goes to a channel of its own dialect, and is an error (400, ${code("member_unsupported")}) where there is none. ` +
  `*Dropped*: the log row names it (${code("other.warnings")}). Members that several dialects have are translated; ` +
  `what a channel's dialect does with each of them is in its ${code("support.ts")}, and what it has no word for is dropped and named. ` +
  `Members that are not listed are dropped and named as well.\n` +
  Object.entries(OWN_MEMBERS)
    .map(
      ([dialect, members]) =>
        `\n## ${dialect}\n\n` +
        table(
          ["Member", "At another dialect", "Meaning"],
          Object.entries(members).map(([name, { fate, meaning, only }]) => [
            code(name),
            only ? `${fate} ${only.values}, else dropped` : fate,
            meaning,
          ]),
        ),
    )
    .join("");

const pages: Record<string, () => string> = {
  "env.md": () =>
    `# Environment variables\n\n${NOTE}A bad value refuses to start and says why; an unknown \`WEIR_\` name warns.\n\n` +
    table(
      ["Name", "Default", "Form", "Meaning"],
      Object.entries(variables).map(([name, v]) => [code(name), code(String(v.fallback)), v.form, v.help]),
    ),
  "options.md": optionsPage,
  "dialects.md": dialectsPage,
  "members.md": membersPage,
  "errors.md": () =>
    `# Errors\n\n${NOTE}Status is that of /v1 and tRPC; /api answers 200 unless its own status is named.\n\n` +
    table(
      ["Code", "Status", "/api", "Owner", "English", "Chinese"],
      Object.entries(errors).map(([name, f]) => [
        code(name),
        String(f.status),
        "api_status" in f ? String(f.api_status) : "200",
        f.owner,
        f.text.en,
        f.text.zh,
      ]),
    ),
  "failures.md": () => `# Failures\n\n${NOTE}${failuresPage()}`,
  "routes.md": () =>
    `# Routes\n\n${NOTE}Every path answers with and without a trailing slash. The console calls the procedures by tRPC.\n\n## /api\n\n` +
    table(
      ["Route", "Procedure", "Meaning"],
      restRoutes(appRouter).map((r) => [code(`${r.method} ${r.path}`), code(r.procedure), r.meta.summary ?? ""]),
    ) +
    "\n## Calls of third parties\n\n" +
    table(
      ["Route", "Meaning"],
      callbackRoutes.map((d) => [code(`${d.method} ${d.path}`), d.summary]),
    ) +
    "\n## Models\n\n" +
    table(
      ["Route", "Operation"],
      listedRoutes.map((r) => [code(`${r.method} ${r.path}`), r.operation]),
    ),
  "channel-types.md": () =>
    `# Channel types\n\n${NOTE}` +
    table(
      ["Id", "Name", "Dialect", "Address", "Key", "Operations"],
      channelTypes.map((t) => [
        String(t.id),
        t.name.en,
        t.dialect,
        code(t.base_url),
        code(t.key_format.hint.en),
        t.operations.join(", "),
      ]),
    ),
  "spec-coverage.md": () =>
    `# Coverage of the specification\n\n${NOTE}Each requirement and the tests that prove it: the mark \`// spec: id\` stands at the assertion. ` +
    `Requirements are in \`tests/spec/requirements.tsv\`, what no test shows in \`tests/spec/unproven/\`.\n\n${coveragePage(coverage)}`,
};

/** Pages written by hand whose links name lines of the code. */
const LINKED = ["docs/tour.md"];

const check = process.argv.includes("--check");
const faults = coverageFaults(coverage);
for (const fault of faults) console.error(fault);
let stale = 0;
const written = [
  ...Object.entries(pages).map(([name, render]) => ({ name: `docs/generated/${name}`, text: render() })),
  { name: "NOTICE", text: notice(root) },
  ...LINKED.map((name) => ({ name, text: withLines(root, name, readFileSync(join(root, name), "utf8")) })),
];
for (const { name, text } of written) {
  const path = join(root, name);
  if (!check) {
    await Bun.write(path, text);
    continue;
  }
  const old = await Bun.file(path)
    .text()
    .catch(() => "");
  if (old !== text) {
    stale++;
    console.error(`${name} is stale: run \`bun run docs\``);
  }
}
process.exit(stale + faults.length > 0 ? 1 : 0);
