/** The processes of WEIR_WORKERS end with the one that started them, however that one ends. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freshPostgres } from "../kit/databases";
import { until } from "../kit/until";
import { startProcess } from "../kit/weir-process";

const folder = mkdtempSync(join(tmpdir(), "weir-workers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function freePort(): number {
  const probe = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port } = probe;
  void probe.stop(true);
  return port ?? expect.unreachable("no port");
}

test("workers end when their supervisor is killed: no old process answers beside a new one", async () => {
  const database = await freshPostgres(1);
  const port = freePort();
  const weir = await startProcess(undefined, {
    PORT: String(port),
    WEIR_HOST: "127.0.0.1",
    WEIR_DATA_DIR: folder,
    DATABASE_URL: database.url,
    WEIR_PG_POOL: "3",
    WEIR_WORKERS: "2",
    WEIR_DRAIN_SECONDS: "0",
    WEIR_SHUTDOWN_SECONDS: "1",
  });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/healthz`, { keepalive: false }).then(
      () => true,
      () => false,
    );
  expect(await answers()).toBe(true);
  weir.kill("SIGKILL");
  await until("no worker answers", async () => !(await answers()), 20_000);
  await database.close();
}, 60_000);
