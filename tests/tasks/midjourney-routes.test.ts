/** The routes under /mj: who owns a job, where follow-ups go, what the operator forwards, images and webhooks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { PICTURE, startFakeMidjourney } from "../kit/fake-midjourney";
import { HOOK_MS } from "../kit/harness";
import { startWeir } from "../kit/weir";
import { charged, type Caller, type MjBench, openMjBench, untouched } from "./midjourney-kit";

const IMAGINE = 50_000;
const NOBODYS = "1234567890123456789";

/** A receiver of webhooks. */
function startReceiver() {
  const heard: any[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      heard.push(await request.json());
      return new Response("ok");
    },
  });
  return { heard, url: `http://127.0.0.1:${server.port}/hook`, stop: () => server.stop(true) };
}

async function until(fits: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 10_000; !fits() && Date.now() < deadline;) await Bun.sleep(10);
}

for (const engine of ENGINES) {
  describe(engine, () => {
    let b: MjBench;
    let ann: Caller;
    let first = 0;
    beforeAll(async () => {
      b = await openMjBench(engine);
      first = await b.newChannel();
    }, HOOK_MS);
    afterAll(() => b.close());
    beforeEach(async () => {
      ann = await b.newCaller();
      b.fake.next = [];
      b.fake.requests.length = 0;
    });
    const upstream = async (id: string): Promise<string> => (await b.row(id)).upstream_id;
    /** A finished job. */
    const done = async (change: object = {}, caller = ann): Promise<string> => {
      const id = await caller.imagine();
      b.fake.finish(await upstream(id), change);
      await b.poll();
      return id;
    };

    describe("another user's job", () => {
      test("does not exist, on any route, and nothing is called or charged", async () => {
        const id = await done();
        const asked = b.fake.requests.length;
        const follow = { taskId: id };
        const calls: [string, string, object?][] = [
          ["GET", `/mj/task/${id}/fetch`],
          ["GET", `/mj-fast/mj/task/${id}/fetch`],
          ["GET", `/mj/task/${id}/image-seed`],
          ["POST", `/mj/task/${id}/cancel`],
          ["POST", "/mj/submit/change", { ...follow, action: "UPSCALE", index: 1 }],
          ["POST", "/mj/submit/simple-change", { content: `${id} U1` }],
          ["POST", "/mj/submit/action", { ...follow, customId: "MJ::JOB::upsample::1::x" }],
          ["POST", "/mj/submit/modal", { ...follow, prompt: "x" }],
          ["POST", "/mj/submit/video", { ...follow, index: 0, action: "extend" }],
        ];
        for (const [method, path, body] of calls) {
          expect([path, await b.bob.call(method, path, body)]).toMatchObject([
            path,
            { status: 404, body: { description: expect.any(String), type: "upstream_error", code: 4 } },
          ]);
          const unknown = JSON.parse(JSON.stringify({ path, body }).replaceAll(id, NOBODYS));
          expect((await b.bob.call(method, unknown.path, unknown.body)).status).toBe(404);
        }
        expect((await b.bob.call("POST", "/mj/task/list-by-condition", { ids: [id, NOBODYS] })).body).toEqual([]);
        expect(b.fake.requests).toHaveLength(asked);
        expect(await b.money(b.bob)).toEqual(untouched);
      });

      test("its vendor's id gives no access either", async () => {
        const theirs = await upstream(await ann.imagine());
        expect((await ann.call("GET", `/mj/task/${theirs}/fetch`)).status).toBe(404);
        expect((await b.open("GET", `/mj/image/${theirs}`)).status).toBe(404);
      });
    });

    describe("a follow-up", () => {
      test("goes to the channel and the key that made the job, whatever the weights", async () => {
        await using other = startFakeMidjourney();
        const two = await b.newChannel({
          name: "two keys",
          key: "mj-second\nmj-secret",
          multi_key_mode: "polling",
          priority: 50,
        });
        const id = await done();
        expect((await b.row(id)).channel_id).toBe(two);
        const made = b.fake.submits().at(-1)?.key;
        await b.newChannel({ name: "better", base_url: other.url, priority: 90 });
        for (let i = 0; i < 3; i++) {
          expect((await ann.call("POST", "/mj/submit/change", { taskId: id, action: "REROLL" })).body.code).toBe(1);
          expect(b.fake.submits().at(-1)?.key).toBe(made);
        }
        expect((await ann.call("GET", `/mj/task/${id}/image-seed`)).body).toEqual({
          code: 1,
          description: "成功",
          result: "1820374512",
        });
        expect(b.fake.requests.at(-1)).toMatchObject({
          method: "GET",
          path: `/mj/task/${await upstream(id)}/image-seed`,
          key: made,
        });
        expect(other.requests).toEqual([]);
        await b.root.rest("PUT", "/api/channel/", { id: two, status: 2 });
        await b.h.services.pool.reload();
        expect(await ann.call("POST", "/mj/submit/change", { taskId: id, action: "REROLL" })).toMatchObject({
          status: 403,
          body: { type: "upstream_error", code: 4 },
        });
        expect(await b.money(ann)).toEqual(charged(4 * IMAGINE));
        const rows = (await b.h.services.db.q.select().from(b.h.services.db.t.channels)).filter(
          ({ name }) => name !== "mj",
        );
        for (const row of rows) await b.root.rest("DELETE", `/api/channel/${row.id}`);
        await b.h.services.pool.reload();
        expect((await ann.call("GET", `/mj/task/${id}/image-seed`)).status).toBe(404);
        expect(await ann.fetch(id)).toMatchObject({ status: "SUCCESS" });
      });

      test("needs a success, unless the operator says otherwise; a job without a vendor's id has no follow-up", async () => {
        const id = await ann.imagine();
        const reroll = { taskId: id, action: "REROLL" };
        // spec: A-210
        expect(await ann.call("POST", "/mj/submit/change", reroll)).toMatchObject({
          status: 400,
          body: { type: "upstream_error" },
        });
        await b.set("MjActionCheckSuccessEnabled", false);
        // spec: A-210
        expect((await ann.call("POST", "/mj/submit/change", reroll)).body.code).toBe(1);
        b.fake.next = [{ body: { code: 24, description: "可能包含敏感词" } }];
        await ann.call("POST", "/mj/submit/imagine", { prompt: "refused" });
        const refused = (await b.rowsOf(ann)).find(({ prompt }) => prompt === "refused");
        expect(
          (await ann.call("POST", "/mj/submit/change", { taskId: refused?.task_id, action: "REROLL" })).status,
        ).toBe(400);
        await b.set("MjActionCheckSuccessEnabled", true);
      });
    });

    describe("members that the operator forwards", () => {
      const body = {
        prompt: "Cat --fast --ar 1:1",
        notifyHook: "https://me.example/hook",
        accountFilter: { modes: ["FAST"] },
      };
      const sent = () => b.fake.submits().at(-1)?.body;

      test("by default neither webhook nor account filter, and prompts unchanged", async () => {
        await ann.imagine(body);
        // spec
        expect(sent()).toEqual({ prompt: "Cat --fast --ar 1:1" });
      });

      test("each option changes only its own member", async () => {
        await b.set("MjAccountFilterEnabled", true);
        await ann.imagine(body);
        // spec: A-207
        expect(sent()).toEqual({ prompt: "Cat --fast --ar 1:1", accountFilter: { modes: ["FAST"] } });
        await b.set("MjAccountFilterEnabled", false);
        await b.set("MjModeClearEnabled", true);
        await ann.imagine(body);
        // spec: A-209
        expect(sent()).toEqual({ prompt: "Cat --ar 1:1" });
        await b.set("MjModeClearEnabled", false);
        await b.set("MjNotifyEnabled", true);
        await b.set("ServerAddress", "https://weir.example/");
        const id = await ann.imagine(body);
        // spec: A-206
        expect(sent()).toEqual({ prompt: "Cat --fast --ar 1:1", notifyHook: `https://weir.example/mj/notify/${id}` });
        await b.set("MjNotifyEnabled", false);
        b.fake.finish(await upstream(id));
        await b.poll();
        // spec
        expect((await ann.fetch(id)).imageUrl).toBe(`https://weir.example/mj/image/${id}`);
        await b.set("MjForwardUrlEnabled", false);
        // spec: A-208
        expect((await ann.fetch(id)).imageUrl).toBe(`${b.fake.url}/picture/${await upstream(id)}.png`);
        await b.set("MjForwardUrlEnabled", true);
        await b.set("ServerAddress", "");
      });

      test("with drawing off nothing is submitted, and finished jobs are still shown", async () => {
        const id = await done();
        await b.set("DrawingEnabled", false);
        // spec: A-205
        expect(await ann.call("POST", "/mj/submit/imagine", { prompt: "x" })).toMatchObject({
          status: 403,
          body: { type: "upstream_error", code: 4 },
        });
        expect(await ann.fetch(id)).toMatchObject({ status: "SUCCESS" });
        await b.set("DrawingEnabled", true);
      });
    });

    describe("modes", () => {
      const pathOf = async (caller: Caller, path: string): Promise<string | undefined> => {
        await caller.imagine({}, path);
        return b.fake.submits().at(-1)?.path;
      };

      test("the caller's is in the path and is forwarded; the token's is used where the caller names none", async () => {
        const relaxed = await b.newCaller({ mj_mode: "relax" });
        expect(await pathOf(ann, "/mj")).toBe("/mj/submit/imagine");
        expect(await pathOf(ann, "/mj-fast/mj")).toBe("/mj-fast/mj/submit/imagine");
        expect(await pathOf(ann, "/turbo/mj")).toBe("/mj-turbo/mj/submit/imagine");
        expect(await pathOf(ann, "/whatever/mj")).toBe("/mj/submit/imagine");
        // spec: C-263
        expect(await pathOf(relaxed, "/mj")).toBe("/mj-relax/mj/submit/imagine");
        // spec: C-263
        expect(await pathOf(relaxed, "/mj-fast/mj")).toBe("/mj-fast/mj/submit/imagine");
        const id = await relaxed.imagine();
        expect((await relaxed.call("GET", `/mj-turbo/mj/task/${id}/fetch`)).body.id).toBe(id);
      });

      test("a token has one of three modes or none", async () => {
        const person = await b.h.person();
        const make = (mj_mode: unknown) => person.rest("POST", "/api/token/", { name: "t", mj_mode });
        for (const mode of ["", "fast", "relax", "turbo"])
          // spec: C-263
          expect((await make(mode)).body).toMatchObject({ success: true, data: { mj_mode: mode } });
        for (const mode of ["FAST", "mj-fast", "../", 1]) expect((await make(mode)).body.success).toBe(false);
        const { id } = (await make("fast")).body.data;
        expect((await person.rest("PUT", "/api/token/", { id, name: "renamed" })).body.data).toMatchObject({
          name: "renamed",
          mj_mode: "fast",
        });
        expect((await person.rest("PUT", "/api/token/", { id, mj_mode: "" })).body.data).toMatchObject({ mj_mode: "" });
      });
    });

    describe("keys and bad input", () => {
      test("the key is in Authorization or in mj-api-secret", async () => {
        const id = await ann.imagine();
        for (const headers of <Record<string, string>[]>[
          { authorization: ann.key },
          { "mj-api-secret": ann.key },
          { "mj-api-secret": ann.key.replace("sk-", "") },
        ]) {
          expect((await b.open("GET", `/mj/task/${id}/fetch`, { headers })).status).toBe(200);
        }
        const without = await b.open("GET", `/mj/task/${id}/fetch`);
        expect([without.status, await without.json()]).toEqual([
          401,
          { description: expect.any(String), type: "upstream_error", code: 4 },
        ]);
        expect(
          (await b.open("POST", "/mj/submit/imagine", { headers: { "mj-api-secret": "sk-wrong" }, body: "{}" })).status,
        ).toBe(401);
      });

      test("a body that is none, too large or incomplete is refused in these clients' format; no upstream is called", async () => {
        for (const odd of ["", "{", "[]", "null", '"x"', "{}", '{"prompt":5}', '{"prompt":null}', '{"prompt":"  "}']) {
          expect(await ann.call("POST", "/mj/submit/imagine", odd)).toMatchObject({
            status: 400,
            body: { description: expect.any(String), type: "upstream_error", code: 4 },
          });
        }
        for (const ids of [undefined, "1", {}, Array.from({ length: 1001 }, String)])
          expect((await ann.call("POST", "/mj/task/list-by-condition", { ids })).status).toBe(400);
        expect((await ann.call("POST", "/mj/submit/nothing", { prompt: "x" })).status).toBe(404);
        expect((await ann.call("GET", "/mj/submit/imagine")).status).toBe(404);
        for (const id of ["%00", "%FF", "..%2F", "%ED%A0%80"])
          expect((await ann.call("GET", `/mj/task/${id}/fetch`)).status).toBe(404);
        expect((await b.open("GET", "/mj/image/%00")).status).toBe(404);
        expect(
          (await ann.call("POST", "/mj/task/list-by-condition", { ids: ["\u0000", "\ud800", null, {}] })).body,
        ).toEqual([]);
        expect((await ann.call("GET", `/mj/task/${"9".repeat(5000)}/fetch`)).status).toBe(404);
        expect(b.fake.submits()).toEqual([]);
        const nul = await ann.call("POST", "/mj/submit/imagine", { prompt: "a\u0000b", state: "\ud800" });
        expect(nul.body.code).toBe(1);
      });

      test("too many calls are code 30", async () => {
        const slow = await b.newCaller({ rpm: 1 });
        await slow.imagine();
        expect(await slow.call("POST", "/mj/submit/imagine", { prompt: "x" })).toMatchObject({
          status: 429,
          body: { type: "upstream_error", code: 30 },
        });
      });

      test("a list has the caller's own jobs once each, in the requested order", async () => {
        const [one, two] = [await ann.imagine(), await ann.imagine()];
        const { body } = await ann.call("POST", "/mj/task/list-by-condition", { ids: [two, NOBODYS, one, two, 7] });
        expect(body.map(({ id }: { id: string }) => id)).toEqual([two, one]);
        expect((await ann.call("POST", "/mj/task/list-by-condition", { ids: [] })).body).toEqual([]);
      });
    });

    describe("webhooks", () => {
      test("the content of the vendor's webhook is not trusted: the job is polled, and its owner's webhook is called", async () => {
        const receiver = startReceiver();
        await b.set("MjNotifyEnabled", true);
        const id = await ann.imagine({ notifyHook: receiver.url });
        await b.set("MjNotifyEnabled", false);
        const theirs = await upstream(id);
        const tell = (path: string, task: unknown, headers = {}) =>
          b.open("POST", path, { body: JSON.stringify(task), headers });
        // A false report: a success that is none.
        expect(
          (await tell(`/mj/notify/${id}`, { id: theirs, status: "SUCCESS", imageUrl: "http://127.0.0.1/evil.png" }))
            .status,
        ).toBe(200);
        await b.poll();
        expect(await ann.fetch(id)).toMatchObject({ status: "SUBMITTED", imageUrl: "" });
        b.fake.finish(theirs);
        expect((await tell(`/mj/notify/${id}`, { id: theirs, status: "IN_PROGRESS" })).status).toBe(200);
        expect((await b.row(id)).next_poll_at_ms).toBeLessThanOrEqual(b.h.services.now());
        await b.poll();
        await until(() => receiver.heard.length > 0);
        expect(receiver.heard).toEqual([
          expect.objectContaining({
            id,
            status: "SUCCESS",
            progress: "100%",
            imageUrl: `http://weir.test/mj/image/${id}`,
          }),
        ]);
        await receiver.stop();
      });

      test("a forged webhook does nothing: an unknown id, another job's id, no secret, another channel's secret", async () => {
        const id = await ann.imagine();
        const theirs = await upstream(id);
        const other = await b.newChannel({ name: "other", key: "mj-other", priority: -5 });
        await b.newChannel({ type: 1, name: "no midjourney", key: "sk-of-openai", models: "gpt-4o" });
        const before = await b.row(id);
        const tell = async (path: string, body: unknown, secret = "") =>
          (
            await b.open("POST", path, {
              body: typeof body === "string" ? body : JSON.stringify(body),
              headers: secret === "" ? {} : { "mj-api-secret": secret },
            })
          ).status;
        const done = { id: theirs, status: "FAILURE" };
        expect(await tell(`/mj/notify/${NOBODYS}`, done)).toBe(404);
        expect(await tell(`/mj/notify/${id}`, { id: "1" })).toBe(404);
        expect(await tell(`/mj/notify/${id}`, {})).toBe(404);
        expect(await tell("/mj/notify", done)).toBe(401);
        expect(await tell("/mj/notify", done, "sk-of-openai")).toBe(401);
        expect(await tell("/mj/notify", done, ann.key)).toBe(401);
        expect(await tell("/mj/notify", done, "mj-other")).toBe(200);
        expect(await tell("/mj/notify", { id: "unknown" }, "mj-secret")).toBe(200);
        expect(await tell("/mj/notify", "nonsense", "mj-secret")).toBe(400);
        expect(await b.row(id)).toEqual(before);
        // The real one makes the next poll due.
        expect(await tell("/mj/notify", done, "mj-secret")).toBe(200);
        expect((await b.row(id)).next_poll_at_ms).toBeLessThan(before.next_poll_at_ms);
        expect(await ann.fetch(id)).toMatchObject({ status: "SUBMITTED" });
        await b.root.rest("DELETE", `/api/channel/${other}`);
      });
    });

    describe("images", () => {
      test("are public to those who know the URL, whole or in ranges, and always served as an image", async () => {
        const id = await done();
        const whole = await b.open("GET", `/mj/image/${id}`);
        expect([whole.status, whole.headers.get("content-type"), whole.headers.get("x-content-type-options")]).toEqual([
          200,
          "image/png",
          "nosniff",
        ]);
        expect(Buffer.from(await whole.arrayBuffer()).equals(PICTURE)).toBe(true);
        const part = await b.open("GET", `/mj-fast/mj/image/${id}`, { headers: { range: "bytes=1-3" } });
        expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([
          206,
          `bytes 1-3/${PICTURE.length}`,
          "PNG",
        ]);
        for (const path of [
          `/mj/image/${NOBODYS}`,
          `/mj/video/${id}`,
          `/mj/image/${await ann.imagine()}`,
          "/mj/image/..%2f..%2fetc",
        ])
          expect((await b.open("GET", path)).status).toBe(404);
      });

      test("videos are served as videos, each by its number", async () => {
        const { url } = b.fake;
        const id = await done({
          imageUrl: `${url}/picture/still.png`,
          videoUrls: [{ url: `${url}/picture/1.mp4` }, { url: `${url}/picture/2.mp4` }],
        });
        expect(await ann.fetch(id)).toMatchObject({
          imageUrl: `http://weir.test/mj/image/${id}`,
          videoUrl: `http://weir.test/mj/video/${id}`,
          videoUrls: [{ url: `http://weir.test/mj/video/${id}` }, { url: `http://weir.test/mj/video/${id}/1` }],
        });
        const film = await b.open("GET", `/mj/video/${id}/1`);
        expect([film.status, film.headers.get("content-type")]).toEqual([200, "video/mp4"]);
        for (const odd of ["2", "-1", "x", "1e1"])
          expect((await b.open("GET", `/mj/video/${id}/${odd}`)).status).toBe(404);
      });

      test("without an end are cut at the largest size of an image", async () => {
        const id = await done({ imageUrl: `${b.fake.url}/picture/endless.png` });
        const answer = await b.open("GET", `/mj/image/${id}`);
        let size = 0;
        const reader = answer.body?.getReader();
        const read = async (): Promise<void> => {
          for (let part = await reader?.read(); part && !part.done; part = await reader?.read())
            size += part.value.length;
        };
        await expect(read()).rejects.toThrow();
        expect(size).toBeLessThanOrEqual(64 << 20);
      });

      test("of a failed job are no longer served", async () => {
        const id = await ann.imagine();
        b.fake.move(await upstream(id), { status: "FAILURE", imageUrl: `${b.fake.url}/picture/half.png` });
        await b.poll();
        expect((await b.open("GET", `/mj/image/${id}`)).status).toBe(400);
      });
    });

    test("the first channel did all of this", () => expect(first).toBeGreaterThan(0));
  });
}

test(
  "addresses inside the house are neither fetched for a picture nor told of a job",
  async () => {
    const b = await openMjBench("sqlite", {});
    const receiver = startReceiver();
    await b.newChannel();
    await b.set("MjNotifyEnabled", true);
    const ann = await b.newCaller();
    const id = await ann.imagine({ notifyHook: receiver.url });
    b.fake.finish((await b.row(id)).upstream_id);
    await b.poll();
    expect(await ann.fetch(id)).toMatchObject({ status: "SUCCESS" });
    const answer = await b.open("GET", `/mj/image/${id}`);
    expect(answer.status).toBe(400);
    await b.h.services.background.stop();
    expect([b.fake.pictures, receiver.heard]).toEqual([0, []]);
    await receiver.stop();
    await b.close();
  },
  HOOK_MS,
);

test(
  "over the network: the paths with and without a mode lead to the relay, those of /api and the console do not",
  async () => {
    await using weir = await startWeir({ env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
    await using fake = startFakeMidjourney();
    await weir.newChannel({ type: 5, base_url: fake.url, key: "mj-secret", models: ["mj_imagine"] });
    const { key } = await weir.newToken({ mj_mode: "turbo" });
    const send = (path: string, init?: RequestInit) => fetch(weir.url + path, init);
    const imagine = { method: "POST", headers: { "mj-api-secret": key }, body: '{"prompt":"Cat"}' };
    const made = await Promise.all(
      ["/mj/submit/imagine", "/mj-relax/mj/submit/imagine", "/mj/submit/imagine/"].map(async (path) =>
        (await send(path, imagine)).json(),
      ),
    );
    expect(made.map(({ code }) => code)).toEqual([1, 1, 1]);
    expect(
      fake
        .submits()
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(["/mj-relax/mj/submit/imagine", "/mj-turbo/mj/submit/imagine", "/mj-turbo/mj/submit/imagine"]);
    expect((await (await send("/api/mj/submit/imagine", imagine)).json()).success).toBe(false);
    expect((await send(`/mj/image/${made[0].result}`)).status).toBe(404);
    const preflight = await send("/mj/submit/imagine", {
      method: "OPTIONS",
      headers: { origin: "https://chat.example", "access-control-request-headers": "mj-api-secret" },
    });
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "mj-api-secret"]);
    expect(await weir.audit()).toEqual([]);
  },
  HOOK_MS,
);
