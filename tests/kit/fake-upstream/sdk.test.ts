import { afterAll, describe, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { startFakeUpstream } from "./server";

const upstream = startFakeUpstream();
afterAll(upstream.close);
const client = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: "sk-fake", maxRetries: 0 });
const SAID = "Héllo 你好 🙂 world";
const messages = [{ role: "user" as const, content: SAID }];

const WELL_FORMED = [
  "echo",
  "gpt-4o",
  "gpt-4o+usage:1000:500",
  "slow:1",
  "reasoning",
  "late-usage:1",
  "usage-every-chunk",
  "no-usage",
  "gzip",
  "crlf",
  "split-bytes",
  "comments",
  "multi-data",
  "no-space",
  "empty-choices",
  "finish-length",
  "content-filter",
  "crlf+multi-data+comments+no-space+split-bytes",
  "cached:1000:400:200",
  "audio-usage",
  "hang-after-done",
];

describe("the official OpenAI SDK reads every well-formed behaviour", () => {
  for (const model of WELL_FORMED) {
    if (model !== "hang-after-done") {
      test(`${model}, plain`, async () => {
        const answer = await client.chat.completions.create({ model, messages });
        expect(answer.choices[0]?.message.content).toBe(SAID);
        expect(answer.model).toBe(model);
      });
    }
    test(`${model}, streamed`, async () => {
      const stream = await client.chat.completions.create({ model, messages, stream: true });
      let said = "";
      for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? "";
      expect(said).toBe(SAID);
    });
  }

  test("usage comes in a last chunk without choices, only on request", async () => {
    const usages = async (includeUsage: boolean) => {
      const options = includeUsage ? { stream_options: { include_usage: true } } : {};
      const stream = await client.chat.completions.create({
        model: "cached:1000:400:200:50",
        messages,
        stream: true,
        ...options,
      });
      const chunks = [];
      for await (const chunk of stream) chunks.push(chunk);
      return chunks.filter((chunk) => chunk.usage);
    };
    expect(await usages(false)).toHaveLength(0);
    const [last, ...more] = await usages(true);
    expect(more).toHaveLength(0);
    expect(last?.choices).toEqual([]);
    expect(last?.usage).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 50,
      total_tokens: 1050,
      prompt_tokens_details: { cached_tokens: 400, cache_write_tokens: 200 },
    });
  });

  test("fragments of parallel tool calls join to complete JSON under the names of the request's tools", async () => {
    const tools = ["find_city", "find_river"].map((name) => ({
      type: "function" as const,
      function: { name, parameters: {} },
    }));
    const runner = client.chat.completions.stream({ model: "tool-split", messages, tools });
    const final = await runner.finalChatCompletion();
    const calls = (final.choices[0]?.message.tool_calls ?? []).flatMap((call) =>
      call.type === "function" ? [call.function] : [],
    );
    expect(calls.map((call) => call.name)).toEqual(["find_city", "find_river"]);
    expect(calls.map((call): unknown => JSON.parse(call.arguments))).toEqual([
      { city: "巴黎", unit: "celsius" },
      { city: 'Tokyo "East"' },
    ]);
    expect(final.choices[0]?.finish_reason).toBe("tool_calls");
  });

  test("n:2 gives two choices, plain and streamed", async () => {
    expect((await client.chat.completions.create({ model: "n:2", messages })).choices).toHaveLength(2);
    const final = await client.chat.completions.stream({ model: "n:2", messages }).finalChatCompletion();
    expect(final.choices.map((choice) => choice.message.content)).toEqual([SAID, SAID]);
  });

  test("refusal, json and role-only do what their names say", async () => {
    const of = async (model: string) =>
      (await client.chat.completions.stream({ model, messages }).finalChatCompletion()).choices[0]?.message;
    expect((await of("refusal"))?.refusal).toStartWith("I'm sorry");
    expect(JSON.parse((await of("json"))?.content ?? "")).toEqual({ answer: 42, unit: "度" });
    expect((await of("role-only"))?.content ?? "").toBe("");
  });

  test("words:N has exactly N content chunks and N output tokens, and text:N has N bytes", async () => {
    for (const model of ["words:50", "burst:50", "paced:50:1"]) {
      const stream = await client.chat.completions.create({
        model,
        messages,
        stream: true,
        stream_options: { include_usage: true },
      });
      let content = 0;
      let output = 0;
      for await (const chunk of stream) {
        if (chunk.choices[0]?.delta.content) content++;
        output = chunk.usage?.completion_tokens ?? output;
      }
      expect([model, content, output]).toEqual([model, 50, 50]);
    }
    const sized = await client.chat.completions.create({ model: "text:57000", messages });
    expect(sized.choices[0]?.message.content).toHaveLength(57000);
  });

  test("huge and big-frame answers arrive whole", async () => {
    const huge = await client.chat.completions.stream({ model: "huge:3", messages }).finalChatCompletion();
    expect(huge.choices[0]?.message.content).toHaveLength(3 * 1048576);
    const frame = await client.chat.completions.stream({ model: "big-frame:1500", messages }).finalChatCompletion();
    expect(frame.choices[0]?.message.content).toHaveLength(1500 * 1024);
  });

  test("legacy completions, plain and streamed", async () => {
    const plain = await client.completions.create({ model: "echo", prompt: SAID });
    expect(plain.choices[0]?.text).toBe(SAID);
    let said = "";
    for await (const chunk of await client.completions.create({ model: "echo", prompt: SAID, stream: true }))
      said += chunk.choices[0]?.text ?? "";
    expect(said).toBe(SAID);
  });
});

describe("the Responses stream", () => {
  test("follows the documented order with gapless sequence numbers and ends with the whole response", async () => {
    const stream = await client.responses.create({
      model: "reasoning+tool-split+usage:100:40",
      input: SAID,
      stream: true,
    });
    const events = [];
    for await (const event of stream) events.push(event);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, i) => i));
    const order = events.map((event) => event.type).filter((type, i, all) => type !== all[i - 1]);
    const item = (inner: string[]) => ["response.output_item.added", ...inner, "response.output_item.done"];
    const call = item(["response.function_call_arguments.delta", "response.function_call_arguments.done"]);
    const summary = "response.reasoning_summary";
    expect(order as string[]).toEqual([
      "response.created",
      "response.in_progress",
      ...item([`${summary}_part.added`, `${summary}_text.delta`, `${summary}_text.done`, `${summary}_part.done`]),
      ...item([
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
      ]),
      ...call,
      ...call,
      "response.completed",
    ]);
    const last = events.at(-1);
    expect(last?.type === "response.completed" && last.response.usage).toMatchObject({
      input_tokens: 100,
      output_tokens: 40,
      total_tokens: 140,
    });
  });

  test("the SDK's own accumulator agrees with the plain answer", async () => {
    for (const model of ["echo", "refusal", "tool-split", "json", "crlf+multi-data+split-bytes", "comments"]) {
      const streamed = await client.responses.stream({ model, input: SAID }).finalResponse();
      const plain = await client.responses.create({ model, input: SAID });
      expect([model, streamed.output_text]).toEqual([model, plain.output_text]);
      expect(streamed.output.map((one) => one.type)).toEqual(plain.output.map((one) => one.type));
    }
  });

  test("finish-length is an incomplete response", async () => {
    const response = await client.responses.create({ model: "finish-length", input: SAID });
    expect([response.status, response.incomplete_details?.reason]).toEqual(["incomplete", "max_output_tokens"]);
  });
});

describe("the other endpoints answer the SDK", () => {
  test("embeddings are the same vector in base64 and in numbers", async () => {
    const packed = await client.embeddings.create({ model: "echo", input: ["a", "bc"], dimensions: 8 });
    const numbers = await client.embeddings.create({
      model: "echo",
      input: ["a", "bc"],
      dimensions: 8,
      encoding_format: "float",
    });
    expect(packed.data).toHaveLength(2);
    packed.data[1]?.embedding.forEach((value, i) => expect(value).toBeCloseTo(numbers.data[1]?.embedding[i] ?? 9, 6));
    expect(packed.usage.total_tokens).toBe(10);
  });

  test("images, speech, transcription, moderation, models", async () => {
    const image = await client.images.generate({ model: "echo", prompt: "a fox", n: 2 });
    expect(image.data?.map((one) => (one.b64_json ?? "").slice(0, 5))).toEqual(["iVBOR", "iVBOR"]);
    const speech = await client.audio.speech.create({ model: "echo", voice: "alloy", input: "hi" });
    expect(speech.headers.get("content-type")).toBe("audio/mpeg");
    expect((await speech.arrayBuffer()).byteLength).toBe(8 * 417);
    const file = await toFile(Buffer.from("RIFF"), "a.wav");
    expect((await client.audio.transcriptions.create({ model: "whisper-1", file })).text).toBe(
      "Hello from the fake upstream.",
    );
    const streamed = await client.audio.transcriptions.create({ model: "whisper-1", file, stream: true });
    const types: string[] = [];
    for await (const event of streamed) types.push(event.type);
    expect(types.at(-1)).toBe("transcript.text.done");
    const moderation = await client.moderations.create({ model: "omni", input: ["kind words", "violence"] });
    expect(moderation.results.map((result) => result.flagged)).toEqual([false, true]);
    expect((await client.models.list()).data.map((model) => model.id)).toContain("error-429");
    expect((await client.models.retrieve("echo")).id).toBe("echo");
  });
});

describe("errors are the vendor's", () => {
  const failure = async (model: string, apiKey = "sk-fake") => {
    try {
      await client.withOptions({ apiKey }).chat.completions.create({ model, messages });
    } catch (error) {
      if (error instanceof OpenAI.APIError)
        return { status: error.status, code: error.code, type: error.type, headers: error.headers };
      throw error;
    }
    throw new Error(`${model} did not fail`);
  };

  test("each error status is the SDK's error of that status", async () => {
    for (const status of [400, 401, 403, 404, 429, 500, 502, 503, 529]) {
      expect((await failure(`error-${status}`)).status).toBe(status);
    }
    expect((await failure("error-429")).headers?.get("retry-after")).toBe("1");
  });

  test("keys bad-… and broke-… fail for any model", async () => {
    expect(await failure("echo", "bad-1")).toMatchObject({ status: 401, code: "invalid_api_key" });
    expect(await failure("echo", "broke-1")).toMatchObject({
      status: 429,
      code: "insufficient_quota",
      type: "insufficient_quota",
    });
  });

  test("flaky:2 fails twice per key, then works", async () => {
    expect((await failure("flaky:2+error-503", "sk-a")).status).toBe(503);
    expect((await failure("flaky:2+error-503", "sk-a")).status).toBe(503);
    const ok = await client
      .withOptions({ apiKey: "sk-a" })
      .chat.completions.create({ model: "flaky:2+error-503", messages });
    expect(ok.choices[0]?.message.content).toBe(SAID);
    expect((await failure("flaky:2+error-503", "sk-b")).status).toBe(503);
  });

  test("a misspelt behaviour is refused, not ignored", async () => {
    expect((await failure("echo+cut-midstreem")).status).toBe(400);
  });

  test("error-midstream reaches the SDK as an error after content", async () => {
    const stream = await client.chat.completions.create({ model: "error-midstream", messages, stream: true });
    let said = "";
    const read = async () => {
      for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? "";
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(said).toBe("Héllo 你好");
  });
});
