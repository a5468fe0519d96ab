/**
 * Nothing that changes what a request means is dropped: every member that only one dialect has is named by a table that
 * says whether a channel of another dialect serves the call without it, or the call is refused.
 */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";
import { channelType } from "../../src/shared/channel-types";
import { type DialectKey, dialectKeys, type WireObject } from "../../src/server/protocol/chat-events";
import { chatDialects } from "../../src/server/protocol/dialects/chat-dialects";
import { membersToRefuse, OWN_MEMBERS } from "../../src/server/protocol/dialects/own-members";
import { RequestFault } from "../../src/server/protocol/dialects/shared/fault";
import { makeBench, makeChannel, serve, TEST_KEY } from "../relay/kit";

const plain: Readonly<Record<DialectKey, WireObject>> = {
  "openai-chat": { messages: [{ role: "user", content: "hi" }] },
  "openai-responses": { input: "hi" },
  anthropic: { max_tokens: 100, messages: [{ role: "user", content: "hi" }] },
  gemini: { contents: [{ role: "user", parts: [{ text: "hi" }] }] },
};

/** Where the SDKs declare the request of each dialect; members of an SDK's own that never reach the wire. */
const DECLARED: Readonly<Record<DialectKey, readonly [file: string, type: string, notSent: readonly string[]]>> = {
  anthropic: ["@anthropic-ai/sdk/resources/beta/messages/messages.d.ts", "MessageCreateParamsBase", ["betas"]],
  "openai-chat": ["openai/resources/chat/completions/completions.d.ts", "ChatCompletionCreateParamsBase", []],
  "openai-responses": ["openai/resources/responses/responses.d.ts", "ResponseCreateParamsBase", []],
  gemini: [
    "@google/genai/dist/genai.d.ts",
    "GenerateContentConfig",
    ["httpOptions", "abortSignal", "automaticFunctionCalling"],
  ],
};

/** The names of an interface's own members. */
function membersOf(file: string, type: string): string[] {
  const source = readFileSync(`node_modules/${file}`, "utf8").replace(/\/\*[^]*?\*\//g, "");
  const start = new RegExp(`interface ${type} \\{`).exec(source) ?? expect.unreachable(`${type} is not declared`);
  const found: string[] = [];
  let depth = 1;
  for (const line of source.slice(start.index + start[0].length).split("\n")) {
    const name = depth === 1 ? /^\s*(\w+)\??:/.exec(line)?.[1] : undefined;
    if (name !== undefined) found.push(name);
    depth += line.split("{").length - line.split("}").length;
    if (depth <= 0) break;
  }
  return found;
}

/** Members of a call that its decoder leaves to its own dialect. */
function ownIn(dialect: DialectKey, body: WireObject): string[] {
  const extra =
    chatDialects[dialect].decodeRequest({ ...body, ...plain[dialect] }, { model: "m" }).extra?.[dialect] ?? {};
  return Object.entries(extra).flatMap(([name, value]) =>
    name === "generationConfig" ? Object.keys(value as object).map((inner) => `${name}.${inner}`) : [name],
  );
}

describe.each(dialectKeys)("%s", (dialect) => {
  const [file, type, notSent] = DECLARED[dialect];
  const declared = membersOf(file, type).filter((name) => !notSent.includes(name));

  test("the vendor's types are found", () => expect(declared.length).toBeGreaterThan(25));

  test("each member of the vendor's types is read, or the table says what becomes of it", () => {
    const table = Object.keys(OWN_MEMBERS[dialect]);
    for (const name of declared) {
      // A member that the SDK sends in the configuration is no member of the call itself, and the other way round.
      const places = dialect === "gemini" ? [name, `generationConfig.${name}`] : [name];
      const left = places.filter((path) => {
        const value = {};
        const body = path === name ? { [name]: value } : { generationConfig: { [name]: value } };
        try {
          return ownIn(dialect, body).includes(path);
        } catch (error) {
          // Refused for its value: it is read.
          if (error instanceof RequestFault) return false;
          throw error;
        }
      });
      const isRead = left.length < places.length;
      expect([name, isRead || places.some((path) => table.includes(path))]).toEqual([name, true]);
    }
  });

  test("the table names members of the vendor's types only", () => {
    for (const path of Object.keys(OWN_MEMBERS[dialect]))
      expect(declared).toContain(path.replace("generationConfig.", ""));
  });
});

test("a value that asks for nothing is not refused", () => {
  expect(membersToRefuse("anthropic", { thread: null, mcp_servers: [], inference_geo: "global" })).toEqual([]);
  expect(membersToRefuse("anthropic", { inference_geo: "us" })).toEqual(["inference_geo"]);
  expect(membersToRefuse("openai-chat", { modalities: ["text"] })).toEqual([]);
  expect(membersToRefuse("openai-chat", { modalities: ["text", "audio"] })).toEqual(["modalities"]);
  expect(membersToRefuse("gemini", { cached_content: "cachedContents/1" })).toEqual(["cachedContent"]);
  expect(membersToRefuse("gemini", { generation_config: { response_modalities: ["AUDIO"] } })).toEqual([
    "generationConfig.responseModalities",
  ]);
});

describe("a call that only its own dialect can serve", () => {
  const answered = {
    id: "x",
    object: "chat.completion",
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  };
  const claude = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "hi" }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const bench = (...types: number[]) => {
    const sent: { host: string; body: WireObject }[] = [];
    const made = makeBench(
      types.map((id, index) =>
        makeChannel(index + 1, `http://up-${id}.test`, {
          type: channelType(id) ?? expect.unreachable(),
          priority: -index,
        }),
      ),
      {
        fetch: async (url, init) => {
          const { host } = new URL(url);
          const body = JSON.parse(Buffer.from(init.body as Uint8Array).toString()) as WireObject;
          sent.push({ host, body });
          return Response.json(host === "up-14.test" ? claude : answered);
        },
        reachable: async () => true,
      },
    );
    return { made, sent };
  };
  const thread = { model: "m", ...plain.anthropic, thread: { type: "continue", previous_message_id: "msg_1" } };

  test("goes to a channel of that dialect, whatever its priority, with the member", async () => {
    const { made, sent } = bench(1, 14);
    expect((await made.send("/v1/messages", thread)).status).toBe(200);
    expect(sent).toMatchObject([{ host: "up-14.test", body: { thread: thread.thread } }]);
  });

  test("is refused without such a channel, in the words by which Anthropic refuses a thread; nothing is sent or charged", async () => {
    const { made, sent } = bench(1);
    const answer = await made.send("/v1/messages", thread);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      {
        error: {
          type: "invalid_request_error",
          details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
        },
      },
    ]);
    expect(sent).toEqual([]);
    expect([made.ledger.charged, made.ledger.holds.size]).toEqual([0, 0]);
    expect(made.failures).toMatchObject([{ end_reason: "refused", code: "member_unsupported" }]);
  });

  test("is refused by the member's name in OpenAI's words", async () => {
    const { made } = bench(14);
    const answer = await made.send("/v1/responses", { model: "m", prompt: { id: "pmpt_1" }, input: "hi" });
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: "member_unsupported", param: "prompt" } },
    ]);
  });

  test("with a member that may be dropped it is served, and the log names the member", async () => {
    const { made } = bench(1);
    expect((await made.send("/v1/messages", { ...plain.anthropic, model: "m", container: "c_1" })).status).toBe(200);
    await made.quiet();
    const { other } = made.ledger.settlements[0]?.log ?? expect.unreachable();
    expect(JSON.stringify(other)).toContain("container");
  });

  test("Anthropic's SDK runs its tools without threads there, over several turns", async () => {
    const sent: WireObject[] = [];
    const calling = {
      ...answered,
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "call_1", type: "function", function: { name: "clock", arguments: "{}" } }],
          },
        },
      ],
    };
    const made = makeBench([makeChannel(1, "http://up.test")], {
      fetch: async (_, init) => {
        sent.push(JSON.parse(Buffer.from(init.body as Uint8Array).toString()) as WireObject);
        return Response.json(sent.length === 1 ? calling : answered);
      },
      reachable: async () => true,
    });
    using server = serve(made);
    const client = new Anthropic({ apiKey: TEST_KEY, baseURL: server.url, maxRetries: 0 });
    const last = await client.beta.messages.toolRunner({
      model: "m",
      max_tokens: 100,
      messages: [{ role: "user", content: "What time is it?" }],
      tools: [
        {
          type: "custom",
          name: "clock",
          description: "tells the time",
          input_schema: { type: "object", properties: {} },
          parse: (input: unknown) => input,
          run: () => "12:00",
        },
      ],
    });
    expect(last.content).toMatchObject([{ type: "text", text: "hi" }]);
    expect(sent).toHaveLength(2);
    expect(made.failures.map(({ code }) => code)).toEqual(["member_unsupported"]);
    // The second turn has the whole conversation.
    expect(sent[1]?.messages).toHaveLength(3);
  });
});
