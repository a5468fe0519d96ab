/**
 * An error in a stream after content, for the official SDK of every dialect that callers speak: it raises an error in
 * place of a quiet end, the row tells how the stream ended, and the charge is what was delivered.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { ENGINES } from "../kit/databases";
import { type CallerKey, callerKeys, channelOf, type End, startFakeVendors, type VendorKey } from "../kit/fake-vendors";
import { startWeir, type Weir } from "../kit/weir";

const SAID = "sea ".repeat(400);
/** 6,400 bytes are delivered; four of them count as a token at most. */
const LEAST_TOKENS = 1600;
const ENDS = { error: "upstream_error", cut: "upstream_cut", silence: "idle_timeout" } as const satisfies Partial<
  Record<End, string>
>;
const vendorKeys = ["chat", "responses", "anthropic", "gemini"] as const satisfies readonly VendorKey[];
const PROMPT = "Tell me of the sea.";

/** Reads a stream by the caller's own SDK to its end; returns the text. Throws what the SDK throws. */
const readers: Readonly<Record<CallerKey, (url: string, key: string, model: string) => Promise<string>>> = {
  chat: async (url, apiKey, model) => {
    const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: PROMPT }];
    let text = "";
    for await (const chunk of await client.chat.completions.create({ model, messages, stream: true }))
      text += chunk.choices[0]?.delta.content ?? "";
    return text;
  },
  responses: async (url, apiKey, model) => {
    const client = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
    let text = "";
    for await (const event of await client.responses.create({ model, input: PROMPT, stream: true })) {
      if (event.type === "response.output_text.delta") text += event.delta;
      // The SDK hands this event on: it is how OpenAI tells of a failure.
      if (event.type === "response.failed") throw new Error(event.response.error?.message);
    }
    return text;
  },
  anthropic: async (url, apiKey, model) => {
    const client = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: PROMPT }];
    let text = "";
    for await (const event of client.messages.stream({ model, max_tokens: 5000, messages }))
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    return text;
  },
  gemini: async (url, apiKey, model) => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
    let text = "";
    for await (const chunk of await client.models.generateContentStream({ model, contents: PROMPT }))
      text += chunk.text ?? "";
    return text;
  },
};

for (const engine of ENGINES) {
  describe(engine, () => {
    let vendors: Awaited<ReturnType<typeof startFakeVendors>>;
    let weir: Weir;
    let key = "";
    beforeAll(async () => {
      vendors = await startFakeVendors();
      weir = await startWeir({ engine });
      const names: string[] = [];
      for (const vendor of vendorKeys) {
        for (const end of Object.keys(ENDS) as (keyof typeof ENDS)[]) {
          const name = `${vendor}-${end}`;
          names.push(name);
          const pieces = Array.from({ length: 4 }, () => ({ text: SAID }));
          vendors.scripts.set(name, { vendor, pieces, end });
          await weir.newChannel({
            type: channelOf[vendor].type,
            base_url: `${vendors.url}/${name}`,
            models: [name],
            setting: JSON.stringify({ ...channelOf[vendor].setting, idle_timeout: 1 }),
          });
        }
      }
      await weir.priceModels(Object.fromEntries(names.map((name) => [name, 1])));
      ({ key } = await weir.newToken());
    }, 60_000);
    afterAll(async () => {
      await weir?.stop();
      vendors?.close();
    });

    test.each([...callerKeys])(
      "the SDK of %s raises an error, whichever vendor breaks off and however; the row says so, and the content is charged",
      async (caller) => {
        const cases = vendorKeys
          .filter((vendor) => vendor !== "responses" || caller === "responses")
          .flatMap((vendor) => (Object.keys(ENDS) as (keyof typeof ENDS)[]).map((end) => ({ vendor, end })));
        const before = (await weir.logs()).at(-1)?.id ?? 0;
        await Promise.all(
          cases.map(async ({ vendor, end }) => {
            const model = `${vendor}-${end}`;
            const result = await readers[caller](weir.url, key, model).then(
              (text) => `ended quietly after ${text.length} bytes`,
              (error: unknown) => error,
            );
            expect([model, result]).toEqual([model, expect.any(Error)]);
            expect([model, String(result)]).toEqual([model, expect.stringContaining("request id")]);
            const row = await weir.waitForLog((one) => one.model_name === model && one.id > before);
            expect([model, row.end_reason]).toEqual([model, ENDS[end]]);
            expect(row.completion_tokens).toBeGreaterThanOrEqual(LEAST_TOKENS);
            expect(row.quota).toBe(row.prompt_tokens + row.completion_tokens);
          }),
        );
        expect(await weir.holds()).toBe(0);
        expect(await weir.audit()).toEqual([]);
      },
      30_000,
    );
  });
}
