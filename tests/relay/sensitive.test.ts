/**
 * Sensitive words through a whole Weir: every dialect, every kind of text, both switches, forms and realtime sessions.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { startFakeRealtime } from "../kit/fake-upstream/realtime";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { startWeir, type Session, type Weir } from "../kit/weir";
import { connectClient } from "../realtime/kit";
import { textsOf } from "../../src/server/relay/admission/word-filter";

const upstream = startFakeUpstream();
const realtime = startFakeRealtime();
const MODELS = ["gpt-4o", "tts-1", "gpt-image-1", "embed-x", "text-moderation-stable"];
const BAD = "Forbidden PHRASE";
let weir: Weir;
let user: Session;
let key = "";

beforeAll(async () => {
  weir = await startWeir();
  await weir.priceModels(Object.fromEntries([...MODELS, "gpt-realtime"].map((name) => [name, 1])));
  await weir.newChannel({ base_url: upstream.url, models: MODELS });
  await weir.newChannel({ base_url: realtime.url, models: ["gpt-realtime"] });
  user = await weir.newUser({ quota: 1_000_000 });
  key = (await weir.newToken({}, user)).key;
}, HOOK_MS);
beforeEach(async () => {
  await weir.setOption("CheckSensitiveEnabled", "true");
  await weir.setOption("CheckSensitiveOnPromptEnabled", "true");
  await weir.setOption("SensitiveWords", "forbidden phrase\n\n  敏感词  ");
  upstream.journal.clear();
});
afterAll(async () => {
  await weir?.stop();
  upstream.close();
  realtime.close();
});

const png = `data:image/png;base64,${"forbiddenphrase".repeat(4)}`;
const chat = (messages: unknown, more = {}) => ({ model: "gpt-4o", messages, ...more });
const user_says = (content: unknown) => chat([{ role: "user", content }]);
const gemini = "/v1beta/models/gpt-4o:generateContent";

describe("a word is found in", () => {
  const requests: [what: string, path: string, body: unknown][] = [
    ["a message", "/v1/chat/completions", user_says(`say ${BAD}!`)],
    [
      "a block beside a picture",
      "/v1/chat/completions",
      user_says([
        { type: "image_url", image_url: { url: png } },
        { type: "text", text: "这是敏感词吗" },
      ]),
    ],
    ["a text that pretends to be a file", "/v1/chat/completions", user_says(`data:text/plain;base64,AAAA ${BAD}`)],
    [
      "a system prompt",
      "/v1/chat/completions",
      chat([
        { role: "system", content: BAD },
        { role: "user", content: "hi" },
      ]),
    ],
    [
      "an earlier tool result",
      "/v1/chat/completions",
      chat([
        { role: "user", content: "hi" },
        { role: "assistant", tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "c", content: BAD },
      ]),
    ],
    [
      "a tool's description",
      "/v1/chat/completions",
      chat([{ role: "user", content: "hi" }], {
        tools: [{ type: "function", function: { name: "f", description: BAD, parameters: {} } }],
      }),
    ],
    [
      "a stream's request, escaped",
      "/v1/chat/completions",
      JSON.stringify(chat([{ role: "user", content: "X" }], { stream: true })).replace("X", "\\u654f\\u611f\\u8bcd"),
    ],
    [
      "an Anthropic system block",
      "/v1/messages",
      {
        model: "gpt-4o",
        max_tokens: 9,
        system: [{ type: "text", text: BAD }],
        messages: [{ role: "user", content: "hi" }],
      },
    ],
    [
      "an Anthropic tool result",
      "/v1/messages",
      {
        model: "gpt-4o",
        max_tokens: 9,
        messages: [
          {
            role: "user",
            content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: BAD }] }],
          },
        ],
      },
    ],
    ["a Gemini part", gemini, { contents: [{ role: "user", parts: [{ text: BAD }] }] }],
    [
      "Gemini's system instruction",
      gemini,
      { systemInstruction: { parts: [{ text: BAD }] }, contents: [{ role: "user", parts: [{ text: "hi" }] }] },
    ],
    ["a Responses input", "/v1/responses", { model: "gpt-4o", input: BAD }],
    [
      "a Responses item",
      "/v1/responses",
      {
        model: "gpt-4o",
        instructions: "be kind",
        input: [{ role: "user", content: [{ type: "input_text", text: BAD }] }],
      },
    ],
    ["text to embed", "/v1/embeddings", { model: "embed-x", input: ["fine", BAD] }],
    ["text to speak", "/v1/audio/speech", { model: "tts-1", voice: "alloy", input: BAD }],
    ["a picture's prompt", "/v1/images/generations", { model: "gpt-image-1", prompt: BAD }],
  ];
  for (const [what, path, body] of requests) {
    test(`${what}: 400 in the caller's dialect, no upstream, nothing charged, a row without the text`, async () => {
      const before = (await weir.logs()).length;
      const { quota } = await weir.balance(user.id);
      const response = await weir.call(key, body, { path, headers: { "accept-language": "en" } });
      const text = await response.text();
      // spec, D-21
      expect([response.status, text.includes("sensitive words")]).toEqual([400, true]);
      expect(text.toLowerCase()).not.toContain("forbidden phrase");
      // spec
      expect(upstream.journal.entries).toEqual([]);
      const rows = (await weir.logs()).slice(before);
      // spec: D-21
      expect(rows.map((row) => [row.type, row.end_reason, row.quota])).toEqual([[5, "refused", 0]]);
      expect(JSON.stringify(rows).toLowerCase()).not.toContain("forbidden phrase");
      // spec: A-212
      expect((await weir.balance(user.id)).quota).toBe(quota);
    });
  }

  test("a form's field", async () => {
    const form = new FormData();
    form.set("model", "gpt-image-1");
    form.set("prompt", `a cat, ${BAD}`);
    form.set("image", new File([new Uint8Array(64)], "forbidden phrase.png", { type: "image/png" }));
    const response = await fetch(`${weir.url}/v1/images/edits`, {
      method: "POST",
      body: form,
      headers: { authorization: `Bearer ${key}` },
    });
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      "sensitive_words_detected",
    ]);
  });

  test("an event of a realtime session: the caller gets an error, the event is dropped, the session continues", async () => {
    const client = connectClient(weir.url, "gpt-realtime", { headers: { authorization: `Bearer ${key}` } });
    await client.open();
    client.say({
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text: BAD }] },
    });
    expect(await client.heard("error")).toMatchObject({ error: { code: "sensitive_words_detected" } });
    client.say({ type: "input_audio_buffer.append", audio: "AAAA" });
    client.say({ type: "response.create" });
    await client.heard("response.done");
    expect(realtime.last().received.map(String).join().toLowerCase()).not.toContain("forbidden");
    expect(realtime.last().received).toHaveLength(2);
    client.socket.close();
    await weir.waitForLog((row) => row.model_name === "gpt-realtime" && row.end_reason === "refused", 15_000);
  });
});

describe("where the operator masks instead of refusing", () => {
  beforeEach(() => weir.setOption("StopOnSensitiveEnabled", "false"));
  afterAll(() => weir.setOption("StopOnSensitiveEnabled", "true"));
  const heard = (): string => JSON.stringify(upstream.journal.entries.map(({ body }) => body)).toLowerCase();

  for (const [path, body] of [
    [
      "/v1/chat/completions",
      user_says([
        { type: "image_url", image_url: { url: png } },
        { type: "text", text: `say ${BAD}, 敏感词!` },
      ]),
    ],
    [
      "/v1/messages",
      {
        model: "gpt-4o",
        max_tokens: 9,
        system: [{ type: "text", text: BAD }],
        messages: [{ role: "user", content: `the ${BAD}` }],
      },
    ],
    [gemini, { contents: [{ role: "user", parts: [{ text: BAD }] }] }],
    ["/v1/responses", { model: "gpt-4o", input: [{ role: "user", content: [{ type: "input_text", text: BAD }] }] }],
    ["/v1/embeddings", { model: "embed-x", input: ["fine", BAD] }],
  ] as const) {
    test(`${path}: the upstream receives a mask in place of the words, and the call is answered`, async () => {
      const response = await weir.call(key, body, { path });
      expect(response.status).toBe(200);
      await response.text();
      expect(upstream.journal.entries).toHaveLength(1);
      expect(heard()).toContain("**###**");
      expect(heard()).not.toContain("forbidden phrase");
      expect(heard()).not.toContain("敏感词");
    });
  }

  test("parts of the request other than text stay unchanged", async () => {
    await weir.call(
      key,
      user_says([
        { type: "image_url", image_url: { url: png } },
        { type: "text", text: BAD },
      ]),
    );
    expect(heard()).toContain(png.toLowerCase());
  });

  test("a form is still refused: it is streamed to the vendor unchanged", async () => {
    const form = new FormData();
    form.set("model", "gpt-image-1");
    form.set("prompt", BAD);
    form.set("image", new File([new Uint8Array(64)], "a.png", { type: "image/png" }));
    const response = await fetch(`${weir.url}/v1/images/edits`, {
      method: "POST",
      body: form,
      headers: { authorization: `Bearer ${key}` },
    });
    expect([response.status, upstream.journal.entries.length]).toEqual([400, 0]);
  });

  test("an event of a realtime session is sent masked", async () => {
    const client = connectClient(weir.url, "gpt-realtime", { headers: { authorization: `Bearer ${key}` } });
    await client.open();
    client.say({
      type: "conversation.item.create",
      item: { type: "message", role: "user", content: [{ type: "input_text", text: BAD }] },
    });
    client.say({ type: "response.create" });
    await client.heard("response.done");
    const received = realtime.last().received.map(String).join();
    expect([received.toLowerCase().includes("forbidden"), received.includes("**###**")]).toEqual([false, true]);
    client.socket.close();
  });
});

describe("a call passes", () => {
  const ok = async (body: unknown): Promise<number> => (await weir.call(key, body)).status;

  test("when the words are elsewhere: in a picture's bytes, an id, or apart", async () => {
    expect(
      await ok(
        user_says([
          { type: "image_url", image_url: { url: png } },
          { type: "text", text: "forbidden  phrase, 敏 感 词" },
        ]),
      ),
    ).toBe(200);
    expect([...textsOf({ a: { id: BAD, data: BAD, deep: [[{ text: "x" }], null, 3, true] } })]).toEqual(["x"]);
  });

  test("when either switch is off, and at once when the list changes", async () => {
    expect(await ok(user_says(BAD))).toBe(400);
    for (const name of ["CheckSensitiveEnabled", "CheckSensitiveOnPromptEnabled"]) {
      await weir.setOption(name, "false");
      // spec, D-21
      expect(await ok(user_says(BAD))).toBe(200);
      await weir.setOption(name, "true");
    }
    await weir.setOption("SensitiveWords", "other");
    expect(await ok(user_says(BAD))).toBe(200);
    // spec: A-213, D-21
    expect(await ok(user_says("OTHER things"))).toBe(400);
    await weir.setOption("SensitiveWords", "");
    expect(await ok(user_says("other things"))).toBe(200);
  });
});
