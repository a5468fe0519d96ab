import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { newApiTables, oneHubTables, type SourceTables, writeFile } from "../../../../tests/kit/import-sources";
import { type Random, randomOf } from "../../../../tests/kit/trial/random";
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

const TEXTS = ["plain", "中文 名称", 'O\'Neil "x"', "a\\b", "🙂", "<b>&amp;</b>", "line\nline", "%s {} ;--"];

/** new-api's tables with random rows: whatever its own pages and API let into them. */
function randomTables(random: Random): SourceTables {
  const tables = newApiTables();
  const { next, whole, chance, pick } = random;
  const ids = (count: number): number[] => Array.from({ length: count }, (_, i) => 3 * i + whole(1, 3));
  const some = <T>(items: readonly T[]): string => items.filter(() => chance(0.5)).join(",");
  const word = (length: number): string =>
    Array.from({ length }, () => "abcdefghijkmnpqrstuvwxyz23456789"[Math.floor(next() * 32)]).join("");
  const template = (name: string) => {
    const table = tables[name] ?? expect.unreachable(name);
    const [row = {}] = table.rows;
    return { row, put: (rows: typeof table.rows) => void (table.rows = rows) };
  };
  const [users, tokens, channels, codes] = ["users", "tokens", "channels", "redemptions"].map(template) as [
    ReturnType<typeof template>,
    ReturnType<typeof template>,
    ReturnType<typeof template>,
    ReturnType<typeof template>,
  ];
  const people = ids(40);
  const gone = new Set(people.slice(1).filter(() => chance(0.1)));
  users.put(
    people.map((id, i) => ({
      ...users.row,
      id,
      username: `${pick(["u", "用户", "O'Neil", "a b"])}${id}`,
      display_name: pick(TEXTS).slice(0, 20),
      email: chance(0.5) && !gone.has(id) ? `u${id}@x.example` : "",
      role: i === 0 ? 100 : pick([1, 1, 1, 10]),
      status: i === 0 ? 1 : pick([1, 1, 2]),
      group: pick(["default", "vip", "svip"]),
      quota: whole(0, 1) * whole(0, 2_000_000_000),
      used_quota: whole(0, 1) * whole(0, 1_000_000),
      request_count: whole(0, 500),
      aff_code: `A${id}${word(3)}`,
      inviter_id: chance(0.3) ? (people[0] ?? 0) : 0,
      aff_count: 0,
      aff_quota: chance(0.3) ? whole(0, 900) : 0,
      aff_history: 900,
      github_id: chance(0.3) ? String(1000 + id) : "",
      telegram_id: chance(0.3) ? String(2000 + id) : "",
      linux_do_id: chance(0.3) ? String(3000 + id) : "",
      wechat_id: chance(0.3) ? `wx${id}` : "",
      deleted_at: gone.has(id) ? "2025-01-02 03:04:05" : null,
    })),
  );
  tokens.put(
    ids(80).map((id) => ({
      ...tokens.row,
      id,
      user_id: pick(people),
      key: word(48),
      status: pick([1, 1, 2, 3, 4]),
      name: pick(TEXTS).replace("\n", " ").slice(0, 30),
      expired_time: pick([-1, 4_000_000_000, 1_600_000_000]),
      remain_quota: whole(0, 100_000),
      unlimited_quota: chance(0.5),
      used_quota: whole(0, 1) * whole(0, 5000),
      model_limits_enabled: chance(0.5),
      model_limits: some(["gpt-4o", "o3", "模型-a"]),
      allow_ips: some(["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"]).replaceAll(",", "\n"),
      group: pick(["", "vip", "auto"]),
      cross_group_retry: chance(0.5),
      deleted_at: null,
    })),
  );
  channels.put(
    ids(40).map((id) => {
      const keys = Array.from({ length: whole(2, 4) }, () => `sk-${word(12)}`);
      const several = chance(0.4);
      const states = Object.fromEntries(keys.flatMap((_, i) => (chance(0.3) ? [[i, pick([2, 3])]] : [])));
      return {
        ...channels.row,
        id,
        type: pick([1, 14, 24, 3, 8, 43]),
        key: several ? keys.join("\n") : (keys[0] ?? ""),
        channel_info: several
          ? JSON.stringify({
              is_multi_key: true,
              multi_key_status_list: states,
              multi_key_mode: pick(["random", "polling"]),
            })
          : "{}",
        name: pick(TEXTS).replace("\n", " "),
        status: pick([1, 1, 2, 3]),
        weight: pick([0, 0, 10, 25, 100]),
        priority: pick([0, 0, 5, -3]),
        base_url: pick(["", "https://up.example", "https://up.example/azure"]),
        models: some(["gpt-4o", "o3", "claude-sonnet-4-5", "模型-a"]) || "gpt-4o",
        group: pick(["default", "default,vip"]),
        model_mapping: pick(["", '{"gpt-4o":"gpt-4o-2024-11-20"}']),
        status_code_mapping: pick(["", '{"400":"500"}']),
        param_override: pick(["", '{"temperature":0}']),
        header_override: pick(["", '{"x-a":"b \\"c\\""}']),
        setting: pick(["", '{"proxy":"http://p.example:1","force_format":true}']),
        settings: pick(["", '{"allow_speed":true}']),
        tag: pick(["", "blue", "标签"]),
        test_model: pick(["", "o3"]),
        auto_ban: pick([0, 1]),
        used_quota: whole(0, 1) * whole(0, 9000),
      };
    }),
  );
  codes.put(
    ids(20).map((id) => ({
      ...codes.row,
      id,
      user_id: people[0] ?? 1,
      key: Bun.hash(`code ${id}`).toString(16).padStart(32, "0"),
      status: pick([1, 1, 2]),
      name: pick(TEXTS).replace("\n", " ").slice(0, 20),
      quota: whole(1, 1_000_000),
      expired_time: pick([0, 4_000_000_000]),
    })),
  );
  if (tables.logs) tables.logs.rows = [];
  return tables;
}

test.each(["one", "two", "three"])(
  "the way back with random users, keys, channels and codes (%s): in new-api's form and in again, everything is equal",
  async (seed) => {
    const [from, to] = [await filled(randomTables(randomOf("way back", seed))), await openHarness("sqlite")];
    try {
      const path = join(folder, `${seed}-back.db`);
      await writeNewApi(
        path,
        exportRecords(from.services, () => {}),
      );
      await moved(to, path);
      const [before, after] = await Promise.all([from, to].map(exported));
      expect(before?.length).toBeGreaterThan(170);
      expect(after).toEqual(before);
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
