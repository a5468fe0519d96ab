import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { newApiTables, oneHubTables, type SourceTables, writeFile } from "../../../../tests/kit/import-sources";
import { openSource } from "../../db/foreign/open";
import { audit } from "../wallet/audit";
import { type Exported, exportRecords } from "./export";
import { writeNewApi } from "./export-new-api";
import { runImport } from "./run";
import { survey } from "./survey";

const folder = mkdtempSync(join(tmpdir(), "weir-export-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function moved(house: Harness, path: string): Promise<void> {
  const source = await openSource(path, {});
  const ask = { answers: {}, merge: false };
  const { plan } = await survey(house.services, source, ask);
  const answers = Object.fromEntries(
    plan.decisions.map((one) => [one.id, one.id === "github-ids" ? "numeric" : one.recommended]),
  );
  const found = await survey(house.services, source, { ...ask, answers });
  await runImport(house.services, found, undefined, {
    live: true,
    merge: false,
    logDays: 0,
    progress: () => {},
    stopped: () => false,
  });
  await source.close();
  const findings: unknown[] = [];
  for await (const one of audit(house.services.db)) findings.push(one);
  expect(findings).toEqual([]);
}

async function exported(house: Harness): Promise<Exported[]> {
  const all: Exported[] = [];
  for await (const one of exportRecords(house.services, () => {})) all.push(one);
  return all;
}

async function filled(tables: SourceTables): Promise<Harness> {
  const house = await openHarness("sqlite");
  const path = join(folder, `${Bun.randomUUIDv7()}.db`);
  writeFile(path, tables);
  await moved(house, path);
  return house;
}

test.each([...ENGINES])(
  "what is exported and imported on %s is the same: users, balances, keys, channels, codes, options",
  async (engine) => {
    const [from, to] = [await filled(newApiTables()), await openHarness(engine)];
    try {
      const before = await exported(from);
      expect(new Set(before.map(({ kind }) => kind))).toEqual(new Set(["option", "user", "token", "channel", "code"]));
      const path = join(folder, `${engine}.jsonl`);
      writeFileSync(
        path,
        [{ kind: "weir", id: "weir", version: 1 }, ...before].map((one) => `${JSON.stringify(one)}\n`).join(""),
      );
      await moved(to, path);
      expect(await exported(to)).toEqual(before);
    } finally {
      await from.close();
      await to.close();
    }
  },
  HOOK_MS,
);

test.each([newApiTables, oneHubTables])(
  "the way back: new-api's form, imported again, is the same (%p)",
  async (tables) => {
    const [from, to] = [await filled(tables()), await openHarness("sqlite")];
    try {
      const path = join(folder, `${Bun.randomUUIDv7()}-back.db`);
      const { mustReset } = await writeNewApi(
        path,
        exportRecords(from.services, () => {}),
      );
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(mustReset).toEqual(tables === newApiTables ? ["nopass"] : []);
      await moved(to, path);
      // Its odds are of weight + 10: small weights come back 10 times as high.
      const times = tables === newApiTables ? 1 : 10;
      const kept = (await exported(from)).filter(({ kind }) => kind !== "option");
      const expected = kept.map((one) =>
        one.kind === "channel" ? { ...one, record: { ...one.record, weight: one.record.weight * times } } : one,
      );
      expect((await exported(to)).filter(({ kind }) => kind !== "option")).toEqual(expected as Exported[]);
    } finally {
      await from.close();
      await to.close();
    }
  },
  HOOK_MS,
);

test(
  "a file that is cut off, or of a later version, is refused",
  async () => {
    const path = join(folder, "cut.jsonl");
    writeFileSync(path, '{"kind":"weir","version":1}\n{"kind":"user","id":"1","rec');
    await expect(openSource(path, {})).rejects.toThrow(/line 2: not JSON/);
    const later = join(folder, "later.jsonl");
    writeFileSync(later, '{"kind":"weir","version":99}\n');
    const house = await openHarness("sqlite");
    try {
      await expect(moved(house, later)).rejects.toThrow(/later release/);
    } finally {
      await house.close();
    }
  },
  HOOK_MS,
);
