/**
 * Claude's thinking requires its own sampling: a temperature other than 1, any top_k and a top_p below 0.95 are errors,
 * with a budget and in adaptive mode (platform.claude.com/docs/en/build-with-claude/extended-thinking, "Feature
 * compatibility"; the errors below are the API's own texts; read 22 November 2026). The upstream here refuses what
 * Anthropic refuses.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { startWeir, type Weir } from "../kit/weir";

interface Body {
  model?: string;
  thinking?: { type: string };
  temperature?: number;
  top_p?: number;
  top_k?: number;
}

/** Anthropic's error for a body for `model`; undefined: accepted. */
function refusal(model: string, { thinking, temperature, top_p, top_k }: Body): string | undefined {
  const given = { temperature, top_p, top_k };
  const first = Object.entries(given).find(([, value]) => value !== undefined)?.[0];
  if (/4-8|5-5/.test(model) && first) return `\`${first}\` is deprecated for this model.`;
  if (thinking?.type === "enabled" || thinking?.type === "adaptive") {
    const when = "when thinking is enabled or in adaptive mode.";
    if (temperature !== undefined && temperature !== 1) return `\`temperature\` may only be set to 1 ${when}`;
    if (top_k !== undefined) return `\`top_k\` must be unset ${when}`;
    if (top_p !== undefined && top_p < 0.95) return `\`top_p\` must be greater than or equal to 0.95 or unset ${when}`;
  }
  if (temperature !== undefined && top_p !== undefined)
    return "`temperature` and `top_p` cannot both be specified for this model.";
  return undefined;
}

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const private_key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

/** The bodies that reached the vendor, newest first. */
const bodies: Body[] = [];
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/token")
      return Response.json({ access_token: "ya29.token", expires_in: 3599, token_type: "Bearer" });
    const body = (await request.json()) as Body;
    bodies.unshift(body);
    const model = body.model ?? decodeURIComponent(pathname);
    const message = refusal(model, body);
    if (message)
      return Response.json({ type: "error", error: { type: "invalid_request_error", message } }, { status: 400 });
    return Response.json({
      id: "msg_01",
      type: "message",
      role: "assistant",
      model,
      content: [{ type: "text", text: "Hello!" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 25, output_tokens: 15 },
    });
  },
});

/** With a budget, in adaptive mode, and in adaptive mode with models that accept no sampling at all. */
const MODELS = ["claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-4-8"] as const;
const CLOUDS: Record<string, Record<string, unknown>> = {
  anthropic: { type: 14, key: "sk-ant" },
  bedrock: { type: 33, key: "AKIDEXAMPLE|wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY|eu-central-1" },
  vertex: {
    type: 41,
    key: JSON.stringify({
      type: "service_account",
      project_id: "p",
      private_key_id: "k1",
      private_key,
      client_email: "w@p.iam.gserviceaccount.com",
      token_uri: `http://127.0.0.1:${upstream.port}/token`,
    }),
    other: "europe-west1",
  },
};

interface Sampling {
  temperature?: number;
  top_p?: number;
  top_k?: number;
}

/** One request with thinking, in each caller's dialect. */
const CALLERS: Record<string, (model: string, sampling: Sampling) => { path: string; body: object }> = {
  chat: (model, sampling) => ({
    path: "/v1/chat/completions",
    body: { model, messages: [{ role: "user", content: "hi" }], reasoning_effort: "medium", ...sampling },
  }),
  responses: (model, { temperature, top_p }) => ({
    path: "/v1/responses",
    body: { model, input: "hi", reasoning: { summary: "auto" }, temperature, top_p },
  }),
  gemini: (model, { temperature, top_p, top_k }) => ({
    path: `/v1beta/models/${model}:generateContent`,
    body: {
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: {
        thinkingConfig: { includeThoughts: true, thinkingBudget: 2048 },
        temperature,
        topP: top_p,
        topK: top_k,
      },
    },
  }),
};

describe("sampling parameters and a Claude that thinks", () => {
  let weir: Weir;
  let key = "";

  beforeAll(async () => {
    weir = await startWeir({ env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
    for (const [cloud, fields] of Object.entries(CLOUDS)) {
      const mapping = Object.fromEntries(MODELS.map((model) => [`${cloud}/${model}`, model]));
      await weir.newChannel({
        name: cloud,
        base_url: `http://127.0.0.1:${upstream.port}`,
        models: Object.keys(mapping),
        model_mapping: JSON.stringify(mapping),
        ...fields,
      });
      await weir.priceModels(
        Object.fromEntries(Object.keys(CLOUDS).flatMap((name) => MODELS.map((model) => [`${name}/${model}`, 1]))),
      );
    }
    ({ key } = await weir.newToken());
  }, 30_000);
  afterAll(async () => {
    await weir.stop();
    await upstream.stop(true);
  });

  /** Makes a call; returns the status, the body that reached the vendor, and the warnings of its row. */
  async function ask(
    path: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; text: string; sent: Body; warnings: string[] }> {
    const before = (await weir.logs()).length;
    const response = await weir.call(key, body, { path, headers });
    const text = await response.text();
    const row = await weir.waitForLog((log) => log.id > before);
    const other = (typeof row.other === "string" ? JSON.parse(row.other) : row.other) as { warnings?: string[] };
    return { status: response.status, text, sent: bodies[0] ?? {}, warnings: other.warnings ?? [] };
  }

  for (const [caller, words] of Object.entries(CALLERS)) {
    test(`a ${caller} caller that sets thinking and sampling gets an answer from every Claude, and the log says what was dropped`, async () => {
      for (const cloud of Object.keys(CLOUDS)) {
        for (const model of MODELS) {
          const sampling = { temperature: 0.3, top_p: 0.9, top_k: 64 };
          const { path, body } = words(`${cloud}/${model}`, sampling);
          const { status, sent, warnings } = await ask(path, body);
          const what = `${caller} ${cloud} ${model}`;
          expect({ what, status, thinking: sent.thinking?.type }).toEqual({
            what,
            status: 200,
            thinking: model === "claude-sonnet-4-5" ? "enabled" : "adaptive",
          });
          for (const name of ["temperature", "top_p", "top_k"] as const) {
            expect({ what, name, sent: sent[name] }).toEqual({ what, name, sent: undefined });
            if (name !== "top_k" || caller !== "responses")
              expect({ what, warnings }).toEqual({
                what,
                warnings: expect.arrayContaining([`dropped_field: ${name}`]),
              });
          }
        }
      }
    });
  }

  test("what Gemini's command line always sends (temperature 1, top_p 0.95, top_k 64) only loses top_k", async () => {
    for (const model of ["claude-sonnet-4-5", "claude-opus-4-6"]) {
      const { path, body } = CALLERS.gemini?.(`anthropic/${model}`, { temperature: 1, top_p: 0.95, top_k: 64 }) ?? {
        path: "",
        body: {},
      };
      const { status, sent } = await ask(path, body);
      expect([model, status, sent.temperature, sent.top_k]).toEqual([model, 200, 1, undefined]);
    }
  });

  test("what a thinking Claude accepts is sent: temperature 1, and top_p from 0.95 on", async () => {
    for (const model of ["claude-sonnet-4-5", "claude-opus-4-6"]) {
      for (const sampling of [{ temperature: 1 }, { top_p: 0.95 }, { top_p: 1 }]) {
        const { path, body } = CALLERS.chat?.(`anthropic/${model}`, sampling) ?? { path: "", body: {} };
        const { status, sent, warnings } = await ask(path, body);
        expect([model, status, sent.temperature, sent.top_p]).toEqual([
          model,
          200,
          sampling.temperature,
          sampling.top_p,
        ]);
        expect(warnings.filter((warning) => warning.startsWith("dropped_field"))).toEqual([]);
      }
      const low = CALLERS.chat?.(`anthropic/${model}`, { temperature: 0.3, top_p: 0.97 });
      expect((await ask(low?.path ?? "", low?.body ?? {})).sent).toMatchObject({ top_p: 0.97 });
    }
  });

  test("a Claude that does not think gets the caller's sampling", async () => {
    for (const model of ["claude-sonnet-4-5", "claude-opus-4-6"]) {
      const body = {
        model: `anthropic/${model}`,
        messages: [{ role: "user", content: "hi" }],
        temperature: 0.3,
        top_k: 64,
      };
      for (const effort of [undefined, "none"]) {
        const { status, sent } = await ask("/v1/chat/completions", { ...body, reasoning_effort: effort });
        expect([model, effort, status, sent.temperature, sent.top_k]).toEqual([model, effort, 200, 0.3, 64]);
      }
    }
  });

  test("a Messages caller's body is in the vendor's own dialect: it is passed through, and so is the error", async () => {
    for (const thinking of [{ type: "adaptive" }, { type: "enabled", budget_tokens: 1024 }]) {
      const body = {
        model: "anthropic/claude-opus-4-6",
        max_tokens: 2048,
        messages: [{ role: "user", content: "hi" }],
        thinking,
        temperature: 0.3,
        top_k: 64,
      };
      const { status, text, sent } = await ask("/v1/messages", body, { "anthropic-version": "2023-06-01" });
      expect(sent).toEqual({ ...body, model: "claude-opus-4-6" });
      expect([status, text]).toEqual([
        400,
        expect.stringContaining("may only be set to 1 when thinking is enabled or in adaptive mode"),
      ]);
    }
  });
});
