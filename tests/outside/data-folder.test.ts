/**
 * The data folder of a SQLite server: one that cannot be written, or from which another process serves, is a reason not
 * to start that says what to do; one that becomes read-only stops new calls until it can be written again. Nor does a
 * process start that may open too few files.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HOOK_MS } from "../kit/harness";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { type Nodes, startNodes } from "../kit/trial/nodes";
import { until } from "../kit/until";

const MAIN = join(import.meta.dir, "../../src/server/main.ts");
const LIMIT_MS = 30_000;
const folder = mkdtempSync(join(tmpdir(), "weir-folders-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command line until it ends, at most ten seconds; returns its exit code and output. */
async function run(command: readonly string[], dataDir: string): Promise<{ code: number; output: string }> {
  const { PATH = "" } = process.env;
  const child = Bun.spawn([...command], {
    env: { PATH, HOME: folder, PORT: "0", WEIR_HOST: "127.0.0.1", WEIR_DATA_DIR: dataDir, WEIR_LOG_LEVEL: "silent" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 10_000,
  });
  const texts = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, output: texts.join("") };
}

test(
  "a folder that cannot be written stops the start, with advice",
  async () => {
    const dataDir = join(folder, "kept");
    expect((await run([process.execPath, MAIN, "audit"], dataDir)).code).toBe(1);
    const readOnly = mkdtempSync(join(folder, "read-only-"));
    chmodSync(readOnly, 0o555);
    chmodSync(folder, 0o755);
    // No permission stops an administrator.
    const asNobody = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
    const { code, output } = await run([...asNobody, process.execPath, MAIN], readOnly);
    expect(output).toStartWith(`weir cannot start: the data folder ${readOnly} cannot be written`);
    expect(output).toContain("WEIR_DATA_DIR");
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(1);
  },
  LIMIT_MS,
);

test(
  "a process that may open too few files does not start, and says what to raise",
  async () => {
    const command = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", process.execPath, MAIN];
    const { code, output } = await run(command, join(folder, "few"));
    expect(output).toStartWith("weir cannot start: this process may open only 64 files");
    expect(output).toContain("LimitNOFILE=");
    expect(output.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(1);
  },
  LIMIT_MS,
);

describe("a server on SQLite", () => {
  const MODEL = "echo";
  let fake: FakeUpstream;
  let nodes: Nodes;
  let key: string;
  beforeAll(async () => {
    fake = startFakeUpstream();
    nodes = await startNodes({ engine: "sqlite" });
    await nodes.weir.newChannel({ base_url: fake.url, models: [MODEL] });
    await nodes.weir.priceModels({ [MODEL]: 1 });
    ({ key } = await nodes.weir.newToken());
  }, HOOK_MS);
  afterAll(async () => {
    await nodes?.stop();
    fake?.close();
  });

  test(
    "whose folder becomes read-only refuses calls with 503 and charges none, and serves again afterwards",
    async () => {
      const node = nodes.node(0);
      const charges = async () => (await nodes.weir.logs()).filter(({ type }) => type === 2).length;
      const before = await charges();
      node.makeReadOnly();
      const { status, body } = await node.call(key, MODEL);
      expect(status).toBe(503);
      expect(body).toContain('"database_unavailable"');
      expect(body).not.toContain("readonly");
      expect((await fetch(`${node.url}/api/status`)).status).toBe(200);
      node.mendDatabase();
      await until("calls are served", async () => (await node.call(key, MODEL)).status === 200);
      expect(await charges()).toBe(before + 1);
      expect(await nodes.weir.holds()).toBe(0);
      expect(await nodes.weir.audit()).toEqual([]);
    },
    LIMIT_MS,
  );

  test(
    "keeps its folder to itself until it ends, also by a kill; operators' commands run beside it",
    async () => {
      const node = nodes.node(0);
      const { code, output } = await run([process.execPath, MAIN], node.dataDir);
      expect(output).toStartWith(`weir cannot start: another Weir serves from the data folder ${node.dataDir}`);
      expect(output.trim().split("\n")).toHaveLength(1);
      expect(code).toBe(1);
      expect((await run([process.execPath, MAIN, "audit"], node.dataDir)).code).toBe(0);
      expect(await node.call(key, MODEL)).toMatchObject({ status: 200 });
      await node.kill();
      await node.restart();
      expect(await node.call(key, MODEL)).toMatchObject({ status: 200 });
    },
    LIMIT_MS,
  );
});
