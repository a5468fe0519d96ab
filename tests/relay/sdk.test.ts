/** The official OpenAI SDK as caller, over a real server; and callers that really disconnect. */
import { afterAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { chatBody, makeBench, makeChannel, serve, TEST_KEY } from "./kit";

const upstream = startFakeUpstream();
const bench = makeBench([makeChannel(1, upstream.url)]);
const server = serve(bench);
afterAll(() => {
  server[Symbol.dispose]();
  upstream.close();
});
const client = new OpenAI({ apiKey: TEST_KEY, baseURL: `${server.url}/v1`, maxRetries: 0 });
/** The error of a failed call. */
const failureOf = (call: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(call).then(
    () => undefined,
    (error: unknown) => error,
  );
const messages = [{ role: "user" as const, content: "hello there my friend" }];

describe("the OpenAI SDK", () => {
  test("reads a plain answer", async () => {
    const answer = await client.chat.completions.create({ model: "gpt-4o", messages });
    expect(answer.choices[0]?.message.content).toBe("hello there my friend");
    expect(answer.usage?.total_tokens).toBe(30);
  });

  test("reads a stream, with usage on request", async () => {
    for (const include_usage of [true, false]) {
      const stream = await client.chat.completions.create({
        model: "gpt-4o+slow:2",
        messages,
        stream: true,
        stream_options: { include_usage },
      });
      let text = "";
      let usage = 0;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? "";
        usage += chunk.usage?.total_tokens ?? 0;
      }
      expect(text).toBe("hello there my friend");
      expect(usage).toBe(include_usage ? 30 : 0);
    }
  });

  test("puts streamed tool calls together", async () => {
    const answer = await client.chat.completions.stream({ model: "tool-split", messages }).finalChatCompletion();
    const calls = answer.choices[0]?.message.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    for (const call of calls)
      if (call.type === "function") expect(() => JSON.parse(call.function.arguments)).not.toThrow();
  });

  test("understands Weir's errors, before and inside a stream", async () => {
    const wrong = new OpenAI({ apiKey: "sk-wrong", baseURL: `${server.url}/v1`, maxRetries: 0 });
    expect(await failureOf(wrong.models.list())).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(await failureOf(client.chat.completions.create({ model: "error-429", messages }))).toBeInstanceOf(
      OpenAI.RateLimitError,
    );
    const failed = await failureOf(client.chat.completions.create({ model: "error-400", messages }));
    expect(failed).toBeInstanceOf(OpenAI.BadRequestError);
    expect(failed).toMatchObject({ requestID: expect.stringMatching(/^req-/) });
    const stream = await client.chat.completions.create({ model: "cut-midstream", messages, stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.choices).toBeDefined();
    };
    expect(await failureOf(read())).toMatchObject({ code: "upstream_cut" });
  });

  test("reads embeddings, completions and models", async () => {
    const embedding = await client.embeddings.create({ model: "text-embedding-3-small", input: ["a", "b"] });
    expect(embedding.data[0]?.embedding.length).toBeGreaterThan(0);
    const completion = await client.completions.create({ model: "gpt-4o", prompt: "say it" });
    expect(completion.choices).toHaveLength(1);
    expect((await client.models.list()).data.map(({ id }) => id)).toContain("gpt-4o");
    expect((await client.models.retrieve("gpt-4o")).id).toBe("gpt-4o");
    expect(await failureOf(client.models.retrieve("nothing"))).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe("a caller who disconnects", () => {
  const call = (model: string, stream: boolean, signal: AbortSignal): Promise<Response> =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TEST_KEY}` },
      body: JSON.stringify(chatBody(model, { stream })),
      signal,
    });

  /** Waits until a condition holds. */
  async function until(condition: () => boolean): Promise<void> {
    for (let i = 0; i < 1000 && !condition(); i++) await Bun.sleep(5);
    expect(condition()).toBe(true);
  }

  test("in the middle of a stream: the upstream is drained and closed, the ledger balances", async () => {
    const before = bench.ledger.settlements.length;
    const abort = new AbortController();
    const response = await call("paced:20:20", true, abort.signal);
    const reader = response.body?.getReader();
    await reader?.read();
    abort.abort();
    await until(() => bench.ledger.settlements.length === before + 1 && upstream.active === 0);
    expect(bench.ledger.settlements.at(-1)).toMatchObject({
      quota: 10 + 40,
      log: { prompt_tokens: 10, completion_tokens: 20 },
    });
    await bench.quiet();
    expect(bench.ledger.holds.size).toBe(0);
  });

  test("before the answer begins: it is drained, and its usage is charged", async () => {
    const before = bench.ledger.settlements.length;
    for (const stream of [true, false]) {
      const abort = new AbortController();
      const sent = call("gpt-4o+slow-head:200", stream, abort.signal).catch(() => undefined);
      await Bun.sleep(50);
      abort.abort();
      await sent;
    }
    await until(() => bench.ledger.settlements.length === before + 2 && upstream.active === 0);
    await bench.quiet();
    expect(bench.ledger.holds.size).toBe(0);
    expect(bench.ledger.balance + bench.ledger.charged).toBe(1_000_000);
  });
});
