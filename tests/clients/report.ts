/** The page of a certification: what each client did at its vendor and on four upstreams. */
import { UPSTREAM_KEYS, UPSTREAMS, type Upstream } from "./bench";
import type { Client } from "./client";
import { SCENARIOS, type Verdict } from "./verdict";
import { FATES, type Fate } from "./vendors/server";
import { VENDORS } from "./vendors/vendors";

/** A judged cell; `at` is "direct" for the baseline. */
export interface Cell extends Verdict {
  readonly client: string;
  readonly version: string;
  readonly fate: Fate;
  readonly at: "direct" | Upstream;
  readonly seconds: number;
}

export const cellName = ({ client, fate, at }: Pick<Cell, "client" | "fate" | "at">): string =>
  `${client} / ${at} / ${fate}`;

const line = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");

/** Paths, ports and numbers that differ from run to run stay out of the page. */
const steady = (text: string): string =>
  text
    .replaceAll(/\(request id: \w+\)/g, "")
    .replaceAll(/strict\d{6}/g, "…")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1")
    .replaceAll(/\/tmp\/[\w./-]+/g, "…")
    .replaceAll(/\s+/g, " ")
    .trim();

/** "ok", "7 of 8", or "–" where nothing was judged. */
function summary(cells: readonly Cell[]): string {
  const judged = cells.filter(({ verdict }) => verdict !== "not judged");
  const good = judged.filter(({ verdict }) => verdict === "ok").length;
  if (judged.length === 0) return "–";
  return good === judged.length ? `ok (${good})` : `**${good} of ${judged.length}**`;
}

function grouped(cells: readonly Cell[], textOf: (cell: Cell) => string): string[] {
  const groups = Map.groupBy(cells, textOf);
  return [...groups].map(([text, same]) => {
    const where = Map.groupBy(same, ({ client }) => client);
    const names = [...where].map(([client, own]) => `${client} (${[...new Set(own.map(({ at }) => at))].join(", ")})`);
    return `- ${text}: ${names.join("; ")}`;
  });
}

/** docs/clients.md. */
export function clientsPage(clients: readonly Client[], cells: readonly Cell[], date: string): string {
  const of = (client: Client, at: Cell["at"]) => cells.filter((cell) => cell.client === client.name && cell.at === at);
  const failed = cells.filter(({ verdict, at }) => verdict === "FAIL" && at !== "direct");
  const own = cells.filter(({ verdict, at }) => verdict === "FAIL" && at === "direct");
  const remarks = cells.flatMap((cell) => cell.remarks.map((remark) => ({ ...cell, cause: remark })));
  const rules = Object.entries(VENDORS).flatMap(([vendor, { rules }]) =>
    rules.map(({ name, source }) => [
      vendor,
      name,
      source ? `<${source.at}>, ${source.date}` : "none: it only leaves a remark",
    ]),
  );
  const list = (items: readonly string[]): string => (items.length > 0 ? items.join("\n") : "None.");
  return `# Clients

<!-- Written by \`npm run clients\`; do not edit. -->

What people run, tried with its own program: at a vendor, and at a Weir with its defaults in front of each of four upstreams. The
vendors are strict fakes of the project's own (\`tests/clients/vendors/\`); each refusal of theirs has its source below. A cell fails
only where the client does not fail at its vendor, too. Tried on ${date}.

\`\`\`
npm run clients                                  # all of it; installs what is missing into .clients/
npm run clients -- --only Claude --upstream oc   # some of it
npm run clients -- --list
\`\`\`

${table(
  ["Client", "Version", "Speaks", "At its vendor", ...UPSTREAM_KEYS.map((key) => UPSTREAMS[key].title)],
  clients.map((client) => [
    client.name,
    client.version,
    client.door,
    summary(of(client, "direct")),
    ...UPSTREAM_KEYS.map((key) => summary(of(client, key))),
  ]),
)}

The number is that of the scenarios: ${FATES.map((fate) => SCENARIOS[fate]).join(", ")}.
Three turns are two tools at once, one tool, and a last text; thoughts come back with their signatures, and every answer's row and
charge are what the vendor said, to the unit. After an error a client must end and see its cause as at its vendor; a vendor's SDK asks
no more often than there, and the tries of others reach the upstream no more often. Out of quota is the caller's own balance here.

## What fails

${list(grouped(failed, ({ fate, cause }) => `${SCENARIOS[fate]}: ${steady(cause)}`))}

## What fails at the vendor, too

${list(grouped(own, ({ fate, cause }) => `${SCENARIOS[fate]}: ${steady(cause)}`))}

## Remarks

${list(grouped(remarks, ({ cause }) => steady(cause)))}

## What the vendors refuse

${table(["Vendor", "Rule", "Source"], rules)}

## To add to it

- **A client**: an entry in \`tests/clients/commands.ts\` (a program), \`tests/clients/sdks.ts\` (JavaScript) or
  \`tests/clients/python/clients.py\` with \`tests/clients/pythons.ts\`; its exact version in \`tests/clients/versions.json\`. Claude Code
  stays at the newest that runs on Node 20: 2.1.198 wants 22.
- **A refusal**: a rule in \`tests/clients/vendors/\` with its source and date, and the request that it refuses in
  \`tests/clients/vendors/rules.test.ts\`. Without a source it only leaves a remark.
- **A scenario**: a fate in \`tests/clients/vendors/server.ts\`, and what a run of it must have done in \`tests/clients/verdict.ts\`.

Each program runs once on a foreign upstream in \`npm test\`, where it is installed (\`tests/clients/smoke.test.ts\`).
`;
}
