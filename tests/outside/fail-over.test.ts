/**
 * Another channel serves when one fails: a new installation retries by default, no expensive call is paid twice, and
 * retries do not make an outage worse. Real server, own fake vendors: one that fails in every way, and one beside it
 * that serves.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import type { LogRow } from "../../src/server/db/schema";
import { ENGINES, freshDatabase } from "../kit/databases";
import { startWeir, type Weir } from "../kit/weir";

/**
 * The behaviour of the first channel, by the beginning of its address; whether the call may have been accepted there.
 */
const failures = {
  e500: true,
  e503: true,
  e529: true,
  e504: true,
  garbled: true,
  half: true,
  cut: true,
  hang: true,
  e429: false,
  e401: false,
  e403: false,
  e404: false,
  quota: false,
  refused: false,
} as const;
type Failing = keyof typeof failures;
const kinds = Object.keys(failures) as Failing[];

interface Attempt {
  channel: number;
  failure: string;
  not_retried?: string;
}

/**
 * An address that reads whole requests and closes the connection without an answer, or (/half) in the middle of its
 * answer.
 */
async function startCutter(): Promise<{ url: string; server: Server }> {
  const server = createServer((socket: Socket) => {
    let text = "";
    socket.on("error", () => undefined);
    socket.on("data", (part) => {
      text += part.toString("latin1");
      const head = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? -1);
      const whole = length >= 0 ? text.length >= head + 4 + length : text.endsWith("0\r\n\r\n");
      if (head < 0 || !whole) return;
      if (text.startsWith("POST /half"))
        socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"id":');
      else socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`, server };
}

/** Fails as the first part of the path says; otherwise it serves. Records the requested paths. */
function startVendor() {
  const asked: string[] = [];
  /** Calls that fail wait until so many have come. */
  let together = 1;
  let failAll: () => void = () => {};
  let all = Promise.resolve();
  const error = (status: number, code = ""): Response =>
    Response.json({ error: { message: "no", type: "error", code } }, { status });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const bytes = await request.arrayBuffer();
      asked.push(pathname);
      const [, kind = ""] = pathname.split("/");
      const status = Number(/^e(\d{3})$/.exec(kind)?.[1] ?? 0);
      if (status > 0) {
        if (--together <= 0) failAll();
        await all;
        return error(status, status === 404 ? "model_not_found" : "");
      }
      if (kind === "quota") return error(500, "insufficient_quota");
      // An image in progress that is unknown when it is polled.
      if (kind === "lost")
        return request.method === "POST"
          ? Response.json({ id: "p1", status: "starting" }, { status: 201 })
          : error(404);
      if (kind === "garbled") return new Response("<html>welcome</html>", { headers: { "content-type": "text/html" } });
      if (kind === "hang")
        return new Promise<Response>((resolve) => request.signal.addEventListener("abort", () => resolve(error(500))));
      const ok = pathname.replace(/^\/ok/, "");
      if (ok === "/v1/images/generations") return Response.json({ created: 1, data: [{ b64_json: "AA==" }] });
      if (ok === "/v1/audio/speech") return new Response("sound", { headers: { "content-type": "audio/mpeg" } });
      if (ok === "/v1/audio/transcriptions") return Response.json({ text: "x" });
      if (ok === "/v1/embeddings")
        return Response.json({
          object: "list",
          model: "m",
          data: [{ object: "embedding", index: 0, embedding: [1] }],
          usage: { prompt_tokens: 1, total_tokens: 1 },
        });
      if (ok === "/v1/videos")
        return Response.json({
          id: "video_1",
          object: "video",
          status: "queued",
          model: "sora-2",
          progress: 0,
          seconds: "4",
          size: "720x1280",
          created_at: 1,
        });
      if (ok === "/suno/submit/MUSIC") return Response.json({ code: "success", message: "", data: "song-1" });
      if (ok === "/mj/submit/imagine") return Response.json({ code: 1, description: "ok", result: "1" });
      if (ok === "/v1/responses")
        return Response.json({
          id: "resp_1",
          object: "response",
          created_at: 1,
          status: "queued",
          model: "m",
          output: [],
        });
      if (pathname.includes(":generateContent"))
        return Response.json({
          candidates: [{ index: 0, content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP" }],
          usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        });
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      if (Buffer.from(bytes).includes('"stream":true')) {
        const chunk = { id: "1", object: "chat.completion.chunk", model: "m" };
        const frames = [
          { ...chunk, choices: [{ index: 0, delta: { content: "x" }, finish_reason: "stop" }] },
          { ...chunk, choices: [], usage },
        ];
        return new Response(`${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join("")}data: [DONE]\n\n`, {
          headers: { "content-type": "text/event-stream" },
        });
      }
      return Response.json({
        id: "1",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "x" } }],
        usage,
      });
    },
  });
  const failTogether = (calls: number): void => {
    together = calls;
    ({ promise: all, resolve: failAll } = Promise.withResolvers<void>());
  };
  return { url: `http://127.0.0.1:${server.port}`, asked, failTogether, stop: () => server.stop(true) };
}

describe("fail-over", () => {
  const vendor = startVendor();
  let cutter: Awaited<ReturnType<typeof startCutter>>;
  let weir: Weir;
  let key: string;
  let models = 0;

  beforeAll(async () => {
    cutter = await startCutter();
    weir = await startWeir();
    ({ key } = await weir.newToken());
  }, 30_000);
  beforeEach(() => void (vendor.asked.length = 0));
  afterAll(async () => {
    await weir?.stop();
    vendor.stop();
    cutter?.server.close();
  });

  const addressOf = (kind: Failing): string =>
    kind === "cut"
      ? cutter.url
      : kind === "half"
        ? `${cutter.url}/half`
        : kind === "refused"
          ? "http://127.0.0.1:1"
          : `${vendor.url}/${kind}`;

  /** A model with one failing channel and one that serves. `ratio`: units per token. */
  async function pair(
    kind: Failing,
    {
      ratio = 1,
      type = 1,
      setting = {},
      name,
    }: { ratio?: number; type?: number; setting?: object; name?: string } = {},
  ): Promise<{ model: string; bad: number; good: number }> {
    const model = name ?? `model-${++models}`;
    const patience = kind === "hang" ? { total_timeout: 1 } : {};
    const bad = await weir.newChannel({
      base_url: addressOf(kind),
      models: [model],
      type,
      priority: 9,
      setting: JSON.stringify({ ...setting, ...patience }),
    });
    const good = await weir.newChannel({
      base_url: `${vendor.url}/ok`,
      models: [model],
      type,
      setting: JSON.stringify(setting),
    });
    if (ratio >= 0) ratios[model] = ratio;
    await weir.setOption("ModelRatio", ratios);
    return { model, bad, good };
  }
  const ratios: Record<string, number> = {};
  const chat = (model: string, more: object = {}): object => ({
    model,
    messages: [{ role: "user", content: "hi" }],
    ...more,
  });
  const served = async (body: object, path = "/v1/chat/completions"): Promise<boolean> => {
    const response = await weir.call(key, body, { path });
    await response.text();
    return response.ok;
  };
  const attemptsOf = (row: LogRow): Attempt[] =>
    (JSON.parse(row.other) as { admin_info?: { attempts?: Attempt[] } }).admin_info?.attempts ?? [];
  const attempts = async (model: string): Promise<Attempt[]> =>
    attemptsOf(await weir.waitForLog((row) => row.model_name === model));
  const askedOf = (): number => vendor.asked.filter((path) => path.startsWith("/ok/")).length;

  test("a fresh installation serves through the other channel when one is dead, for any reason", async () => {
    expect(
      (await weir.root.ok<{ key: string; value: string }[]>("GET", "/api/option/")).find(
        ({ key: name }) => name === "RetryTimes",
      )?.value,
    ).toBe("3");
    const pairs: { kind: Failing; model: string; bad: number; good: number }[] = [];
    for (const kind of kinds) pairs.push({ kind, ...(await pair(kind)) });
    await Promise.all(
      pairs.map(async ({ kind, model, bad, good }) => {
        expect([kind, await served(chat(model))]).toEqual([kind, true]);
        expect((await attempts(model)).map(({ channel }) => channel)).toEqual([bad, good]);
      }),
    );
  }, 30_000);

  test("an expensive call that may have been accepted is not retried, plain or streamed, and its log row says why; a refused one is", async () => {
    // 500 tokens of output and a few of input, at 0.0002 USD each: 0.1 USD and more.
    const pairs: { kind: Failing; stream: boolean; model: string }[] = [];
    for (const kind of kinds)
      for (const stream of [false, true]) pairs.push({ kind, stream, ...(await pair(kind, { ratio: 100 })) });
    await Promise.all(
      pairs.map(async ({ kind, stream, model }) => {
        const accepted = failures[kind];
        expect([kind, stream, await served(chat(model, { stream }))]).toEqual([kind, stream, !accepted]);
        const made = await attempts(model);
        expect([kind, made.length, made[0]?.not_retried]).toEqual([
          kind,
          accepted ? 1 : 2,
          accepted ? "may_be_accepted" : undefined,
        ]);
      }),
    );
  }, 30_000);

  test("the limit is an option, in dollars; 0 means never", async () => {
    const { model } = await pair("e500", { ratio: 100 });
    await weir.setOption("RetryMaxCost", 0.2);
    expect(await served(chat(model))).toBe(true);
    const cheap = await pair("e500");
    await weir.setOption("RetryMaxCost", 0);
    expect(await served(chat(cheap.model))).toBe(false);
    await weir.setOption("RetryMaxCost", 0.1);
    expect(await served(chat(cheap.model))).toBe(true);
  });

  test("the estimate counts the input by its size, the limit that an unstreamed call names, and the group's ratio", async () => {
    // Another pair for each: a channel that the other one has shown to be at fault is asked last.
    const retried = async (more: object): Promise<boolean> => served(chat((await pair("e500")).model, more));
    expect(await retried({ max_tokens: 49_000 })).toBe(true);
    expect(await retried({ max_tokens: 51_000 })).toBe(false);
    expect(await retried({ max_tokens: 100, messages: [{ role: "user", content: "x".repeat(160_000) }] })).toBe(false);
    // The stream sent nothing: it has hardly begun.
    expect(await retried({ max_tokens: 51_000, stream: true })).toBe(true);
    await weir.setOption("GroupRatio", { default: 200, vip: 1 });
    expect(await retried({})).toBe(false);
    await weir.setOption("GroupRatio", { default: 1, vip: 1 });
  });

  test("a call with a price per call is never retried after it may have been accepted", async () => {
    const [may, not] = await Promise.all([pair("e500", { ratio: -1 }), pair("e429", { ratio: -1 })]);
    await weir.setOption("ModelPrice", {
      [may.model]: 0.00001,
      [not.model]: 0.00001,
      suno_music: 0.001,
      mj_imagine: 0.001,
    });
    expect(await served(chat(may.model))).toBe(false);
    expect(await served(chat(not.model))).toBe(true);
  });

  const form = (model: string): FormData => {
    const parts = new FormData();
    parts.append("model", model);
    const head = Buffer.alloc(44);
    for (const [text, at] of [
      ["RIFF", 0],
      ["WAVEfmt ", 8],
      ["data", 36],
    ] as const)
      head.write(text, at, "latin1");
    for (const [value, at] of [
      [8036, 4],
      [16, 16],
      [8000, 24],
      [8000, 28],
      [8000, 40],
    ] as const)
      head.writeUInt32LE(value, at);
    for (const [value, at] of [
      [1, 20],
      [1, 22],
      [1, 32],
      [8, 34],
    ] as const)
      head.writeUInt16LE(value, at);
    parts.append("file", new Blob([head, new Uint8Array(8000)], { type: "audio/wav" }), "a.wav");
    return parts;
  };
  /** Calls that are never retried. `at`: the settings of their channels; `name`: a model of such channels. */
  const never: Record<
    string,
    { at?: { type?: number; setting?: object }; name?: string; path: string; body(model: string): object }
  > = {
    pictures: { path: "/v1/images/generations", body: (model) => ({ model, prompt: "x" }) },
    speech: { path: "/v1/audio/speech", body: (model) => ({ model, input: "x", voice: "alloy" }) },
    "a transcription": { path: "/v1/audio/transcriptions", body: form },
    "a conversation that answers in sound": {
      path: "/v1/chat/completions",
      body: (model) => chat(model, { modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } }),
    },
    "a conversation that answers in pictures": {
      at: { type: 24 },
      path: "/v1beta/models/{model}:generateContent",
      body: () => ({
        contents: [{ parts: [{ text: "x" }] }],
        generationConfig: { responseModalities: ["TEXT", "IMAGE"] },
      }),
    },
    "a video": {
      at: { type: 55 },
      name: "sora-2",
      path: "/v1/videos",
      body: (model) => ({ model, prompt: "x", seconds: "4" }),
    },
    "a song": { at: { type: 36 }, name: "suno_music", path: "/suno/submit/music", body: () => ({ prompt: "x" }) },
    "a drawing": { at: { type: 2 }, name: "mj_imagine", path: "/mj/submit/imagine", body: () => ({ prompt: "x" }) },
    "a background response": {
      at: { setting: { native_calls: "always" } },
      path: "/v1/responses",
      body: (model) => ({ model, input: "x", background: true, max_output_tokens: 20 }),
    },
  };

  /** Makes such a call; returns whether a channel served it. */
  async function makes(what: string, model: string): Promise<boolean> {
    const { path = "", body } = never[what] ?? {};
    const asked = body?.(model) ?? {};
    const response = await (asked instanceof FormData
      ? fetch(`${weir.url}${path}`, { method: "POST", headers: { authorization: `Bearer ${key}` }, body: asked })
      : weir.call(key, asked, { path: path.replace("{model}", model) }));
    const text = await response.text();
    // A drawing is refused in its vendor's format.
    return response.ok && !text.includes('"code":4');
  }
  const remove = async (...ids: number[]): Promise<void> => {
    for (const id of ids) await weir.root.ok("DELETE", `/api/channel/${id}`);
  };

  test.each(Object.keys(never))(
    "%s: refused by one channel it is asked of the other, perhaps accepted it never is",
    async (what) => {
      const { at, name } = never[what] ?? {};
      for (const kind of ["e429", "refused", "e500", "cut"] as const) {
        const { model, bad, good } = await pair(kind, { ...at, ...(name !== undefined && { name }) });
        vendor.asked.length = 0;
        expect([what, kind, await makes(what, model), askedOf()]).toEqual([
          what,
          kind,
          !failures[kind],
          failures[kind] ? 0 : 1,
        ]);
        await remove(bad, good);
      }
    },
    30_000,
  );

  test("none of them is retried on another channel after a timeout", async () => {
    const made: [string, string, number, number][] = [];
    for (const [what, { at, name }] of Object.entries(never)) {
      const { model, bad, good } = await pair("hang", { ...at, ...(name !== undefined && { name }) });
      made.push([what, model, bad, good]);
    }
    vendor.asked.length = 0;
    await Promise.all(
      made.map(async ([what, model]) => expect([what, await makes(what, model)]).toEqual([what, false])),
    );
    expect(vendor.asked).toHaveLength(made.length);
    expect(askedOf()).toBe(0);
    await remove(...made.flatMap(([, , bad, good]) => [bad, good]));
  }, 30_000);

  test("an image in progress is not requested from another channel when its poll fails", async () => {
    const model = "acme/painter";
    const ids = [
      await weir.newChannel({ base_url: `${vendor.url}/lost`, models: [model], type: 56, priority: 9 }),
      await weir.newChannel({ base_url: `${vendor.url}/ok`, models: [model], type: 56 }),
    ];
    ratios[model] = 0.1;
    await weir.setOption("ModelRatio", ratios);
    expect(await served({ model, prompt: "x" }, "/v1/images/generations")).toBe(false);
    expect(vendor.asked).toEqual([`/lost/v1/models/${model}/predictions`, "/lost/v1/predictions/p1"]);
    await remove(...ids);
  });

  test("embeddings are retried like chat calls", async () => {
    const { model } = await pair("cut");
    expect(await served({ model, input: "x" }, "/v1/embeddings")).toBe(true);
  });

  test("of forty calls of one model at once ten are retried, and the rows of the others say why; another model has its own ten", async () => {
    const { model } = await pair("e500");
    // Else the channel pauses after the first failures, and calls that come later begin at the other one.
    vendor.failTogether(40);
    const answers = await Promise.all(Array.from({ length: 40 }, () => served(chat(model))));
    expect(answers.filter(Boolean)).toHaveLength(10);
    expect(askedOf()).toBe(10);
    const rows = (await weir.logs()).filter((row) => row.model_name === model);
    expect(rows.filter((row) => attemptsOf(row).at(-1)?.not_retried === "retry_budget")).toHaveLength(30);
    const other = await pair("e429");
    expect(await served(chat(other.model))).toBe(true);
  });

  test("of two hundred calls within ten seconds no more than a tenth are retried, and ten at least", async () => {
    const { model } = await pair("e500");
    const answers = await Promise.all(Array.from({ length: 200 }, () => served(chat(model))));
    const again = (await weir.logs()).filter((row) => row.model_name === model && attemptsOf(row).length > 1).length;
    expect(again).toBeGreaterThanOrEqual(10);
    expect(again).toBeLessThanOrEqual(20);
    expect(answers.filter(Boolean).length).toBe(askedOf());
  }, 30_000);
});

describe("the migration of RetryTimes", () => {
  // From a whole 0.1.0: tests/outside/upgrade.test.ts.
  test.each(ENGINES)(
    "keeps what a row says, keeps 0 where there are users, and leaves a new installation its default, on %s",
    async (engine) => {
      const fresh = await freshDatabase(engine);
      const { options, users } = fresh.db.t;
      const statement = readFileSync(
        join(import.meta.dir, `../../drizzle/${engine}/0002_retry_times_kept.sql`),
        "utf8",
      );
      const upgraded = async (): Promise<string[]> => {
        const { driver } = fresh.db;
        if (driver.sqlite) driver.sqlite.run(statement);
        else await driver.postgres?.unsafe(statement);
        return (await fresh.db.q.select().from(options))
          .filter(({ key }) => key === "RetryTimes")
          .map(({ value }) => value);
      };
      try {
        expect(await upgraded()).toEqual([]);
        await fresh.db.q.insert(users).values({ username: "ann", password_hash: "x", created_at: 1 });
        await fresh.db.q.insert(options).values({ key: "RetryTimes", value: "5", updated_at: 1 });
        expect(await upgraded()).toEqual(["5"]);
        await fresh.db.q.delete(options);
        expect(await upgraded()).toEqual(["0"]);
      } finally {
        await fresh.close();
      }
    },
    30_000,
  );
});
