/**
 * A vendor's usage beside an error is billed, even after a finish reason, and the caller gets both: the usage and the
 * error. The first shape is OpenRouter's: a finish, then a chunk with `error` and `usage`, then [DONE].
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import {
  askIn,
  callerKeys,
  type CallerKey,
  channelOf,
  type Piece,
  startFakeVendors,
  type VendorKey,
} from "../kit/fake-vendors";
import { startWeir, type Weir } from "../kit/weir";

type Json = Record<string, unknown>;
const [INPUT, OUTPUT] = [43, 10];
const SAID: Piece[] = [
  { text: "Once upon a time there was a long sea, and a longer story about it that no model finished in" },
  { text: " its ten tokens." },
];
const chunk = { id: "gen-1", object: "chat.completion.chunk", created: 1, model: "m" };
const spent = { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT };
const broke = { message: "The provider broke off", code: 502 };

/** How each vendor reports an error and its usage: in the middle of the answer, and after its finish. */
const tellings: Readonly<Record<string, { vendor: VendorKey; pieces: readonly Piece[] }>> = {
  "openrouter-finished": {
    vendor: "chat",
    pieces: [
      ...SAID,
      { frame: { ...chunk, choices: [{ index: 0, delta: { content: "" }, finish_reason: "length" }] } },
      {
        frame: {
          ...chunk,
          choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
          error: broke,
          usage: spent,
        },
      },
      { frame: "[DONE]" },
    ],
  },
  "openrouter-amid": {
    vendor: "chat",
    pieces: [...SAID, { frame: { ...chunk, choices: [], error: broke, usage: spent } }, { frame: "[DONE]" }],
  },
  "anthropic-finished": {
    vendor: "anthropic",
    pieces: [
      ...SAID,
      { frame: { type: "content_block_stop", index: 0 }, event: "content_block_stop" },
      {
        frame: {
          type: "message_delta",
          delta: { stop_reason: "max_tokens", stop_sequence: null },
          usage: { input_tokens: INPUT, output_tokens: OUTPUT },
        },
        event: "message_delta",
      },
      { frame: { type: "error", error: { type: "overloaded_error", message: broke.message } }, event: "error" },
    ],
  },
  "anthropic-amid": {
    vendor: "anthropic",
    pieces: [
      ...SAID,
      {
        frame: {
          type: "error",
          error: { type: "overloaded_error", message: broke.message },
          usage: { input_tokens: INPUT, output_tokens: OUTPUT },
        },
        event: "error",
      },
    ],
  },
  "gemini-finished": {
    vendor: "gemini",
    pieces: [
      ...SAID,
      {
        frame: {
          candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "MAX_TOKENS" }],
          modelVersion: "m",
          responseId: "g1",
        },
      },
      {
        frame: {
          error: { code: 500, message: broke.message, status: "INTERNAL" },
          usageMetadata: { promptTokenCount: INPUT, candidatesTokenCount: OUTPUT },
        },
      },
    ],
  },
  "gemini-amid": {
    vendor: "gemini",
    pieces: [
      ...SAID,
      {
        frame: {
          error: { code: 500, message: broke.message, status: "INTERNAL" },
          usageMetadata: { promptTokenCount: INPUT, candidatesTokenCount: OUTPUT },
        },
      },
    ],
  },
  "responses-amid": {
    vendor: "responses",
    pieces: [
      ...SAID,
      {
        frame: {
          type: "response.failed",
          response: {
            id: "resp_1",
            object: "response",
            created_at: 1,
            status: "failed",
            model: "m",
            output: [],
            error: { code: "server_error", message: broke.message },
            usage: { input_tokens: INPUT, output_tokens: OUTPUT, total_tokens: INPUT + OUTPUT },
          },
        },
        event: "response.failed",
      },
    ],
  },
  "cohere-amid": {
    vendor: "cohere",
    pieces: [
      ...SAID,
      {
        frame: {
          type: "message-end",
          delta: {
            error: broke.message,
            finish_reason: "ERROR",
            usage: { billed_units: { input_tokens: INPUT, output_tokens: OUTPUT } },
          },
        },
        event: "message-end",
      },
    ],
  },
};

/** The JSON of a stream's frames. */
const framesIn = (text: string): Json[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Json);

/** The last usage that a caller reads, if its dialect has it, and whether the last frame is an error of its dialect. */
function readBy(caller: CallerKey, text: string): { input: unknown; output: unknown; failed: boolean } {
  const frames = framesIn(text);
  const last = frames.at(-1) ?? {};
  const find = (read: (frame: Json) => unknown): Json =>
    (frames.map(read).findLast((found) => typeof found === "object" && found !== null) ?? {}) as Json;
  switch (caller) {
    case "chat": {
      const usage = find((frame) => (frame.error === undefined ? frame.usage : undefined));
      return { input: usage.prompt_tokens, output: usage.completion_tokens, failed: last.error !== undefined };
    }
    case "anthropic": {
      const usage = find((frame) => (frame.type === "message_delta" ? frame.usage : undefined));
      return { input: usage.input_tokens, output: usage.output_tokens, failed: last.type === "error" };
    }
    case "gemini": {
      const usage = find((frame) => frame.usageMetadata);
      return { input: usage.promptTokenCount, output: usage.candidatesTokenCount, failed: last.error !== undefined };
    }
    case "responses": {
      const response = (last.response ?? {}) as Json;
      const usage = (response.usage ?? {}) as Json;
      return {
        input: usage.input_tokens,
        output: usage.output_tokens,
        failed: last.type === "response.failed" && response.status === "failed",
      };
    }
  }
}

for (const engine of ENGINES) {
  describe(engine, () => {
    let vendors: Awaited<ReturnType<typeof startFakeVendors>>;
    let weir: Weir;
    let key = "";

    beforeAll(async () => {
      vendors = await startFakeVendors();
      weir = await startWeir({ engine });
      for (const [name, { vendor, pieces }] of Object.entries(tellings)) {
        vendors.scripts.set(name, { vendor, pieces, end: "close" });
        await weir.newChannel({
          type: channelOf[vendor].type,
          base_url: `${vendors.url}/${name}`,
          models: [name],
          setting: JSON.stringify(channelOf[vendor].setting ?? {}),
        });
      }
      vendors.scripts.set("free", { ...(tellings["openrouter-amid"] ?? expect.unreachable()), end: "close" });
      await weir.newChannel({
        type: 1,
        base_url: `${vendors.url}/free`,
        models: ["free"],
        setting: JSON.stringify({ bill_broken: "free" }),
      });
      await weir.priceModels(Object.fromEntries([...Object.keys(tellings), "free"].map((model) => [model, 1])));
      ({ key } = await weir.newToken());
    }, 60_000);
    afterAll(async () => {
      await weir.stop();
      vendors.close();
    });

    for (const [name, { vendor }] of Object.entries(tellings)) {
      test(`${name}: the count beside the error is the bill, and every caller reads both`, async () => {
        for (const caller of callerKeys) {
          if (vendor === "responses" && caller !== "responses") continue;
          const response = await askIn(weir.url, caller, key, name);
          const text = await response.text();
          const id = response.headers.get("x-request-id") ?? response.headers.get("x-oneapi-request-id") ?? "";
          expect([caller, readBy(caller, text)]).toEqual([caller, { input: INPUT, output: OUTPUT, failed: true }]);
          expect(text).toContain("broke off");
          const row = await weir.waitForLog((one) => one.request_id === id);
          expect([caller, row.prompt_tokens, row.completion_tokens, row.quota, row.end_reason]).toEqual([
            caller,
            INPUT,
            OUTPUT,
            INPUT + OUTPUT,
            "upstream_error",
          ]);
        }
        expect(await weir.audit()).toEqual([]);
      }, 30_000);
    }

    test("an OpenAI caller that did not request usage reads it beside the error, as the vendor wrote it, and in no frame of its own", async () => {
      const body = { model: "openrouter-finished", stream: true, messages: [{ role: "user", content: "hi" }] };
      const frames = framesIn(await (await weir.call(key, body)).text());
      expect(frames.at(-1)).toMatchObject({
        error: { message: expect.stringContaining("broke off") },
        usage: { prompt_tokens: INPUT, completion_tokens: OUTPUT },
      });
      expect(frames.filter((frame) => frame.usage !== undefined)).toHaveLength(1);
    });

    test("a channel that does not charge broken answers ignores the usage", async () => {
      const response = await askIn(weir.url, "chat", key, "free");
      await response.text();
      expect(await weir.waitForLog((row) => row.model_name === "free")).toMatchObject({
        quota: 0,
        end_reason: "upstream_error",
      });
    });
  });
}
