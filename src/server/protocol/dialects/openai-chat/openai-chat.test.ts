import { describe, expect, test } from "bun:test";
import { OpenAiPassthrough } from "../../../relay/upstream/passthrough-openai";
import { FrameSplitter } from "../../../lib/sse";
import { openaiChat } from "./dialect";
import { encodeUsage as encodeResponsesUsage } from "../openai-responses/answer-encode";
import { readUsage } from "./usage";
import { encodeUsage } from "./usage-encode";

const fixtures = `${import.meta.dir}/fixtures`;

/** Feeds a recording in pieces; answers what the caller would get and the meter. */
function play(pieces: Uint8Array[], showUsage = false): { out: string; meter: OpenAiPassthrough } {
  const splitter = new FrameSplitter();
  const meter = new OpenAiPassthrough(openaiChat, showUsage);
  const out: Uint8Array[] = [];
  for (const piece of pieces) {
    const region = splitter.push(piece);
    if (region && !meter.over) out.push(Buffer.from(meter.feed(region)));
  }
  return { out: Buffer.concat(out).toString(), meter };
}

interface Expected {
  contentBytes: number;
  usage: unknown;
  hidden: string | null;
}

const expectedOf: Record<string, Expected> = {
  "stream-text": { contentBytes: 5, usage: { input: 19, output: 10 }, hidden: `"choices":[],"usage":{` },
  "stream-tools": { contentBytes: 28, usage: { input: 82, output: 17 }, hidden: `"choices":[],"usage":{` },
  "stream-reasoning": { contentBytes: 23, usage: { input: 2, cache_read: 8, output: 4, reasoning: 6 }, hidden: null },
};

describe("the OpenAI chat dialect", () => {
  for (const [name, expected] of Object.entries(expectedOf)) {
    test(`${name}: usage, finish and content are the same wherever the recording is cut`, async () => {
      const bytes = new Uint8Array(await Bun.file(`${fixtures}/${name}.sse`).arrayBuffer());
      const whole = play([bytes]);
      expect(openaiChat.contentBytes(Buffer.from(bytes))).toBe(expected.contentBytes);
      for (let cut = 0; cut <= bytes.length; cut++) {
        const { out, meter } = play([bytes.subarray(0, cut), bytes.subarray(cut)]);
        expect(out).toBe(whole.out);
        expect(meter.usage).toEqual(expected.usage as never);
        expect(meter.finished && meter.done).toBe(true);
      }
    });

    test(`${name}: what is forwarded is the recording but for the last word and hidden usage`, async () => {
      const text = await Bun.file(`${fixtures}/${name}.sse`).text();
      const shown = play([Buffer.from(text)], true);
      expect(`${shown.out}data: [DONE]\n\n`).toBe(text);
      const frames = text.split("\n\n").filter((frame) => expected.hidden === null || !frame.includes(expected.hidden));
      expect(`${play([Buffer.from(text)]).out}data: [DONE]\n\n`).toBe(frames.join("\n\n"));
    });
  }

  test("an error frame ends the stream and is not forwarded", () => {
    const { out, meter } = play([
      Buffer.from(`data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"error":{"message":"no","code":500}}\n\n`),
    ]);
    expect(out).not.toContain("no");
    expect(meter.error).toEqual({ message: "no", type: "", code: "500", param: null });
  });

  test("words inside the answer are not taken for usage, finish, error or end", () => {
    const content = JSON.stringify(`"usage":{"prompt_tokens":1} "finish_reason":"stop" "error" [DONE]`);
    const frame = `data: {"choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}]}\n\n`;
    const { out, meter } = play([Buffer.from(frame)]);
    expect(out).toBe(frame);
    expect(meter).toMatchObject({ usage: undefined, finished: false, over: false });
  });

  test("spaces around colons do not hide usage or finish", () => {
    const text = `data: {"choices": [{"delta": {"content" : "ab"}, "finish_reason" : "stop"}], "usage" : {"prompt_tokens": 3, "completion_tokens": 4}}\n\n`;
    const { meter } = play([Buffer.from(text)]);
    expect(meter).toMatchObject({ finished: true, usage: { input: 3, output: 4 }, tally: { contentBytes: 2 } });
  });
});

test("thoughts that are said twice in a frame are measured once, and those of reasoning_details alone as well", () => {
  const frame = (delta: object) => Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
  const reasoning_details = [{ type: "reasoning.text", text: "12345678" }];
  expect(openaiChat.contentBytes(frame({ content: "abc", reasoning: "12345678", reasoning_details }))).toBe(11);
  expect(openaiChat.contentBytes(frame({ content: "abc", reasoning_details }))).toBe(11);
});

describe("MiniMax's errors inside answers", () => {
  test("are read by their number; 0, an answer with choices and odd numbers are none", () => {
    const body = (status_code: unknown, more = {}) => ({ base_resp: { status_code, status_msg: "m" }, ...more });
    expect(openaiChat.readError(body(1008))).toEqual({
      message: "m",
      type: "insufficient_quota",
      code: "1008",
      param: null,
    });
    expect(openaiChat.readError(body(2013, { choices: null }))).toMatchObject({
      type: "invalid_request_error",
      code: "2013",
    });
    for (const fine of [
      body(0),
      body("1008"),
      body(1008, { choices: [] }),
      { base_resp: null },
      { base_resp: [1008] },
    ]) {
      expect(openaiChat.readError(fine)).toBeUndefined();
    }
    expect(openaiChat.decodeFrame(JSON.stringify(body(1002)))).toMatchObject([
      { type: "error", error: { type: "rate_limit_error" } },
    ]);
    expect(openaiChat.decodeFrame(JSON.stringify(body(0, { choices: [] })))).toEqual([]);
  });
});

describe("OpenAI usage in disjoint buckets", () => {
  const table: [name: string, wire: unknown, buckets: unknown][] = [
    ["plain", { prompt_tokens: 10, completion_tokens: 5 }, { input: 10, output: 5 }],
    [
      "cached inside the prompt",
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
      { input: 6, cache_read: 4, output: 5 },
    ],
    [
      "DeepSeek's cache",
      { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 7 },
      { input: 3, cache_read: 7, output: 5 },
    ],
    [
      "Moonshot's cache",
      { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 2 },
      { input: 8, cache_read: 2, output: 5 },
    ],
    [
      "more cached than prompt",
      { prompt_tokens: 3, completion_tokens: 5, cached_tokens: 9 },
      { input: 0, cache_read: 3, output: 5 },
    ],
    [
      "reasoning inside the completion",
      { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10, completion_tokens_details: { reasoning_tokens: 6 } },
      { input: 1, output: 3, reasoning: 6 },
    ],
    [
      "reasoning beside the completion",
      { prompt_tokens: 1, completion_tokens: 9, total_tokens: 16, completion_tokens_details: { reasoning_tokens: 6 } },
      { input: 1, output: 9, reasoning: 6 },
    ],
    // A chunk of gemini-3-flash-preview through Google's OpenAI door, recorded on 2026-02-26
    // (discuss.ai.google.dev/t/127400).
    [
      "thoughts that only the total counts",
      { completion_tokens: 3, prompt_tokens: 9, total_tokens: 105 },
      { input: 9, output: 3, reasoning: 93 },
    ],
    [
      "a total with what was cached beside the prompt",
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 19, prompt_tokens_details: { cached_tokens: 4 } },
      { input: 6, cache_read: 4, output: 5 },
    ],
    [
      "audio both ways",
      {
        prompt_tokens: 9,
        completion_tokens: 8,
        prompt_tokens_details: { audio_tokens: 4 },
        completion_tokens_details: { audio_tokens: 5 },
      },
      { input: 5, audio_in: 4, output: 3, audio_out: 5 },
    ],
    [
      "pictures in the completion",
      {
        prompt_tokens: 5,
        completion_tokens: 1300,
        completion_tokens_details: { reasoning_tokens: 2, image_tokens: 1290 },
      },
      { input: 5, output: 8, reasoning: 2, image_out: 1290 },
    ],
    ["embeddings", { prompt_tokens: 8, total_tokens: 8 }, { input: 8, output: 0 }],
    [
      "numbers that count nothing are seen as such",
      { prompt_tokens: -8, completion_tokens: 2.9 },
      { input: NaN, cache_read: NaN, output: NaN },
    ],
    ["no tokens", {}, undefined],
    ["null", null, undefined],
    ["text", "12", undefined],
  ];
  for (const [name, wire, buckets] of table) {
    test(name, () => expect(readUsage(wire) as unknown).toEqual(buckets));
  }
});

test("how long written caches last is written to callers of chat and of Responses, and read from them again", () => {
  const written = { input: 12, cache_read: 5, cache_write_5m: 500, cache_write_1h: 1500, output: 20 };
  for (const told of [encodeUsage(written), encodeResponsesUsage(written)])
    expect(readUsage(told)).toMatchObject(written);
  const short = { input: 12, cache_write_5m: 500, output: 20 };
  expect(JSON.stringify([encodeUsage(short), encodeResponsesUsage(short)])).not.toContain("cache_creation");
});
