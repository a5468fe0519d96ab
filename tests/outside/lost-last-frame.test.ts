/**
 * A Claude stream that ends before message_stop was cut off, whatever came before: the Anthropic SDK fails without that
 * event. Every caller is told in its own dialect, and what was delivered is charged by the vendor's last count.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { ENGINES } from "../kit/databases";
import { askIn, callerKeys, type Piece, startFakeVendors } from "../kit/fake-vendors";
import { startWeir, type Weir } from "../kit/weir";

const [INPUT, OUTPUT] = [43, 10];
const SAID = "Once upon a time there was a long sea.";
const UNTIL_LAST: Piece[] = [
  { text: SAID },
  { frame: { type: "content_block_stop", index: 0 }, event: "content_block_stop" },
  {
    frame: {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { input_tokens: INPUT, output_tokens: OUTPUT },
    },
    event: "message_delta",
  },
];
const LAST: Piece = { frame: { type: "message_stop" }, event: "message_stop" };
/** How a stream's end without its last event tells it to a caller, and what a complete one ends with. */
const told = { chat: "upstream_cut", responses: "response.failed", anthropic: "event: error", gemini: '"error"' };
const complete = {
  chat: "[DONE]",
  responses: "response.completed",
  anthropic: "event: message_stop",
  gemini: '"finishReason":"STOP"',
};

for (const engine of ENGINES) {
  describe(engine, () => {
    let vendors: Awaited<ReturnType<typeof startFakeVendors>>;
    let weir: Weir;
    let key = "";
    const models = ["whole", "closed", "cut"];

    beforeAll(async () => {
      vendors = await startFakeVendors();
      weir = await startWeir({ engine });
      vendors.scripts.set("whole", { vendor: "anthropic", pieces: [...UNTIL_LAST, LAST], end: "close" });
      vendors.scripts.set("closed", { vendor: "anthropic", pieces: UNTIL_LAST, end: "close" });
      vendors.scripts.set("cut", { vendor: "anthropic", pieces: UNTIL_LAST, end: "cut" });
      for (const model of models)
        await weir.newChannel({ type: 14, base_url: `${vendors.url}/${model}`, models: [model] });
      await weir.priceModels(Object.fromEntries(models.map((model) => [model, 1])));
      ({ key } = await weir.newToken());
    }, 60_000);
    afterAll(async () => {
      await weir.stop();
      vendors.close();
    });

    for (const caller of callerKeys) {
      test(`a ${caller} caller reads the end of a whole stream, and of one without its last event that it was cut off`, async () => {
        for (const model of models) {
          const response = await askIn(weir.url, caller, key, model);
          const text = await response.text();
          const whole = model === "whole";
          expect([model, text]).toEqual([model, expect.stringContaining(SAID)]);
          expect([model, text.includes(complete[caller])]).toEqual([model, whole]);
          expect([model, text.includes(told[caller])]).toEqual([model, !whole]);
          const id = response.headers.get("x-request-id");
          const row = await weir.waitForLog((one) => one.request_id === id);
          expect([model, row.end_reason, row.prompt_tokens, row.completion_tokens, row.quota]).toEqual([
            model,
            whole ? "complete" : "upstream_cut",
            INPUT,
            OUTPUT,
            INPUT + OUTPUT,
          ]);
        }
        expect(await weir.holds()).toBe(0);
        expect(await weir.audit()).toEqual([]);
      }, 30_000);
    }

    test("Anthropic's SDK reads the whole message, and throws Weir's error where the last event is missing", async () => {
      const client = new Anthropic({ apiKey: key, baseURL: weir.url, maxRetries: 0 });
      const read = (model: string): Promise<unknown> =>
        client.messages
          .stream({ model, max_tokens: 100, messages: [{ role: "user", content: "hello" }] })
          .finalMessage()
          .catch((error: unknown) => error);
      expect(await read("whole")).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: SAID }] });
      for (const model of ["closed", "cut"]) {
        const error = await read(model);
        expect(error).toBeInstanceOf(Anthropic.APIError);
        expect(String(error)).toContain("request id");
      }
    }, 30_000);
  });
}
