/**
 * Token counts by vendors with their own API for it. Wire formats: docs.cloud.google.com/vertex-ai/generative-ai,
 * "Count tokens for Claude models" and CountTokens of the model reference;
 * docs.aws.amazon.com/bedrock/latest/APIReference, CountTokens and InvokeModelTokensRequest; read November 2026.
 */
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { channelType } from "../../src/shared/channel-types";
import { makeBench, makeChannel } from "./kit";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const account = JSON.stringify({
  project_id: "p",
  client_email: "weir@p.iam.gserviceaccount.com",
  private_key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
});
const VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers";

interface Heard {
  url: string;
  headers: Headers;
  body: Record<string, unknown>;
}

/** A channel of a type whose vendor answers counts with `said`. */
function stage(id: number, key: string, said: () => Response, more: Parameters<typeof makeChannel>[2] = {}) {
  const type = channelType(id) ?? expect.unreachable(`no type ${id}`);
  const heard: Heard[] = [];
  const bench = makeBench([makeChannel(1, "", { type, key, other: "us-east5", ...more })], {
    async fetch(url, init) {
      if (url === "https://oauth2.googleapis.com/token")
        return Response.json({ access_token: "token-1", expires_in: 3599 });
      heard.push({ url, headers: new Headers(init.headers), body: JSON.parse(String(init.body)) });
      return said();
    },
  });
  const ask = async (path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> =>
    (await bench.send(path, body, { headers })).json();
  return { bench, heard, ask };
}

const messages = [{ role: "user", content: "how many towns are there" }];
const contents = [{ role: "user", parts: [{ text: "Hello World." }] }];
const COUNT = "/v1/messages/count_tokens";

test("Claude on Vertex is counted at its own endpoint, with the model and the version", async () => {
  const { heard, ask, bench } = stage(41, account, () => Response.json({ input_tokens: 14 }));
  expect(await ask(COUNT, { model: "claude-haiku-4-5-20251001", messages })).toEqual({ input_tokens: 14 });
  expect(heard[0]).toMatchObject({
    url: `${VERTEX}/anthropic/models/count-tokens:rawPredict`,
    body: { anthropic_version: "vertex-2023-10-16", model: "claude-haiku-4-5@20251001", messages },
  });
  expect(heard[0]?.headers.get("authorization")).toBe("Bearer token-1");
  expect(bench.ledger.holdRequests).toEqual([]);
});

test("Gemini on Vertex is counted beside its calls, with the caller's body, under the mapped name", async () => {
  const said = {
    totalTokens: 4,
    totalBillableCharacters: 11,
    promptTokensDetails: [{ modality: "TEXT", tokenCount: 4 }],
  };
  const { heard, ask } = stage(41, account, () => Response.json(said), {
    model_mapping: new Map([["mine", "gemini-2.5-flash"]]),
  });
  expect(await ask("/v1beta/models/mine:countTokens", { contents })).toEqual({ totalTokens: 4 });
  expect(heard[0]).toMatchObject({ url: `${VERTEX}/google/models/gemini-2.5-flash:countTokens`, body: { contents } });
});

const keys = [
  ["signed", "AKIDEXAMPLE|secret|us-east-1", /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\//],
  ["with an API key", "bedrock-key|us-east-1", /^Bearer bedrock-key$/],
] as const;

test.each(keys)(
  "Claude on Bedrock is counted by CountTokens, %s: the model without its profile, the body that InvokeModel would get",
  async (_, key, authorization) => {
    const { heard, ask } = stage(33, key, () => Response.json({ inputTokens: 42 }));
    expect(
      await ask(COUNT, {
        model: "claude-sonnet-4-5-20250929",
        messages,
        thinking: { type: "enabled", budget_tokens: 2048 },
      }),
    ).toEqual({ input_tokens: 42 });
    expect(heard[0]?.url).toBe(
      "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens",
    );
    expect(heard[0]?.headers.get("authorization")).toMatch(authorization);
    const { input } = (heard[0] ?? expect.unreachable("nothing was asked")).body as {
      input: { invokeModel: { body: string } };
    };
    expect(JSON.parse(Buffer.from(input.invokeModel.body, "base64").toString())).toEqual({
      anthropic_version: "bedrock-2023-05-31",
      max_tokens: 2049,
      messages,
      thinking: { type: "enabled", budget_tokens: 2048 },
    });
  },
);

test("a count goes with the caller's beta features, as the call would: Anthropic and Vertex by header, Bedrock inside the body", async () => {
  const betas = {
    "anthropic-beta": "context-management-2025-06-27,interleaved-thinking-2025-05-14",
    "x-secret": "mine",
  };
  const body = { model: "claude-sonnet-4-5", messages, context_management: { edits: [] } };
  for (const [type, key] of [
    [14, "k"],
    [41, account],
  ] as const) {
    const { heard, ask } = stage(type, key, () => Response.json({ input_tokens: 7 }));
    expect(await ask(COUNT, body, betas)).toEqual({ input_tokens: 7 });
    expect([heard[0]?.headers.get("anthropic-beta"), heard[0]?.headers.get("x-secret")]).toEqual([
      betas["anthropic-beta"],
      null,
    ]);
  }
  const { heard, ask } = stage(33, keys[1][1], () => Response.json({ inputTokens: 7 }));
  expect(await ask(COUNT, body, betas)).toEqual({ input_tokens: 7 });
  expect(heard[0]?.headers.get("anthropic-beta")).toBeNull();
  const { input } = (heard[0] ?? expect.unreachable("nothing was asked")).body as {
    input: { invokeModel: { body: string } };
  };
  expect(JSON.parse(Buffer.from(input.invokeModel.body, "base64").toString())).toMatchObject({
    anthropic_beta: betas["anthropic-beta"].split(","),
  });
});

test("an invalid list of beta features is not sent with a count, nor are an Anthropic caller's features with another dialect's", async () => {
  const odd = stage(14, "k", () => Response.json({ input_tokens: 7 }));
  await odd.ask(COUNT, { model: "claude-sonnet-4-5", messages }, { "anthropic-beta": "a=1;b" });
  const gemini = stage(24, "k", () => Response.json({ totalTokens: 4 }));
  await gemini.ask("/v1beta/models/gemini-2.5-flash:countTokens", { contents }, { "anthropic-beta": "a" });
  expect([...odd.heard, ...gemini.heard].map(({ headers }) => headers.get("anthropic-beta"))).toEqual([null, null]);
});

test("a count that the vendor does not give is estimated, and says so: another maker's model, a refusal, an invalid answer", async () => {
  const refused = () =>
    Response.json({ message: "The provided model doesn't support counting tokens." }, { status: 400 });
  const estimate = { input_tokens: expect.any(Number), estimated: true };
  const nova = stage(33, keys[1][1], refused);
  expect(await nova.ask(COUNT, { model: "nova-pro-v1:0", messages })).toEqual(estimate);
  expect(nova.heard).toEqual([]);
  for (const said of [refused, () => Response.json({ inputTokens: "42" }), () => new Response("<html>")]) {
    expect(await stage(33, keys[1][1], said).ask(COUNT, { model: "claude-sonnet-4-5", messages })).toEqual(estimate);
  }
  // A revoked key.
  expect(await stage(41, "{}", refused).ask(COUNT, { model: "claude-sonnet-4-5", messages })).toEqual(estimate);
});
