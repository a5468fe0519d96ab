/** The export of the console: who gets it, and what is left behind of it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { newApiTables, writeFile } from "../../../../tests/kit/import-sources";
import { ROLE } from "../../../shared/roles";
import type { Ctx, UserCtx } from "../../contracts/context";
import { openSource } from "../../db/foreign/open";
import { answerPlain } from "../../http/plain";
import { dataExport } from "./data-export";
import { exportRecords } from "./export";
import { runImport } from "./run";
import { survey } from "./survey";

const folder = mkdtempSync(join(tmpdir(), "weir-data-export-"));
let house: Harness;
beforeAll(async () => {
  house = await openHarness("sqlite");
  const path = join(folder, "one-api.db");
  writeFile(path, newApiTables());
  const source = await openSource(path, {});
  const answers = { "name:bob:4": "rename", "mail:alice@x.example": "last", debts: "zero", "type:type 58": "disabled" };
  await runImport(house.services, await survey(house.services, source, { answers, merge: false }), undefined, {
    live: false,
    merge: false,
    logDays: 0,
    progress: () => {},
    stopped: () => false,
  });
  await source.close();
}, HOOK_MS);
afterAll(async () => {
  await house?.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = (ctx: Ctx): Promise<Response> => answerPlain(dataExport, ctx, new Request("http://localhost/api/export"));
const acts = async (): Promise<[string, number][]> => {
  const { q, t } = house.services.db;
  return (await q.select().from(t.audit_log).orderBy(t.audit_log.id)).map((one) => [one.action, one.actor_id]);
};
const as = (ctx: UserCtx, actor: Partial<UserCtx["actor"]>): UserCtx => ({ ...ctx, actor: { ...ctx.actor, ...actor } });

test("the console's export needs a super administrator in person with a recent proof; a refusal leaks and records nothing", async () => {
  const before = await acts();
  const admin = await house.person({ role: ROLE.admin });
  const root = await house.person({ role: ROLE.root });
  for (const [ctx, code] of [
    [{ ...root.ctx, actor: { kind: "guest" } } as Ctx, "not_signed_in"],
    [admin.ctx, "forbidden"],
    [as(root.ctx, { verified_at: 0 }), "step_up_required"],
    [as(root.ctx, { via: "access_token" }), "access_token_refused"],
  ] as const) {
    const response = await ask(ctx);
    expect(response.headers.get("content-disposition")).toBeNull();
    expect(await response.json()).toMatchObject({ success: false, code });
  }
  expect(await acts()).toEqual(before);
});

test(
  "it is what `weir export` writes, is never cached, names its reader in the audit log, and can be imported",
  async () => {
    const before = await acts();
    const root = await house.person({ role: ROLE.root });
    const response = await ask(root.ctx);
    expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="weir-[\dT-]+\.jsonl"$/);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const text = await response.text();
    const [head, ...lines] = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
    expect(head).toMatchObject({ kind: "weir", version: 1 });
    const all: unknown[] = [];
    for await (const one of exportRecords(house.services, () => {})) all.push(one);
    expect(lines).toEqual(all);
    expect(text).toContain("sk-upstream-1");
    expect(await acts()).toEqual([...before, ["data.export", root.ctx.actor.id]]);
    const path = join(folder, "weir.jsonl");
    writeFileSync(path, text);
    const { plan } = await survey(house.services, await openSource(path, {}), { answers: {}, merge: false });
    expect(plan).toMatchObject({ system: "weir", recognised: "a file of weir export" });
  },
  HOOK_MS,
);

test("a reader who is nobody any more gets no whole file", async () => {
  const { q, t } = house.services.db;
  const root = await house.person({ role: ROLE.root });
  const display_name = "x".repeat(1000);
  await q.insert(t.users).values(
    Array.from({ length: 100 }, (_, i) => ({
      username: `many-${i}`,
      password_hash: "-",
      display_name,
      created_at: 1,
    })),
  );
  // The request has no cookie: its session has ended.
  await expect((await ask(root.ctx)).text()).rejects.toThrow();
});
