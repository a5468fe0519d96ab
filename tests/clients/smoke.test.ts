/**
 * Each command-line client once, on an upstream that does not speak its dialect: three turns with tools, billed to the
 * unit. The rest is `npm run clients`. A client that is not installed is skipped with its reason, but in a CI the file
 * fails: `npm run clients -- --install cli` installs them.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isEverythingRequired } from "../../scripts/programs";
import { type Bench, type Run, startBench, type Upstream } from "./bench";
import type { Client } from "./client";
import { commandClients } from "./commands";
import { judgeRun, type Verdict } from "./verdict";

/** Where each is tried; a client that is not named is left to `npm run clients`. */
const FOREIGN: Readonly<Record<string, Upstream>> = {
  "Claude Code": "or",
  Codex: "an",
  "Gemini CLI": "oc",
  "opencode, OpenAI-compatible": "ge",
};
const LIMIT_MS = 110_000;

const tried = commandClients.flatMap((client) => {
  const upstream = FOREIGN[client.name];
  return upstream === undefined ? [] : [{ client, upstream }];
});
const missing = tried.flatMap(({ client }) => client.missing() ?? []);
if (missing.length > 0 && isEverythingRequired())
  throw new Error(`Cannot be tried, and here it must be: ${missing.join("; ")}. Run npm run clients -- --install cli`);
for (const reason of missing) console.warn(`SKIPPED: ${reason} (npm run clients -- --install cli)`);

describe("a command-line client works through Weir on a foreign upstream", () => {
  const here = tried.filter(({ client }) => client.missing() === undefined);
  const verdicts = new Map<Client, { run: Run; verdict: Verdict }>();
  let bench: Bench | undefined;

  beforeAll(async () => {
    if (here.length === 0) return;
    const started = await startBench(here.length);
    bench = started;
    // Together: most of their time is waiting for their own start.
    await Promise.all(
      here.map(async ({ client, upstream }) => {
        const run = await started.run(client, "answers", upstream);
        verdicts.set(client, { run, verdict: judgeRun(client, "answers", run, undefined) });
      }),
    );
  }, LIMIT_MS);
  afterAll(() => bench?.stop());

  for (const { client, upstream } of tried)
    test.skipIf(client.missing() !== undefined)(`${client.name} on ${upstream}`, () => {
      const found = verdicts.get(client);
      expect({ verdict: found?.verdict.verdict, cause: found?.verdict.cause }).toEqual({ verdict: "ok", cause: "" });
      expect(found?.run.vendor.asked.length).toBeGreaterThanOrEqual(3);
    });
});
