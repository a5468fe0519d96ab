/** Requests and responses in the log: nothing by default; when switched on, the exact content without secrets. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ROLE } from "../../src/shared/roles";
import { ENGINES } from "../kit/databases";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { startWeir, type Weir } from "../kit/weir";

const QUICK = "words:5";
const PACED = "paced:20:20";
const SECRET = `sk-${"abcdefgh01234567".repeat(2)}`;

for (const engine of ENGINES) {
  describe(engine, () => {
    const upstream = startFakeUpstream();
    let weir: Weir;
    let key = "";

    beforeAll(async () => {
      weir = await startWeir({ engine });
      await weir.newChannel({ base_url: upstream.url, models: [QUICK, PACED] });
      await weir.priceModels({ [QUICK]: 1, [PACED]: 1 });
      ({ key } = await weir.newToken());
    }, HOOK_MS);
    afterAll(async () => {
      await weir?.stop();
      upstream.close();
    });

    const ask = (model: string, stream = false, content = `my key is ${SECRET}`): object => ({
      model,
      stream,
      max_tokens: 50,
      messages: [{ role: "user", content }],
    });
    const bodies = () => weir.db.q.select().from(weir.db.t.log_bodies);
    /** What an administrator sees of a call, once it is written. */
    async function kept(response: Response) {
      const request_id = response.headers.get("x-request-id") ?? "";
      for (let tries = 0; tries < 400; tries++) {
        const content = await weir.root.trpc.log.content.query({ request_id });
        if (content) return content;
        await Bun.sleep(25);
      }
      throw new Error(`nothing was kept of ${request_id}`);
    }

    test("nothing is kept while the option is off", async () => {
      const response = await weir.call(key, ask(QUICK));
      await response.text();
      const request_id = response.headers.get("x-request-id") ?? "";
      await weir.waitForLog((row) => row.request_id === request_id);
      expect(await bodies()).toEqual([]);
      expect(await weir.root.trpc.log.content.query({ request_id })).toBeNull();
    });

    test(
      "a whole answer and a stream are kept as they passed, without keys, and packed",
      async () => {
        await weir.setOption("LogContentEnabled", true);
        for (const [model, stream] of [
          [QUICK, false],
          [PACED, true],
        ] as const) {
          const response = await weir.call(key, ask(model, stream));
          const text = await response.text();
          const content = await kept(response);
          expect(content.response).toBe(text);
          expect(JSON.parse(content.request)).toMatchObject({ model, messages: [{ content: "my key is sk-***" }] });
          if (stream) expect(text.trimEnd()).toEndWith("data: [DONE]");
        }
        expect(JSON.stringify(await bodies())).not.toContain(SECRET.slice(3));
      },
      HOOK_MS,
    );

    test(
      "a caller who leaves still gets what he got kept, and is charged as ever",
      async () => {
        const leaving = new AbortController();
        const response = await weir.call(key, ask("paced:20:20", true), { signal: leaving.signal });
        await response.body?.getReader().read();
        leaving.abort();
        const content = await kept(response);
        expect(content.response).toStartWith("data: ");
        const row = await weir.waitForLog((log) => log.request_id === response.headers.get("x-request-id"));
        expect(["caller_left", "complete"]).toContain(row.end_reason);
        expect(await weir.audit()).toEqual([]);
      },
      HOOK_MS,
    );

    test(
      "of a large request its beginning is kept, with its size",
      async () => {
        const response = await weir.call(key, ask(QUICK, false, "word ".repeat(100_000)));
        await response.text();
        const { request } = await kept(response);
        expect(request.length).toBeLessThan(263_000);
        expect(request).toMatch(/\n… \[5\d{5} bytes\]$/);
      },
      HOOK_MS,
    );

    test(
      "administrators alone may read it; a call that is unknown has none",
      async () => {
        const user = await weir.newUser({ role: ROLE.user, quota: 1_000_000 });
        const own = await weir.newToken({}, user);
        const admin = await weir.newUser({ role: ROLE.admin });
        const response = await weir.call(own.key, ask(QUICK));
        await response.text();
        const content = await kept(response);
        const request_id = response.headers.get("x-request-id") ?? "";
        expect(await admin.trpc.log.content.query({ request_id })).toEqual(content);
        await expect(user.trpc.log.content.query({ request_id })).rejects.toThrow();
        expect(await weir.root.trpc.log.content.query({ request_id: "nobody's" })).toBeNull();
      },
      HOOK_MS,
    );
  });
}
