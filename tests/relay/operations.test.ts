/** Calls other than chat, over a real Weir, with the official SDK where it supports them: answers, bills and ledger. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import OpenAI, { toFile } from "openai";
import type { LogRow } from "../../src/server/db/schema";
import type { BillLine } from "../../src/shared/charge";
import { LOG_TYPE } from "../../src/shared/log";
import { SPOOL_NAME } from "../../src/server/lib/request-body/spool-file";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir, type Weir } from "../kit/weir";

const upstream = startFakeUpstream();
let weir: Weir;
let key = "";
let client: OpenAI;
let before = 0;

const RATIOS: Record<string, number> = {
  "gpt-image-1": 2.5,
  "gpt-image-1+no-usage": 2.5,
  flux: 4,
  "tts-1": 7.5,
  "gpt-4o-mini-tts": 0.3,
  "whisper-1": 3,
  "whisper-1+no-usage": 3,
  "gpt-4o-transcribe": 1.25,
  "text-moderation-stable": 1,
  "rerank-x": 1,
  "rerank-x+no-usage": 1,
  "embed-x": 1,
  spoken: 3,
  "error-429": 1,
  "error-400": 1,
  "html-200": 1,
  "cut-midstream": 1,
  "flaky:1": 1,
  "hang-before-headers": 1,
  "tts-1+paced:100:20": 7.5,
};

beforeAll(async () => {
  weir = await startWeir({ env: { WEIR_MAX_BODY_MB: "12" } });
  const models = [...Object.keys(RATIOS), "dall-e-3", "dall-e-2", "text-embedding-3-small"];
  await weir.newChannel({
    base_url: upstream.url,
    models,
    model_mapping: JSON.stringify({ spoken: "whisper-1+no-usage" }),
  });
  await weir.priceModels(RATIOS, {
    ...Object.fromEntries(Object.keys(RATIOS).map((name) => [name, 1])),
    "gpt-image-1": 8,
    "gpt-4o-transcribe": 4,
    "gpt-4o-mini-tts": 20,
  });
  await weir.setOption("ModelPrice", { "dall-e-3": 0.04, "dall-e-2": 0.02 });
  await weir.setOption("AudioRatio", { "gpt-4o-transcribe": 2 });
  const user = await weir.newUser({ quota: 50_000_000 });
  ({ key } = await weir.newToken({ quota: 40_000_000 }, user));
  client = new OpenAI({ apiKey: key, baseURL: `${weir.url}/v1`, maxRetries: 0 });
}, 30_000);
afterAll(async () => {
  await weir?.stop();
  upstream.close();
});

/** The ledger is right after every case: no hold is left, every bill sums to its charge, no file is left on disk. */
afterEach(async () => {
  for (const deadline = Date.now() + 8_000; (await weir.holds()) > 0 && Date.now() < deadline;) await Bun.sleep(20);
  expect(await weir.holds()).toBe(0);
  expect(await weir.audit()).toEqual([]);
  const rows = await weir.logs();
  for (const row of rows.slice(before))
    if (row.type === LOG_TYPE.consume) expect(Math.round(billed(row))).toBe(row.quota);
  before = rows.length;
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(SPOOL_NAME))).toEqual([]);
  for (const deadline = Date.now() + 10_000; spooled() > 0 && Date.now() < deadline;) await Bun.sleep(10);
  expect(spooled()).toBe(0);
});

/** Open unnamed files of this process that hold bodies (Linux lists them). */
function spooled(): number {
  if (!existsSync("/proc/self/fd")) return 0;
  const link = (name: string): string => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      return "";
    }
  };
  return readdirSync("/proc/self/fd").filter((name) => link(name).includes(SPOOL_NAME)).length;
}

const other = (
  row: LogRow,
): { bill?: BillLine[]; estimated?: boolean; upstream_model_name?: string; request_path?: string } =>
  JSON.parse(row.other);
const billed = (row: LogRow): number => (other(row).bill ?? []).reduce((sum, line) => sum + Number(line.units), 0);
/** The row of the newest call, when it has been written. */
const newest = async (): Promise<LogRow> => {
  for (const deadline = Date.now() + 9_000; ; await Bun.sleep(10)) {
    const row = (await weir.logs()).slice(before).at(-1);
    if (row) return row;
    if (Date.now() > deadline) throw new Error("no log row");
  }
};
const failureOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );

/** Silence as a WAV file: 16 kHz, 16 bit, one channel. */
function wav(seconds: number): Buffer<ArrayBuffer> {
  const size = Math.round(seconds * 16_000) * 2;
  const bytes = Buffer.alloc(44 + size);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + size, 4);
  bytes.write("WAVEfmt ", 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(16_000, 24);
  bytes.writeUInt32LE(32_000, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("data", 36);
  bytes.writeUInt32LE(size, 40);
  return bytes;
}

const wavFile = (seconds: number) => toFile(wav(seconds), "speech.wav", { type: "audio/wav" });
const picture = () => toFile(Buffer.from("not really a picture"), "a.png", { type: "image/png" });

/** Sends a form as it stands. */
const post = (path: string, body: BodyInit, contentType?: string): Promise<Response> =>
  fetch(weir.url + path, {
    method: "POST",
    body,
    headers: { authorization: `Bearer ${key}`, ...(contentType && { "content-type": contentType }) },
  });
const refusal = async (answer: Promise<Response>): Promise<[number, string]> => {
  const response = await answer;
  const body = (await response.json()) as { error: { code: string } };
  return [response.status, body.error.code];
};

describe("images", () => {
  test("with a price per call cost price x size x quality x n", async () => {
    const made = await client.images.generate({
      model: "dall-e-3",
      prompt: "a fox",
      size: "1024x1792",
      quality: "hd",
      n: 2,
    });
    // spec: C-007
    expect(made.data).toHaveLength(2);
    // 0.04 USD x 500,000 x 2 (tall) x 1.5 (hd, tall) x 2 pictures
    expect(await newest()).toMatchObject({
      quota: 120_000,
      type: LOG_TYPE.consume,
      end_reason: "complete",
      model_name: "dall-e-3",
    });
    expect(other(await newest()).bill).toMatchObject([
      { kind: "call", count: 2, ratios: { size: "2", quality: "1.5", group_ratio: "1" } },
    ]);
    expect(other(await newest()).estimated).toBeUndefined();
  });

  test("of a small size cost less, and a body without a model means dall-e-2, which is added for the upstream", async () => {
    const answer = await post(
      "/v1/images/generations",
      JSON.stringify({ prompt: "a fox", size: "256x256" }),
      "application/json",
    );
    expect(answer.status).toBe(200);
    expect((await newest()).quota).toBe(4_000);
    expect(JSON.parse(upstream.journal.last().body)).toEqual({ model: "dall-e-2", prompt: "a fox", size: "256x256" });
  });

  test("with a ratio and no tokens cost 0.0025 USD x ratio each", async () => {
    await client.images.generate({ model: "flux", prompt: "a fox", n: 3 });
    expect((await newest()).quota).toBe(3 * 4 * 1_250);
  });

  test("of the token-billed family cost what they report, output at the image price", async () => {
    await client.images.generate({ model: "gpt-image-1", prompt: "a fox", quality: "low", size: "1024x1024" });
    const row = await newest();
    // 10 in and 20 out at ratio 2.5, images at 8 times that.
    expect(row).toMatchObject({ quota: 425, prompt_tokens: 10, completion_tokens: 20 });
    expect(other(row).bill?.map(({ kind, count }) => [kind, count])).toEqual([
      ["input", 10],
      ["image_out", 20],
    ]);
  });

  test("that report nothing are billed by the vendor's table, and the row says that it is an estimate", async () => {
    await client.images.generate({
      model: "gpt-image-1+no-usage",
      prompt: "abc",
      quality: "medium",
      size: "1024x1024",
    });
    const row = await newest();
    expect(other(row)).toMatchObject({ estimated: true });
    expect(row.completion_tokens).toBe(1056);
  });

  test("stream unchanged; the usage of the last event is the bill", async () => {
    const stream = await client.images.generate({
      model: "gpt-image-1",
      prompt: "a fox",
      stream: true,
      partial_images: 1,
    });
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    expect(types).toEqual(["image_generation.partial_image", "image_generation.completed"]);
    expect(await newest()).toMatchObject({ quota: 425, is_stream: true, end_reason: "complete" });
  });

  test("are edited and varied by forms, which arrive upstream byte for byte", async () => {
    await client.images.edit({ model: "gpt-image-1", image: [await picture(), await picture()], prompt: "a hat" });
    expect(upstream.journal.last().path).toBe("/v1/images/edits");
    expect((await newest()).quota).toBe(425);
    await client.images.createVariation({ model: "dall-e-2", image: await picture(), n: 2, size: "512x512" });
    expect(upstream.journal.last().path).toBe("/v1/images/variations");
    expect((await weir.logs()).at(-1)).toMatchObject({ quota: 9_000 });

    const form =
      '--x\r\nContent-Disposition: form-data; name="image"; filename="a.png"\r\n\r\n\0\r\n\xff\r\n--x\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nhat\r\n--x--\r\n';
    const sent = Buffer.from(form, "latin1");
    expect((await post("/v1/images/edits", sent, "multipart/form-data; boundary=x")).status).toBe(200);
    const got = Buffer.from(upstream.journal.last().bytes).toString("latin1");
    expect(got).toBe(`--x\r\nContent-Disposition: form-data; name="model"\r\n\r\ndall-e-2\r\n${form}`);
  });

  test("refuse what cannot be priced or sent: no prompt, n of 0, a model said twice, a file for a model", async () => {
    expect(await refusal(post("/v1/images/generations", '{"model":"dall-e-3"}', "application/json"))).toEqual([
      400,
      "invalid_request",
    ]);
    expect(
      await refusal(post("/v1/images/generations", '{"model":"dall-e-3","prompt":"a","n":0}', "application/json")),
    ).toEqual([400, "invalid_request"]);
    expect(await refusal(post("/v1/images/edits", '{"model":"dall-e-3","prompt":"a"}', "application/json"))).toEqual([
      400,
      "invalid_request",
    ]);
    const twice = new FormData();
    twice.append("model", "dall-e-2");
    twice.append("model", "gpt-image-1");
    twice.append("prompt", "hat");
    twice.append("image", new Blob(["x"]), "a.png");
    expect(await refusal(post("/v1/images/edits", twice))).toEqual([400, "invalid_request"]);
    twice.delete("model");
    twice.append("model", new Blob(["dall-e-2"]), "m");
    expect(await refusal(post("/v1/images/edits", twice))).toEqual([400, "invalid_request"]);
    twice.delete("model");
    twice.delete("image");
    expect(await refusal(post("/v1/images/edits", twice))).toEqual([400, "invalid_request"]);
  });
});

describe("speech", () => {
  test("passes through unchanged and is billed by its characters", async () => {
    const answer = await client.audio.speech.create({
      model: "tts-1",
      voice: "alloy",
      input: "héllo 👋",
      response_format: "opus",
    });
    expect(answer.headers.get("content-type")).toBe("audio/ogg");
    const sound = Buffer.from(await answer.arrayBuffer());
    expect(sound.length).toBe(8 * 417);
    expect(await newest()).toMatchObject({
      quota: Math.round(7 * 7.5),
      prompt_tokens: 7,
      completion_tokens: 0,
      end_reason: "complete",
    });
    expect(other(await newest()).estimated).toBeUndefined();
  });

  test("as events is billed by the tokens that they report", async () => {
    const answer = await weir.call(
      key,
      { model: "gpt-4o-mini-tts", voice: "alloy", input: "hello", stream_format: "sse" },
      { path: "/v1/audio/speech" },
    );
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    expect(await answer.text()).toContain("speech.audio.done");
    expect(other(await newest()).bill?.map(({ kind, count }) => [kind, count])).toEqual([
      ["input", 10],
      ["audio_out", 20],
    ]);
  });

  test("without text, as a page, or from a channel that fails costs nothing", async () => {
    expect(
      await refusal(weir.call(key, { model: "tts-1", voice: "alloy", input: "" }, { path: "/v1/audio/speech" })),
    ).toEqual([400, "invalid_request"]);
    expect(
      await refusal(weir.call(key, { model: "html-200", voice: "alloy", input: "a" }, { path: "/v1/audio/speech" })),
    ).toEqual([502, "upstream_malformed"]);
    expect(
      (
        await refusal(weir.call(key, { model: "error-429", voice: "alloy", input: "a" }, { path: "/v1/audio/speech" }))
      )[0],
    ).toBe(429);
    expect((await newest()).quota).toBe(0);
  });

  test("whose caller disconnects before the answer costs nothing", async () => {
    const leave = new AbortController();
    const call = failureOf(
      weir.call(
        key,
        { model: "hang-before-headers", voice: "alloy", input: "abc" },
        { path: "/v1/audio/speech", signal: leave.signal },
      ),
    );
    await upstream.journal.wait((entry) => entry.model === "hang-before-headers");
    leave.abort();
    await call;
    expect(await newest()).toMatchObject({ quota: 0, end_reason: "caller_left" });
  }, 15_000);
});

describe("transcription", () => {
  test("is billed per started second when the answer has no usage, whatever the order of the parts", async () => {
    for (const order of [
      ["model", "file"],
      ["file", "model"],
    ]) {
      const form = new FormData();
      for (const name of order) {
        if (name === "model") form.append("model", "whisper-1+no-usage");
        else form.append("file", new Blob([wav(2.5)], { type: "audio/wav" }), "speech.wav");
      }
      const answer = await post("/v1/audio/transcriptions", form);
      expect(await answer.json()).toEqual({ text: "Hello from the fake upstream." });
      // 3 seconds are 50 tokens at ratio 3.
      expect((await weir.logs()).at(-1)).toMatchObject({ quota: 150, prompt_tokens: 50, type: LOG_TYPE.consume });
    }
    expect(other(await newest()).estimated).toBeUndefined();
  });

  test("passes every format through unchanged", async () => {
    for (const [format, begins] of [
      ["text", "Hello"],
      ["srt", "1\n00:00"],
      ["vtt", "WEBVTT"],
    ] as const) {
      const answer = await client.audio.transcriptions.create({
        model: "whisper-1",
        file: await wavFile(2.5),
        response_format: format,
      });
      expect(String(answer)).toStartWith(begins);
      expect((await weir.logs()).at(-1)?.quota).toBe(150);
    }
    const verbose = await client.audio.transcriptions.create({
      model: "whisper-1",
      file: await wavFile(9),
      response_format: "verbose_json",
    });
    expect(verbose.segments).toHaveLength(1);
    // The answer says 3 seconds: that wins over the file's 9.
    expect((await weir.logs()).at(-1)?.quota).toBe(150);
  });

  test("reported tokens win over the duration, plain and streamed", async () => {
    await client.audio.transcriptions.create({ model: "gpt-4o-transcribe", file: await wavFile(2) });
    // 10 audio tokens at twice, 20 text tokens at four times the ratio.
    const quota = Math.round((10 * 2 + 20 * 4) * 1.25);
    expect(await newest()).toMatchObject({ quota, prompt_tokens: 10, completion_tokens: 20 });
    const stream = await client.audio.transcriptions.create({
      model: "gpt-4o-transcribe",
      file: await wavFile(2),
      stream: true,
    });
    let text = "";
    for await (const event of stream) if (event.type === "transcript.text.delta") text += event.delta;
    expect(text).toBe("Hello from the fake upstream.");
    expect((await weir.logs()).at(-1)).toMatchObject({ quota, is_stream: true, end_reason: "complete" });
  });

  test("a mapped model is inserted into the form, and every other byte stays; translations have their own path", async () => {
    const head =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n';
    const make = (model: string) =>
      Buffer.concat([
        Buffer.from(head),
        wav(1),
        Buffer.from(`\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--b--\r\n`),
      ]);
    const answer = await post("/v1/audio/translations", make("spoken"), "multipart/form-data; boundary=b");
    expect(answer.status).toBe(200);
    expect(upstream.journal.last().path).toBe("/v1/audio/translations");
    expect(Buffer.from(upstream.journal.last().bytes).equals(make("whisper-1+no-usage"))).toBe(true);
    expect(other(await newest())).toMatchObject({
      upstream_model_name: "whisper-1+no-usage",
      request_path: "/v1/audio/translations",
    });
  });

  test("of more than 4 MB is sent again complete to the next channel from its file, mapped or not", async () => {
    await weir.setOption("RetryTimes", 2);
    const second = await weir.newChannel({
      base_url: upstream.url,
      key: "bad-key",
      models: ["spoken", "whisper-1"],
      priority: 9,
    });
    const sound = wav(200);
    for (const [model, sent] of [
      ["spoken", "whisper-1+no-usage"],
      ["whisper-1", "whisper-1"],
    ] as const) {
      const form = new FormData();
      form.append("file", new Blob([sound], { type: "audio/wav" }), "long.wav");
      form.append("model", model);
      const answer = await post("/v1/audio/transcriptions", form);
      expect(answer.status).toBe(200);
      const [first, last] = upstream.journal.entries.slice(-2);
      expect(first?.key).toBe("bad-key");
      expect(last?.model).toBe(sent);
      expect(last?.headers["content-length"]).toBe(String(last?.bytes.length));
      const got = Buffer.from(last?.bytes ?? []);
      const start = got.indexOf("\r\n\r\n") + 4;
      expect(got.subarray(start, start + sound.length).equals(sound)).toBe(true);
    }
    await weir.root.ok("DELETE", `/api/channel/${second}`);
    await weir.setOption("RetryTimes", 0);
  }, 20_000);

  test("whose caller disconnects while sending, or whose form is truncated, leaves nothing behind", async () => {
    const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n');
    const headers = { authorization: `Bearer ${key}`, "content-type": "multipart/form-data; boundary=b" };
    let sent = 0;
    let most = 0;
    const leave = new AbortController();
    const endless = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(sent++ === 0 ? head : Buffer.alloc(512 << 10));
        most = Math.max(most, spooled());
        await Bun.sleep(5);
        if (sent > 18) leave.abort();
      },
    });
    await failureOf(
      fetch(`${weir.url}/v1/audio/transcriptions`, { method: "POST", body: endless, headers, signal: leave.signal }),
    );
    expect((await newest()).quota).toBe(0);
    if (existsSync("/proc/self/fd")) expect(most).toBe(1);
    const early = Buffer.concat([head, Buffer.alloc(5 << 20)]);
    expect(await refusal(post("/v1/audio/transcriptions", early, headers["content-type"]))).toEqual([
      400,
      "invalid_request",
    ]);
  }, 20_000);

  test("refuses a file that is not audio, a truncated form, no form, and a file that is too large", async () => {
    const form = (file: BlobPart, name = "file"): FormData => {
      const made = new FormData();
      made.append("model", "whisper-1");
      made.append(name, new Blob([file]), "speech.mp3");
      return made;
    };
    const path = "/v1/audio/transcriptions";
    const forwarded = upstream.journal.entries.length;
    expect(await refusal(post(path, form("this is no sound at all, whatever its name says")))).toEqual([
      400,
      "invalid_request",
    ]);
    expect(await refusal(post(path, form("")))).toEqual([400, "invalid_request"]);
    expect(await refusal(post(path, form(wav(1), "sound")))).toEqual([400, "invalid_request"]);
    expect(await refusal(post(path, '{"model":"whisper-1"}', "application/json"))).toEqual([400, "invalid_request"]);
    expect(await refusal(post(path, "--x\r\nContent-Dispo", "multipart/form-data; boundary=x"))).toEqual([
      400,
      "invalid_request",
    ]);
    expect(await refusal(post(path, "abc", "multipart/form-data"))).toEqual([400, "invalid_request"]);
    const huge = form(Buffer.alloc(13 << 20));
    const response = await post(path, huge);
    expect(response.status).toBe(413);
    expect(upstream.journal.entries.length).toBe(forwarded);
  });
});

describe("moderation, reranking, engines", () => {
  test("a moderation has a default model, and is estimated because vendors report nothing", async () => {
    const answer = await post("/v1/moderations", '{"input":"violence"}', "application/json");
    expect(await answer.json()).toMatchObject({ results: [{ flagged: true }] });
    expect(JSON.parse(upstream.journal.last().body)).toMatchObject({ model: "text-moderation-stable" });
    expect(other(await newest())).toMatchObject({ estimated: true });
    expect((await newest()).quota).toBe(4);
  });

  test("a reranking is billed by the tokens it reports", async () => {
    const answer = await weir.call(
      key,
      { model: "rerank-x", query: "q", documents: ["a", "b", "c"], top_n: 2 },
      { path: "/v1/rerank" },
    );
    expect(((await answer.json()) as { results: unknown[] }).results).toHaveLength(2);
    expect(await newest()).toMatchObject({ quota: 10, prompt_tokens: 10, completion_tokens: 0 });
    expect(
      await refusal(weir.call(key, { model: "rerank-x", query: "q", documents: [] }, { path: "/v1/rerank" })),
    ).toEqual([400, "invalid_request"]);
    expect(await refusal(weir.call(key, { query: "q", documents: ["a"] }, { path: "/v1/rerank" }))).toEqual([
      400,
      "model_missing",
    ]);
  });

  test("an engine's embeddings take the model of the path", async () => {
    const answer = await weir.call(key, { input: "hello" }, { path: "/v1/engines/embed-x/embeddings" });
    expect(answer.status).toBe(200);
    expect(upstream.journal.last()).toMatchObject({ path: "/v1/embeddings", model: "embed-x" });
    expect(await newest()).toMatchObject({ quota: 10, model_name: "embed-x" });
  });
});

describe("channel types", () => {
  test("are called at their own paths, and types that do not serve an operation are not called", async () => {
    const types = [
      [38, "jina-r", "/v1/rerank", "/v1/rerank"],
      [17, "ali-r", "/v1/rerank", "/compatible-api/v1/reranks"],
      [26, "zhipu-i", "/v1/images/generations", "/api/paas/v4/images/generations"],
    ] as const;
    for (const [type, model, path, asked] of types) {
      await weir.newChannel({ type, base_url: upstream.url, models: [model], key: "good-key" });
      await weir.setOption("ModelRatio", { ...RATIOS, [model]: 1 });
      const answer = await weir.call(key, { model, query: "q", documents: ["a"], prompt: "a fox" }, { path });
      expect([model, answer.status, upstream.journal.last().path]).toEqual([model, 200, asked]);
    }
    const before = upstream.journal.entries.length;
    expect(
      await refusal(weir.call(key, { model: "jina-r", voice: "alloy", input: "a" }, { path: "/v1/audio/speech" })),
    ).toEqual([404, "operation_unsupported"]);
    expect(upstream.journal.entries.length).toBe(before);
    await weir.setOption("ModelRatio", RATIOS);
  });
});

test("limits of a token count these calls, and every response has the rate limit headers", async () => {
  const limited = await weir.newToken({ name: "limited", rpm: 2 });
  const say = (): Promise<Response> =>
    weir.call(limited.key, { model: "tts-1", voice: "alloy", input: "hi" }, { path: "/v1/audio/speech" });
  const form = new FormData();
  form.append("file", new Blob([wav(1)]), "a.wav");
  const heard = await fetch(`${weir.url}/v1/audio/transcriptions`, {
    method: "POST",
    body: form,
    headers: { authorization: `Bearer ${limited.key}` },
  });
  const answers = [heard, await say(), await say()];
  expect(answers.map((answer) => [answer.status, answer.headers.get("x-ratelimit-remaining-requests")])).toEqual([
    [200, "1"],
    [200, "0"],
    [429, "0"],
  ]);
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
});

describe("answers without an upstream", () => {
  test("a balance is read from the token, or from the user, in dollars or in units", async () => {
    const user = await weir.newUser({ quota: 3_000_000 });
    const token = await weir.newToken({ quota: 1_000_000 }, user);
    const ask = async (path: string): Promise<Record<string, unknown>> =>
      (await fetch(`${weir.url}${path}`, { headers: { authorization: `Bearer ${token.key}` } })).json() as Promise<
        Record<string, unknown>
      >;
    await weir.call(token.key, { model: "rerank-x", query: "q", documents: ["a"] }, { path: "/v1/rerank" });
    for (const base of ["/dashboard", "/v1/dashboard"]) {
      // spec: A-203
      expect(await ask(`${base}/billing/subscription`)).toEqual({
        object: "billing_subscription",
        has_payment_method: true,
        soft_limit_usd: 2,
        hard_limit_usd: 2,
        system_hard_limit_usd: 2,
        access_until: 0,
      });
      expect(await ask(`${base}/billing/usage?start_date=2026-01-01`)).toEqual({ object: "list", total_usage: 0.002 });
    }
    await weir.setOption("DisplayTokenStatEnabled", false);
    await weir.setOption("DisplayInCurrencyEnabled", false);
    // spec: A-203
    expect(await ask("/v1/dashboard/billing/subscription")).toMatchObject({ hard_limit_usd: 3_000_000 });
    expect(await ask("/v1/dashboard/billing/usage")).toMatchObject({ total_usage: 1_000 });
    await weir.setOption("DisplayTokenStatEnabled", true);
    await weir.setOption("DisplayInCurrencyEnabled", true);
    const free = await weir.newToken({}, user);
    const answer = await fetch(`${weir.url}/dashboard/billing/subscription`, {
      headers: { authorization: `Bearer ${free.key}` },
    });
    expect(await answer.json()).toMatchObject({ hard_limit_usd: 100_000_000 });
    expect((await fetch(`${weir.url}/dashboard/billing/usage`)).status).toBe(401);
  });

  test("a list of models has the format of the calling SDK", async () => {
    const ask = async (path: string, headers: Record<string, string>): Promise<unknown> =>
      (await fetch(weir.url + path, { headers })).json();
    const openai = { authorization: `Bearer ${key}` };
    expect(await ask("/v1/models", openai)).toMatchObject({
      object: "list",
      data: expect.arrayContaining([expect.objectContaining({ id: "tts-1", object: "model" })]),
    });
    const anthropic = { "x-api-key": key, "anthropic-version": "2023-06-01" };
    expect(await ask("/v1/models", anthropic)).toMatchObject({
      has_more: false,
      data: expect.arrayContaining([expect.objectContaining({ id: "tts-1", type: "model" })]),
    });
    expect(await ask("/v1/models/tts-1", anthropic)).toMatchObject({ type: "model", display_name: "tts-1" });
    const named = { models: expect.arrayContaining([expect.objectContaining({ name: "models/tts-1" })]) };
    expect(await ask("/v1/models", { "x-goog-api-key": key })).toMatchObject(named);
    expect(await ask(`/v1beta/models?key=${key}`, {})).toMatchObject(named);
    expect(await ask("/v1beta/models/tts-1", { "x-goog-api-key": key })).toMatchObject({ name: "models/tts-1" });
  });

  test("known paths that are not served say so", async () => {
    for (const [method, path] of [
      ["POST", "/v1/edits"],
      ["POST", "/v1/fine-tunes"],
      ["GET", "/v1/fine-tunes/ft-1"],
      ["POST", "/v1/fine_tuning/jobs"],
      ["DELETE", "/v1/models/gpt-4o"],
    ] as const) {
      const answer = await fetch(weir.url + path, { method, headers: { authorization: `Bearer ${key}` } });
      expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
        501,
        "api_not_implemented",
      ]);
    }
  });
});
