/** Other addresses of the same calls, and in whose words an address without a call is refused. */
import { describe, expect, test } from "bun:test";
import { AzureOpenAI } from "openai";
import { makeBench, makeChannel, serve, TEST_KEY } from "./kit";

type Wire = Record<string, any>;
const messages = [{ role: "user" as const, content: "hello" }];
const contents = [{ role: "user", parts: [{ text: "hello" }] }];
const chatAnswer = {
  id: "x",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

function bench() {
  const sent: { url: string; body: Wire }[] = [];
  const made = makeBench([makeChannel(1, "http://up.test")], {
    fetch: async (url, init) => {
      const body = init.body instanceof Uint8Array ? (JSON.parse(Buffer.from(init.body).toString()) as Wire) : {};
      sent.push({ url, body });
      return Response.json(
        url.includes("embeddings")
          ? { object: "list", data: [{ embedding: [0] }], usage: { prompt_tokens: 1 } }
          : chatAnswer,
      );
    },
    reachable: async () => true,
  });
  return { made, sent };
}

describe("a call is served at each of its addresses", () => {
  test.each([
    ["/v1beta/openai/chat/completions", { model: "m", messages }, "choices"],
    ["/v1alpha/openai/chat/completions", { model: "m", messages }, "choices"],
    ["/openai/v1/chat/completions", { model: "m", messages }, "choices"],
    ["/openai/v1/responses?api-version=preview", { model: "m", input: "hello" }, "output"],
    ["/openai/responses?api-version=2025-04-01-preview", { model: "m", input: "hello" }, "output"],
    ["/openai/deployments/m/chat/completions?api-version=2024-10-21", { messages }, "choices"],
    ["/openai/deployments/m/embeddings?api-version=2024-10-21", { input: "hello" }, "data"],
    ["/v1alpha/models/m:generateContent", { contents }, "candidates"],
  ])("%s", async (path, body, member) => {
    const { made, sent } = bench();
    const answer = await made.send(path, body);
    expect([answer.status, Object.keys((await answer.json()) as Wire)]).toEqual([
      200,
      expect.arrayContaining([member]),
    ]);
    expect(sent[0]?.body.model).toBe("m");
    expect(made.ledger.settlements[0]?.log.model_name).toBe("m");
  });

  test("the deployment in the path wins over the body's model", async () => {
    const { made, sent } = bench();
    await made.send("/openai/deployments/gpt%2D4o/chat/completions", { model: "another", messages });
    expect(sent[0]?.body.model).toBe("gpt-4o");
    expect(made.ledger.settlements[0]?.log.model_name).toBe("gpt-4o");
  });

  test("Azure's client, with its api-key header", async () => {
    const { made } = bench();
    using server = serve(made);
    const client = new AzureOpenAI({ apiKey: TEST_KEY, endpoint: server.url, apiVersion: "2024-10-21" });
    const answer = await client.chat.completions.create({ model: "m", messages });
    expect(answer.choices[0]?.message.content).toBe("hi");
  });

  test("lists of models in the form of the client", async () => {
    const { made } = bench();
    const members = async (path: string) => Object.keys((await (await made.send(path, undefined)).json()) as Wire);
    expect(await members("/v1beta/openai/models")).toContain("data");
    expect(await members("/openai/v1/models")).toContain("data");
    expect(await members("/v1alpha/models")).toContain("models");
  });

  test("what is left of the balance, as the earlier billing page reads it", async () => {
    const { made } = bench();
    made.ledger.charged = 500_000;
    for (const path of ["/v1/dashboard/billing/credit_grants", "/dashboard/billing/credit_grants"])
      expect(await (await made.send(path, undefined)).json()).toEqual({
        object: "credit_summary",
        total_granted: 3,
        total_used: 1,
        total_available: 2,
        grants: { object: "list", data: [] },
      });
  });
});

describe("an address or a model that does not exist is refused in the words of the client that asks", () => {
  const shapes = {
    anthropic: { type: "error", error: { type: "not_found_error" } },
    gemini: { error: { status: "NOT_FOUND" } },
  };
  const openai = { error: { type: "invalid_request_error", code: "not_found" } };
  test.each([
    ["/v1/messages/batches", {}, shapes.anthropic],
    ["/v1/complete", {}, shapes.anthropic],
    ["/v1/nothing", { "anthropic-version": "2023-06-01" }, shapes.anthropic],
    ["/v1/nothing", { "x-api-key": TEST_KEY }, shapes.anthropic],
    ["/v1/models/nope", { "anthropic-version": "2023-06-01" }, shapes.anthropic],
    ["/v1beta/nothing", {}, shapes.gemini],
    ["/v1alpha/models/nope", {}, shapes.gemini],
    ["/v1/models/nope", { "x-goog-api-key": TEST_KEY }, shapes.gemini],
    ["/v1/nothing", {}, openai],
    ["/v1beta/openai/nothing", {}, openai],
    ["/openai/deployments/m/nothing", {}, openai],
    ["/v1/models/nope", {}, { error: { code: "model_not_found", param: "model" } }],
  ])("%s %p", async (path, headers, shape) => {
    const answer = await bench().made.send(path, undefined, { headers });
    expect([answer.status, await answer.json()]).toMatchObject([404, shape]);
  });

  test("a wrong key as well", async () => {
    const answer = await bench().made.send("/v1/models", undefined, {
      headers: { authorization: "", "x-api-key": "sk-wrong", "anthropic-version": "2023-06-01" },
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      401,
      { type: "error", error: { type: "authentication_error" } },
    ]);
  });
});
