/**
 * Frames that the event stream format allows and a caller's client cannot read, that are broken, or that are very
 * large. The callers are the vendors' own SDKs.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { askIn, type Piece, startFakeVendors, type VendorKey } from "../kit/fake-vendors";
import { startWeir, type Weir } from "../kit/weir";

type Json = Record<string, unknown>;

const SAID = ["Once upon a time", " there was", " a long sea."];
const INPUT = 7;
const OUTPUT = 5;

const part = (words: string): Json => ({
  candidates: [{ index: 0, content: { role: "model", parts: [{ text: words }] } }],
  modelVersion: "m",
  responseId: "g1",
});
const last = {
  candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "STOP" }],
  usageMetadata: { promptTokenCount: INPUT, candidatesTokenCount: OUTPUT },
  modelVersion: "m",
  responseId: "g1",
};
const frames = [...SAID.map(part), last];
const pretty = (frame: Json): string[] => JSON.stringify(frame, null, 2).split("\n");

/** The same four frames, written in every way that the format allows. */
const written: Readonly<Record<string, (frame: Json) => string>> = {
  plainly: (frame) => `data: ${JSON.stringify(frame)}\r\n\r\n`,
  "after a comment": (frame) => `: keep-alive\ndata: ${JSON.stringify(frame)}\n\n`,
  "with id and retry": (frame) => `id: 1\nretry: 3000\ndata: ${JSON.stringify(frame)}\n\n`,
  "with an event's name": (frame) => `event: message\ndata:${JSON.stringify(frame)}\n\n`,
  "with the id behind": (frame) => `data: ${JSON.stringify(frame)}\nid: 1\n\n`,
  "in several lines": (frame) =>
    `${pretty(frame)
      .map((line) => `data: ${line}\n`)
      .join("")}\n`,
  "in several lines, ended by CRLF": (frame) =>
    `${pretty(frame)
      .map((line) => `data: ${line}\r\n`)
      .join("")}\r\n`,
  "ended by CR": (frame) => `data: ${JSON.stringify(frame)}\r\r`,
  "between comments": (frame) => `: one\n\n: two\n\r\ndata: ${JSON.stringify(frame)}\n\r\n:three\n\n`,
};

const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason }],
});
const chatEnd: Piece[] = [
  { frame: chunk({}, "stop") },
  {
    frame: {
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT },
    },
  },
  { frame: "[DONE]" },
];
const spoken = SAID.map((words): Piece => ({ frame: chunk({ content: words }) }));
const whole = JSON.stringify(chunk({ content: "never told" }));

/** Frames that are no JSON, in the middle of a stream. */
const broken: Readonly<Record<string, string>> = {
  "cut off": `data: ${whole.slice(0, -20)}\n\n`,
  "cut off at its start": `data: ${whole.slice(20)}\n\n`,
  "of words": "data: upstream connect error or disconnect/reset before headers\n\n",
  "cut off, ended by CRLF": `data: ${whole.slice(0, -1)}\r\n\r\n`,
};

const MB = 1 << 20;
/** A picture as a chat model streams it: one frame. */
const picture = (bytes: number): string => `data:image/png;base64,${"iVBORw0KGgoA".repeat(bytes / 12)}`;

describe("streams of odd frames", () => {
  let vendors: Awaited<ReturnType<typeof startFakeVendors>>;
  let weir: Weir;
  let key = "";
  const models: string[] = [];

  const open = async (model: string, vendor: VendorKey, pieces: readonly Piece[]): Promise<void> => {
    vendors.scripts.set(encodeURIComponent(model), { vendor, pieces, end: "close" });
    models.push(model);
    const type = vendor === "gemini" ? 24 : 1;
    await weir.newChannel({ type, base_url: `${vendors.url}/${encodeURIComponent(model)}`, models: [model] });
  };

  beforeAll(async () => {
    vendors = await startFakeVendors();
    weir = await startWeir();
    for (const [name, write] of Object.entries(written))
      await open(`gemini-${name.replaceAll(/[^a-z]+/gi, "-")}`, "gemini", [{ raw: frames.map(write).join("") }]);
    for (const [name, raw] of Object.entries(broken))
      await open(`broken-${name.replaceAll(/[^a-z]+/gi, "-")}`, "chat", [...spoken, { raw }, ...chatEnd]);
    await open("lines", "chat", [
      ...spoken,
      {
        raw: `${pretty(chunk({ content: " The end." }))
          .map((line) => `data: ${line}\n`)
          .join("")}\n: ping\n\n`,
      },
      ...chatEnd,
    ]);
    const images = (bytes: number): Piece[] => [
      spoken[0] ?? expect.unreachable(),
      { frame: chunk({ images: [{ type: "image_url", image_url: { url: picture(bytes) } }] }) },
      ...chatEnd,
    ];
    await open("picture-10", "chat", images(10 * MB));
    await open("picture-40", "chat", images(40 * MB));
    const inline = { inlineData: { mimeType: "image/png", data: "iVBORw0KGgoA".repeat((10 * MB) / 12) } };
    await open("gemini-picture", "gemini", [
      { frame: { ...part(""), candidates: [{ index: 0, content: { role: "model", parts: [inline] } }] } },
      { frame: last },
    ]);
    await weir.priceModels(Object.fromEntries(models.map((model) => [model, 1])));
    ({ key } = await weir.newToken());
  }, 60_000);
  afterAll(async () => {
    await weir.stop();
    vendors.close();
  });

  for (const name of Object.keys(written)) {
    test(`Google's SDK reads the whole answer of a Gemini channel whose frames are written ${name}`, async () => {
      const model = `gemini-${name.replaceAll(/[^a-z]+/gi, "-")}`;
      const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: weir.url } });
      let text = "";
      let finish: unknown;
      for await (const { text: words, candidates } of await client.models.generateContentStream({
        model,
        contents: "hello",
      })) {
        text += words ?? "";
        finish = candidates?.[0]?.finishReason ?? finish;
      }
      expect([text, finish as string]).toEqual([SAID.join(""), "STOP"]);
      const row = await weir.waitForLog((one) => one.model_name === model);
      expect([row.end_reason, row.quota]).toEqual(["complete", INPUT + OUTPUT]);
    });
  }

  for (const name of Object.keys(broken)) {
    test(`a frame that is ${name} ends an OpenAI stream with the relay's error, and the row says so`, async () => {
      const model = `broken-${name.replaceAll(/[^a-z]+/gi, "-")}`;
      const client = new OpenAI({ apiKey: key, baseURL: `${weir.url}/v1`, maxRetries: 0 });
      let text = "";
      const read = async (): Promise<void> => {
        const stream = await client.chat.completions.create({
          model,
          stream: true,
          messages: [{ role: "user", content: "hello" }],
        });
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
      };
      const error: unknown = await read().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(OpenAI.APIError);
      expect(error).toMatchObject({ code: "upstream_malformed" });
      expect(text).toBe(SAID.join(""));
      const row = await weir.waitForLog((one) => one.model_name === model);
      expect(row.end_reason).toBe("upstream_error");
      expect(row.completion_tokens).toBeGreaterThan(0);
    });
  }

  test("a frame of several lines of data is whole, and passes", async () => {
    const text = await (await askIn(weir.url, "chat", key, "lines")).text();
    expect(text).toContain(" The end.");
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(await weir.waitForLog((row) => row.model_name === "lines")).toMatchObject({ end_reason: "complete" });
  });

  test("a frame of 10 MB is delivered whole: pictures come as one", async () => {
    const text = await (await askIn(weir.url, "chat", key, "picture-10")).text();
    expect(text.includes(picture(10 * MB))).toBe(true);
    expect(text).toEndWith("data: [DONE]\n\n");
    expect(await weir.waitForLog((row) => row.model_name === "picture-10")).toMatchObject({
      end_reason: "complete",
      quota: INPUT + OUTPUT,
    });
    const drawn = await askIn(weir.url, "gemini", key, "gemini-picture");
    expect((await drawn.text()).includes("iVBORw0KGgoA".repeat((10 * MB) / 12))).toBe(true);
    expect(await weir.waitForLog((row) => row.model_name === "gemini-picture")).toMatchObject({
      end_reason: "complete",
    });
  }, 60_000);

  test("a frame of 40 MB ends the stream with the relay's error, and frames of 10 MB pass afterwards", async () => {
    const text = await (await askIn(weir.url, "chat", key, "picture-40")).text();
    expect(text).toContain("upstream_malformed");
    expect(await weir.waitForLog((row) => row.model_name === "picture-40")).toMatchObject({
      end_reason: "upstream_error",
    });
    for (let time = 0; time < 3; time++)
      expect(await (await askIn(weir.url, "chat", key, "picture-10")).text()).toEndWith("data: [DONE]\n\n");
  }, 60_000);
});
