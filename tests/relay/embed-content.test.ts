/** Google's embedding calls, by its own SDK and by hand, on channels of Google and of others. */
import { afterAll, describe, expect, test } from "bun:test";
import { GoogleGenAI } from "@google/genai";
import { channelType } from "../../src/shared/channel-types";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { type Bench, makeBench, makeChannel, serve, TEST_KEY } from "./kit";

const upstream = startFakeUpstream();
afterAll(() => upstream.close());

function benchOf(id: number): Bench {
  const type = channelType(id);
  if (!type) throw new Error(`no channel type ${id}`);
  return makeBench([makeChannel(1, upstream.url, { type })]);
}
const single = "/v1beta/models/text-embedding-3-small:embedContent";
const batch = "/v1beta/models/text-embedding-3-small:batchEmbedContents";
const content = (text: string) => ({ parts: [{ text }] });

for (const [name, id] of [
  ["Gemini", 24],
  ["OpenAI", 1],
] as const) {
  describe(`on a ${name} channel`, () => {
    test("Google's SDK embeds several texts, in order, and the input is charged", async () => {
      const bench = benchOf(id);
      using server = serve(bench);
      const ai = new GoogleGenAI({ apiKey: TEST_KEY, httpOptions: { baseUrl: server.url } });
      const answer = await ai.models.embedContent({
        model: "text-embedding-3-small",
        contents: ["hello", "a longer text"],
        config: { outputDimensionality: 8 },
      });
      expect(answer.embeddings?.map(({ values }) => values?.length)).toEqual([8, 8]);
      expect(answer.embeddings?.[0]?.values).not.toEqual(answer.embeddings?.[1]?.values);
      await bench.quiet();
      expect(bench.ledger.settlements).toMatchObject([{ log: { completion_tokens: 0, end_reason: "complete" } }]);
      expect(bench.ledger.charged).toBeGreaterThan(0);
      expect(bench.ledger.holds.size).toBe(0);
    });

    test("one text has one vector", async () => {
      const response = await benchOf(id).send(single, { content: content("hello") });
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { embedding: { values: expect.any(Array) } },
      ]);
    });
  });
}

test("members that only Google knows reach Google, and no other vendor", async () => {
  const body = {
    requests: [
      { content: content("a"), taskType: "RETRIEVAL_DOCUMENT", title: "A" },
      { content: content("b"), taskType: "RETRIEVAL_QUERY" },
    ],
  };
  const asked = async (id: number): Promise<unknown> => {
    expect((await benchOf(id).send(batch, body)).status).toBe(200);
    return JSON.parse(upstream.journal.entries.at(-1)?.body.toString() ?? "{}");
  };
  const model = "models/text-embedding-3-small";
  expect(await asked(24)).toEqual({
    requests: [
      { model, ...body.requests[0] },
      { model, ...body.requests[1] },
    ],
  });
  expect(await asked(1)).toEqual({ model: "text-embedding-3-small", input: ["a", "b"] });
});

test("bad bodies are errors in Google's format, without a hold or an upstream call", async () => {
  const bench = benchOf(24);
  const bad: [string, unknown][] = [
    [single, {}],
    [single, { content: {} }],
    [single, { content: { parts: [] } }],
    [single, { content: { parts: [{ inlineData: {} }] } }],
    [single, "[]"],
    [single, "no json"],
    [batch, {}],
    [batch, { requests: [] }],
    [batch, { requests: [null] }],
    [
      batch,
      {
        requests: [
          { content: content("a"), outputDimensionality: 1 },
          { content: content("b"), outputDimensionality: 2 },
        ],
      },
    ],
    [single, { content: content("a"), outputDimensionality: "8" }],
  ];
  for (const [path, body] of bad) {
    const response = await bench.send(path, body);
    expect([path, body, response.status]).toEqual([path, body, 400]);
    expect(await response.json()).toMatchObject({ error: { code: 400, status: "INVALID_ARGUMENT" } });
  }
  expect(bench.ledger.holdRequests).toEqual([]);
});

test("an upstream's error is returned in Google's format", async () => {
  for (const id of [1, 24]) {
    const response = await benchOf(id).send("/v1beta/models/error-400:embedContent", { content: content("a") });
    expect([id, response.status, await response.json()]).toMatchObject([id, 400, { error: { code: 400 } }]);
  }
});
