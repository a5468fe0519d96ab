/** The vendors' SDKs through a real Weir: every caller dialect on every channel dialect, and a balanced ledger. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { LOG_TYPE } from "../../src/shared/log";
import { ENGINES } from "../kit/databases";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startWeir, type Weir } from "../kit/weir";

const WORDS = "hello there my friend";
/** Channel type -> a model of that channel alone; prices are a unit a token. */
const models = { 1: "usage:10:20+slow:2", 14: "usage:11:20+slow:2", 24: "usage:12:20+slow:2" } as const;
const inputs = { 1: 10, 14: 11, 24: 12 } as const;

for (const engine of ENGINES) {
  describe(engine, () => {
    const upstream = startFakeUpstream();
    let weir: Weir;
    let key = "";
    const ids: Record<string, number> = {};

    beforeAll(async () => {
      weir = await startWeir({ engine });
      for (const [type, model] of Object.entries(models)) {
        ids[type] = await weir.newChannel({
          type: Number(type),
          base_url: upstream.url,
          models: [model, `${model}+error-midstream`],
        });
      }
      const names = Object.values(models).flatMap((model) => [model, `${model}+error-midstream`]);
      await weir.priceModels(Object.fromEntries(names.map((model) => [model, 1])));
      ({ key } = await weir.newToken());
    }, 30_000);
    afterAll(async () => {
      await weir.stop();
      upstream.close();
    });

    for (const type of [1, 14, 24] as const) {
      test(`the channel test calls a channel of type ${type} in its own dialect`, async () => {
        const good = await weir.root.api(
          "GET",
          `/api/channel/test/${ids[type]}?model=${encodeURIComponent(models[type])}`,
        );
        expect(good.body).toMatchObject({ success: true });
        const bad = await weir.root.api("GET", `/api/channel/test/${ids[type]}?model=error-401`);
        expect(bad.body).toMatchObject({ success: false });
      });

      test(`three SDKs on a channel of type ${type}: the same text at the same charge, Anthropic's with the call's id, and the audit finds nothing`, async () => {
        const model = models[type];
        const before = (await weir.logs()).length;
        const messages = [{ role: "user" as const, content: WORDS }];
        const anthropic = new Anthropic({ apiKey: key, baseURL: weir.url, maxRetries: 0 });
        const claude = await anthropic.messages.stream({ model, max_tokens: 100, messages }).finalMessage();
        expect(claude.content).toMatchObject([{ type: "text", text: WORDS }]);
        const openai = new OpenAI({ apiKey: key, baseURL: `${weir.url}/v1`, maxRetries: 0 });
        expect((await openai.responses.stream({ model, input: WORDS }).finalResponse()).output_text).toBe(WORDS);
        expect(
          (await openai.chat.completions.stream({ model, messages }).finalChatCompletion()).choices[0]?.message.content,
        ).toBe(WORDS);
        const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: weir.url } });
        expect((await google.models.generateContent({ model, contents: WORDS })).text).toBe(WORDS);
        const counted = await anthropic.messages.countTokens({ model, messages });
        expect(counted.input_tokens).toBeGreaterThan(0);
        const { request_id } = await anthropic.messages.create({ model, max_tokens: 100, messages }).withResponse();
        await weir.waitForLog((row) => row.request_id === request_id);

        const broken: unknown = await anthropic.messages
          .stream({ model: `${model}+error-midstream`, max_tokens: 100, messages })
          .finalMessage()
          .catch((error: unknown) => error);
        expect(broken).toBeInstanceOf(Anthropic.APIError);
        await weir.waitForLog((row) => row.model_name === `${model}+error-midstream`);

        const rows = (await weir.logs()).slice(before).filter((row) => row.type === LOG_TYPE.consume);
        expect(rows.filter((row) => row.model_name === model).map((row) => row.quota)).toEqual(
          Array(5).fill(inputs[type] + 20),
        );
        expect(rows.filter((row) => row.model_name !== model)).toMatchObject([{ end_reason: "upstream_error" }]);
        expect(await weir.holds()).toBe(0);
        expect(await weir.audit()).toEqual([]);
      });
    }
  });
}
