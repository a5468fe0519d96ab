/**
 * `weir secret rotate` never runs beside a server, which would continue with the old secret and lose what it writes.
 */
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ENGINES } from "../kit/databases";
import { startWeir, type Weir } from "../kit/weir";
import { HURRIED } from "../kit/weir-process";

const MAIN = join(import.meta.dir, "../../src/server/main.ts");
const MODEL = "gpt-4o";

const upstream = Bun.serve({
  port: 0,
  fetch: (request) =>
    request.headers.get("authorization") === "Bearer the-vendors-key" &&
    request.headers.get("x-second-key") === "the-second-key"
      ? Response.json({
          id: "c",
          object: "chat.completion",
          created: 1,
          model: MODEL,
          choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        })
      : Response.json({ error: { message: "no such key" } }, { status: 401 }),
});

describe.each(ENGINES)("weir secret rotate on %s", (engine) => {
  let weir: Weir;
  let database = "";
  afterEach(() => weir.stop());

  async function rotate(): Promise<{ code: number; said: string }> {
    const child = Bun.spawn([process.execPath, MAIN, "secret", "rotate"], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        WEIR_DATA_DIR: weir.dataDir,
        WEIR_LOG_LEVEL: "silent",
        ...(database && { DATABASE_URL: database }),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, said: out + err };
  }

  const call = async (key: string): Promise<number> => {
    const answer = await weir.call(key, { model: MODEL, messages: [{ role: "user", content: "hello" }] });
    await answer.text();
    return answer.status;
  };

  test("is refused while a server runs, without disturbing it; when none runs it works", async () => {
    weir = await startWeir({
      engine,
      child: HURRIED,
      env: { WEIR_DRAIN_SECONDS: "0", WEIR_SHUTDOWN_SECONDS: "2" },
      through: (url) => (database = url),
    });
    // The test's own connection would block it like a server.
    await weir.closeDb();
    const add = () =>
      weir.root.ok("POST", "/api/channel/", {
        type: 1,
        name: "fake",
        key: "the-vendors-key",
        group: "default",
        base_url: `http://127.0.0.1:${upstream.port}`,
        models: MODEL,
        header_override: JSON.stringify({ "x-second-key": "the-second-key" }),
      });
    await add();
    await weir.priceModels({ [MODEL]: 1 });
    const { key } = await weir.newToken();
    expect(await call(key)).toBe(200);

    const refused = await rotate();
    expect(refused).toEqual({ code: 1, said: expect.stringMatching(/in use.*nothing was changed/) });
    expect(existsSync(join(weir.dataDir, "secret.new"))).toBe(false);
    expect(await call(key)).toBe(200);
    // Data written afterwards can be read after a restart.
    const later = await weir.newToken();
    await add();
    await weir.process?.stop();
    await weir.restart();
    expect([await call(key), await call(later.key)]).toEqual([200, 200]);

    await weir.process?.stop();
    const done = await rotate();
    expect(done).toEqual({ code: 0, said: expect.stringContaining("2 API tokens, 2 channels") });
    await weir.restart();
    expect([await call(key), await call(later.key)]).toEqual([200, 200]);
  }, 60_000);

  test("a server that was killed counts as running on Postgres until its heartbeat is old; on SQLite its lock went with it", async () => {
    weir = await startWeir({ engine, child: HURRIED, through: (url) => (database = url) });
    weir.process?.kill("SIGKILL");
    await weir.process?.exited;
    if (engine === "postgres") {
      expect((await rotate()).code).toBe(1);
      await weir.ageHolds();
    }
    await weir.closeDb();
    expect(await rotate()).toMatchObject({ code: 0 });
  }, 60_000);
});
