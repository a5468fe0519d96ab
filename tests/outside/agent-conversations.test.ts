/**
 * Conversations of agents, with tools, for callers of every dialect: OpenAI's models that take them through the
 * Responses API only, histories in pieces, and Claude's cache. The upstream here refuses what OpenAI refuses, in its
 * words (openai/openai-openapi#541; BerriAI/litellm#34569; "This model is only supported in v1/responses and not in
 * v1/chat/completions."; developers.openai.com/api/docs/guides/reasoning; read 22 November 2026), and answers with
 * thoughts that must come back encrypted.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { startWeir, type Weir } from "../kit/weir";

type Json = Record<string, unknown>;

interface Seen {
  path: string;
  body: Json;
}
const seen: Seen[] = [];

/** As OpenAI's own types name them (`openai` SDK 7.55, ResponseCreateParams). */
const KNOWN = new Set(
  "model instructions input tools tool_choice parallel_tool_calls text reasoning temperature top_p max_output_tokens user metadata stream store include prompt_cache_key service_tier truncation previous_response_id".split(
    " ",
  ),
);
const SECRET = "gAAAAABencrypted-thoughts";
const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 12 },
  total_tokens: 130,
};
const thoughts = {
  id: "rs_1",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "Two cities." }],
  encrypted_content: SECRET,
};
const callItem = (index: number, city: string): Json => ({
  id: `fc_${index}`,
  type: "function_call",
  status: "completed",
  call_id: `call_${index}`,
  name: "weather",
  arguments: JSON.stringify({ city }),
});
const said = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Both are sunny.", annotations: [] }],
};

const refused = (message: string, param: string): Response =>
  Response.json({ error: { message, type: "invalid_request_error", param, code: null } }, { status: 400 });

/** What OpenAI refuses of a call of Responses; undefined: nothing. */
function refusal(body: Json): Response | undefined {
  const unknown = Object.keys(body).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) return refused(`Unknown parameter: '${unknown}'.`, unknown);
  const sampled = ["temperature", "top_p"].find((name) => body[name] !== undefined);
  if (sampled !== undefined)
    return refused(`Unsupported parameter: '${sampled}' is not supported with this model.`, sampled);
  const items = Array.isArray(body.input) ? (body.input as Json[]) : [];
  const outputs = new Set(items.filter(({ type }) => type === "function_call_output").map(({ call_id }) => call_id));
  const open = items.find(({ type, call_id }) => type === "function_call" && !outputs.has(call_id));
  return open && refused(`No tool output found for function call ${String(open.call_id)}.`, "input");
}

/** Encrypted thoughts are read by the account that wrote them alone (openai/codex#8145). */
function ofAnother(request: Request, { input }: Json): Response | undefined {
  const key = request.headers.get("authorization") ?? "";
  if (!key.startsWith("Bearer another") || !JSON.stringify(input).includes('"encrypted_content"')) return undefined;
  return Response.json(
    {
      error: {
        message: "The encrypted content gAAA...hts= could not be verified.",
        type: "invalid_request_error",
        param: null,
        code: "invalid_encrypted_content",
      },
    },
    { status: 400 },
  );
}

/** What OpenAI refuses of an organization that is not verified (continuedev/continue#9666). */
function unverified(request: Request, { reasoning }: Json): Response | undefined {
  const summary = reasoning !== undefined && (reasoning as Json).summary !== undefined;
  if (!summary || request.headers.get("authorization") !== "Bearer unverified") return undefined;
  return Response.json(
    {
      error: {
        message: "Your organization must be verified to generate reasoning summaries.",
        type: "invalid_request_error",
        param: "reasoning.summary",
        code: "unsupported_value",
      },
    },
    { status: 400 },
  );
}

function answerOf(body: Json): Json {
  const items = Array.isArray(body.input) ? (body.input as Json[]) : [];
  const answered = items.some(({ type }) => type === "function_call_output");
  const tools = Array.isArray(body.tools) && body.tools.length > 0;
  const output = answered || !tools ? [said] : [thoughts, callItem(1, "Oslo"), callItem(2, "Rome")];
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_760_000_000,
    status: "completed",
    model: body.model,
    output,
    usage: USAGE,
  };
}

/** What an item has before its pieces come. */
const unfilled = ({ type }: Json): Json =>
  type === "function_call" ? { arguments: "" } : type === "message" ? { content: [] } : {};

function framesOf(response: Json): string {
  const events: Json[] = [{ type: "response.created", response: { ...response, status: "in_progress", output: [] } }];
  for (const [output_index, item] of (response.output as Json[]).entries()) {
    const place = { output_index, item_id: item.id };
    events.push({ type: "response.output_item.added", output_index, item: { ...item, ...unfilled(item) } });
    if (item.type === "function_call") {
      const whole = String(item.arguments);
      for (const delta of [whole.slice(0, 4), whole.slice(4)])
        events.push({ type: "response.function_call_arguments.delta", ...place, delta });
    } else if (item.type === "reasoning")
      events.push({ type: "response.reasoning_summary_text.delta", ...place, summary_index: 0, delta: "Two cities." });
    else
      events.push(
        {
          type: "response.content_part.added",
          ...place,
          content_index: 0,
          part: { type: "output_text", text: "", annotations: [] },
        },
        { type: "response.output_text.delta", ...place, content_index: 0, delta: "Both are sunny." },
      );
    events.push({ type: "response.output_item.done", output_index, item });
  }
  events.push({ type: "response.completed", response });
  return events
    .map(
      (event, sequence_number) =>
        `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
    )
    .join("");
}

/** A call of a chat history that the next messages do not answer. */
function unanswered(messages: readonly Json[]): string | undefined {
  for (const [index, { tool_calls }] of messages.entries()) {
    const after = messages.slice(index + 1);
    const end = after.findIndex(({ role }) => role !== "tool");
    const answers = new Set(after.slice(0, end < 0 ? after.length : end).map(({ tool_call_id }) => tool_call_id));
    const lone = ((tool_calls ?? []) as Json[]).find(({ id }) => !answers.has(id));
    if (lone) return String(lone.id);
  }
  return undefined;
}

/** The cache marks of a body of Anthropic's. */
const marksOf = (body: Json): number => JSON.stringify(body).split('"cache_control"').length - 1;

/**
 * Claude: a first turn is written to the cache where it is marked, a later one read from there and continued
 * (platform.claude.com/docs/en/build-with-claude/prompt-caching; read 22 November 2026).
 */
function claude(body: Json): Response {
  const marks = marksOf(body);
  if (marks > 4)
    return Response.json(
      {
        type: "error",
        error: {
          type: "invalid_request_error",
          message: `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`,
        },
      },
      { status: 400 },
    );
  const continued = JSON.stringify(body.messages).includes('"tool_result"');
  const cache = continued
    ? { cache_read_input_tokens: 1000, cache_creation_input_tokens: 200 }
    : { cache_read_input_tokens: 0, cache_creation_input_tokens: 1000 };
  const usage = marks > 0 ? { input_tokens: 10, ...cache } : { input_tokens: continued ? 1210 : 1010 };
  const content = continued
    ? [{ type: "text", text: "Both are sunny." }]
    : [{ type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } }];
  return Response.json({
    id: "msg_01",
    type: "message",
    role: "assistant",
    model: body.model,
    content,
    stop_reason: continued ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { ...usage, output_tokens: 20 },
  });
}

const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const body = (await request.json()) as Json;
    seen.push({ path: pathname, body });
    const model = String(body.model);
    if (pathname === "/v1/messages") return claude(body);
    if (pathname === "/v1/responses" || pathname === "/openai/v1/responses") {
      const no = refusal(body) ?? unverified(request, body) ?? ofAnother(request, body);
      if (no) return no;
      const answer = answerOf(body);
      return body.stream === true
        ? new Response(framesOf(answer), { headers: { "content-type": "text/event-stream" } })
        : Response.json(answer);
    }
    if (/codex|-pro/.test(model))
      return refused("This model is only supported in v1/responses and not in v1/chat/completions.", "model");
    if (body.tools !== undefined && /^gpt-5\.[4-9]/.test(model))
      return refused(
        `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. Please use /v1/responses instead.`,
        "reasoning_effort",
      );
    const lone = unanswered((body.messages ?? []) as Json[]);
    if (lone !== undefined)
      return refused(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${lone}`,
        "messages",
      );
    return Response.json({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_760_000_000,
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "Hello!" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
  },
});

const NAME = "weather";
const SCHEMA = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] };
const QUESTION = "How is the weather in Oslo and Rome?";
const ANSWER = "Both are sunny.";

/** Two streamed turns with a vendor's own SDK, whose history it sends back; returns the last words. */
const callers: Record<string, (url: string, apiKey: string, model: string) => Promise<string>> = {
  async chat(url, apiKey, model) {
    const openai = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
    const tools = [{ type: "function" as const, function: { name: NAME, parameters: SCHEMA } }];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: QUESTION }];
    const ask = () =>
      openai.chat.completions.stream({ model, messages, tools, reasoning_effort: "low" }).finalChatCompletion();
    const { content, tool_calls = [] } = (await ask()).choices[0]?.message ?? {};
    expect(tool_calls.map((call) => ("function" in call ? call.function.arguments : ""))).toEqual([
      '{"city":"Oslo"}',
      '{"city":"Rome"}',
    ]);
    // Most programs give nothing back but content and calls.
    messages.push({ role: "assistant", content: content ?? null, tool_calls });
    for (const { id } of tool_calls) messages.push({ role: "tool", tool_call_id: id, content: "sunny" });
    return (await ask()).choices[0]?.message.content ?? "";
  },
  async messages(url, apiKey, model) {
    const anthropic = new Anthropic({ apiKey, baseURL: url, maxRetries: 0 });
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: QUESTION }];
    const ask = () =>
      anthropic.messages
        .stream({
          model,
          max_tokens: 8000,
          messages,
          tools: [{ name: NAME, input_schema: SCHEMA }],
          thinking: { type: "enabled", budget_tokens: 2000 },
        })
        .finalMessage();
    const { content } = await ask();
    expect(content.map(({ type }) => type)).toEqual(["thinking", "tool_use", "tool_use"]);
    messages.push({ role: "assistant", content });
    messages.push({
      role: "user",
      content: content.flatMap((block) =>
        block.type === "tool_use" ? [{ type: "tool_result" as const, tool_use_id: block.id, content: "sunny" }] : [],
      ),
    });
    const last = (await ask()).content.at(-1);
    return last?.type === "text" ? last.text : "";
  },
  async gemini(url, apiKey, model) {
    const google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } });
    const contents: Content[] = [{ role: "user", parts: [{ text: QUESTION }] }];
    const ask = async () => {
      const parts: NonNullable<Content["parts"]> = [];
      const config = {
        tools: [{ functionDeclarations: [{ name: NAME, parametersJsonSchema: SCHEMA }] }],
        thinkingConfig: { includeThoughts: true },
        topK: 64,
      };
      for await (const chunk of await google.models.generateContentStream({ model, contents, config }))
        parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      return parts;
    };
    const parts = await ask();
    contents.push({ role: "model", parts });
    contents.push({
      role: "user",
      parts: parts.flatMap(({ functionCall }) =>
        functionCall
          ? [{ functionResponse: { id: functionCall.id ?? "", name: NAME, response: { output: "sunny" } } }]
          : [],
      ),
    });
    return (await ask()).map(({ text = "" }) => text).join("");
  },
  async responses(url, apiKey, model) {
    const openai = new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });
    const input: OpenAI.Responses.ResponseInput = [{ type: "message", role: "user", content: QUESTION }];
    const ask = () =>
      openai.responses
        .stream({
          model,
          input,
          store: false,
          include: ["reasoning.encrypted_content"],
          tools: [{ type: "function", name: NAME, parameters: SCHEMA, strict: false }],
        })
        .finalResponse();
    for (const item of (await ask()).output) {
      if (item.type !== "reasoning" && item.type !== "function_call") continue;
      input.push(item);
    }
    for (const item of [...input])
      if ("call_id" in item && item.type === "function_call")
        input.push({ type: "function_call_output", call_id: item.call_id, output: "sunny" });
    return (await ask()).output_text;
  },
};

describe("a conversation with tools", () => {
  let weir: Weir;
  let key = "";
  let codex = 0;
  const azure = "azure/gpt-5.5";

  beforeAll(async () => {
    weir = await startWeir({ env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
    const base_url = `http://127.0.0.1:${upstream.port}`;
    codex = await weir.newChannel({ base_url, models: ["gpt-5.5", "gpt-5.1-codex", "gpt-5.1"] });
    await weir.newChannel({
      base_url,
      models: ["mapped", "sub/gpt-5"],
      model_mapping: JSON.stringify({ mapped: "gpt-5.5", "sub/gpt-5": "gpt-5.1" }),
    });
    await weir.newChannel({
      type: 3,
      base_url,
      models: [azure],
      model_mapping: JSON.stringify({ [azure]: "gpt-5.5" }),
    });
    await weir.newChannel({
      base_url,
      models: ["never/gpt-5.5"],
      model_mapping: JSON.stringify({ "never/gpt-5.5": "gpt-5.5" }),
      setting: '{"responses_api":"never"}',
    });
    await weir.newChannel({
      base_url,
      models: ["always/gpt-5.1"],
      model_mapping: JSON.stringify({ "always/gpt-5.1": "gpt-5.1" }),
      setting: '{"responses_api":"always"}',
    });
    await weir.newChannel({
      base_url,
      key: "unverified",
      models: ["unverified/gpt-5.5"],
      model_mapping: '{"unverified/gpt-5.5":"gpt-5.5"}',
    });
    await weir.newChannel({
      base_url,
      key: "another",
      models: ["another/gpt-5.5"],
      model_mapping: '{"another/gpt-5.5":"gpt-5.5"}',
    });
    const unmarked = { "never/claude-opus-4-6": "claude-opus-4-6" };
    await weir.newChannel({ type: 14, base_url, models: ["claude-opus-4-6", "claude-dear-4-6"] });
    await weir.newChannel({
      type: 14,
      base_url,
      models: Object.keys(unmarked),
      model_mapping: JSON.stringify(unmarked),
      setting: '{"cache_marks":"never"}',
    });
    const models = [
      "gpt-5.5",
      "unverified/gpt-5.5",
      "another/gpt-5.5",
      "gpt-5.1-codex",
      "gpt-5.1",
      "mapped",
      "sub/gpt-5",
      azure,
      "never/gpt-5.5",
      "always/gpt-5.1",
    ];
    const claudes = ["claude-opus-4-6", "claude-dear-4-6", ...Object.keys(unmarked)];
    await weir.priceModels(Object.fromEntries([...models, ...claudes].map((model) => [model, 1])));
    const reads = (names: readonly string[], ratio: number) => Object.fromEntries(names.map((name) => [name, ratio]));
    await weir.setOption("CacheRatio", { ...reads(models, 0.5), ...reads(claudes, 0.1), "claude-dear-4-6": 0.3 });
    await weir.setOption("CreateCacheRatio", reads(claudes, 1.25));
    ({ key } = await weir.newToken());
  }, 30_000);
  afterAll(async () => {
    await weir.stop();
    await upstream.stop(true);
  });

  const pathsFrom = (start: number): string[] => seen.slice(start).map(({ path }) => path);
  const chat = (model: string, more: Json = {}): Promise<Response> =>
    weir.call(key, { model, messages: [{ role: "user", content: QUESTION }], ...more });
  const tools = [{ type: "function", function: { name: NAME, parameters: SCHEMA } }];

  for (const [caller, converse] of Object.entries(callers)) {
    test(`a ${caller} caller has parallel tools, its thoughts come back, and the upstream's usage is the charge`, async () => {
      const [start, before] = [seen.length, (await weir.logs()).length];
      expect(await converse(weir.url, key, "gpt-5.5")).toBe(ANSWER);
      const calls = seen.slice(start);
      expect(calls.map(({ path }) => path)).toEqual(["/v1/responses", "/v1/responses"]);
      for (const { body } of calls)
        expect(body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"], stream: true });
      const items = calls[1]?.body.input as Json[];
      expect(items.map(({ type }) => type)).toEqual([
        "message",
        "reasoning",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
      ]);
      expect(items[1]).toMatchObject({ id: "rs_1", encrypted_content: SECRET });
      expect(items.flatMap(({ call_id }) => call_id ?? [])).toEqual(["call_1", "call_2", "call_1", "call_2"]);
      const rows = (await weir.logs()).slice(before).filter(({ model_name }) => model_name === "gpt-5.5");
      // 60 tokens at one unit, 40 cached at a half, and 30 of output.
      expect(rows).toMatchObject(Array(2).fill({ quota: 110, prompt_tokens: 100, completion_tokens: 30 }));
      for (const { other } of rows)
        expect(JSON.parse(other)).toMatchObject({
          cache_tokens: 40,
          admin_info: { attempts: [{ status: 200, dialect: "openai-responses" }] },
        });
    });
  }

  test("a whole answer, through a mapped name and at Azure's address, is the caller's own", async () => {
    for (const [model, path] of [
      ["mapped", "/v1/responses"],
      [azure, "/openai/v1/responses"],
    ] as const) {
      const start = seen.length;
      const answer = (await (await chat(model, { tools })).json()) as OpenAI.ChatCompletion;
      expect(answer.choices[0]).toMatchObject({
        finish_reason: "tool_calls",
        message: { role: "assistant", tool_calls: [{ type: "function" }, { type: "function" }] },
      });
      expect(answer.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 30, total_tokens: 130 });
      expect(seen.slice(start)).toMatchObject([{ path, body: { model: "gpt-5.5" } }]);
    }
  });

  test("an account without summaries of thoughts answers without them, and is charged once", async () => {
    const [start, before] = [seen.length, (await weir.logs()).length];
    const answered = await chat("unverified/gpt-5.5", { tools, reasoning_effort: "low" });
    expect(answered.status).toBe(200);
    expect(seen.slice(start).map(({ body }) => body.reasoning)).toEqual([
      { effort: "low", summary: "auto" },
      { effort: "low" },
    ]);
    const rows = (await weir.logs()).slice(before);
    expect(rows).toMatchObject([{ quota: 110 }]);
    expect(JSON.parse(rows[0]?.other ?? "{}")).toMatchObject({ warnings: ["dropped_field: reasoning.summary"] });
    const own = {
      model: "unverified/gpt-5.5",
      input: "hi",
      reasoning: { summary: "auto" },
      tools: [{ type: "function", name: NAME, parameters: SCHEMA, strict: false }],
    };
    const refused = await weir.call(key, own, { path: "/v1/responses" });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("must be verified")]);
  });

  test("a conversation goes on at another account, without the thoughts that only the first can read", async () => {
    const [start, before] = [seen.length, (await weir.logs()).length];
    expect(await callers.messages?.(weir.url, key, "another/gpt-5.5")).toBe(ANSWER);
    const items = seen.slice(start).map(({ body }) => (body.input as Json[]).map(({ type }) => type));
    const turn = ["function_call", "function_call", "function_call_output", "function_call_output"];
    expect(items).toEqual([["message"], ["message", "reasoning", ...turn], ["message", ...turn]]);
    expect((await weir.logs()).slice(before)).toMatchObject([{ quota: 110 }, { quota: 110 }]);
  });

  test("the mapped name decides, not the one that was asked for, and a call without tools stays in chat", async () => {
    const start = seen.length;
    expect((await chat("sub/gpt-5", { tools })).status).toBe(200);
    expect((await chat("gpt-5.5")).status).toBe(200);
    expect(pathsFrom(start)).toEqual(["/v1/chat/completions", "/v1/chat/completions"]);
  });

  test("a channel may always speak Responses, or never, even where the vendor refuses", async () => {
    const start = seen.length;
    expect((await chat("always/gpt-5.1")).status).toBe(200);
    const never = await chat("never/gpt-5.5", { tools });
    expect([never.status, await never.text()]).toEqual([400, expect.stringContaining("use /v1/responses instead")]);
    expect(pathsFrom(start)).toEqual(["/v1/responses", "/v1/chat/completions"]);
  });

  test("a history of one message for each piece of a stream is whole turns to a chat model, and charged once", async () => {
    const google = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: weir.url } });
    const call = (city: string): Content => ({
      role: "model",
      parts: [{ functionCall: { name: NAME, args: { city } } }],
    });
    const result = (city: string) => ({ functionResponse: { name: NAME, response: { output: `${city}: sunny` } } });
    const { text } = await google.models.generateContent({
      model: "gpt-5.1",
      contents: [
        { role: "user", parts: [{ text: QUESTION }] },
        call("Oslo"),
        call("Rome"),
        { role: "model", parts: [{ text: "" }] },
        { role: "user", parts: [result("Oslo"), result("Rome")] },
      ],
      config: { tools: [{ functionDeclarations: [{ name: NAME, parametersJsonSchema: SCHEMA }] }] },
    });
    expect([text, (await weir.logs()).at(-1)]).toMatchObject(["Hello!", { model_name: "gpt-5.1", quota: 10 }]);
  });

  test("the channel test asks such a model where it answers", async () => {
    const start = seen.length;
    const tested = await weir.root.api("GET", `/api/channel/test/${codex}?model=gpt-5.1-codex`);
    expect([tested.body.success, pathsFrom(start)]).toEqual([true, ["/v1/responses"]]);
  });

  test("structured output, pictures, files, choice of tools and limits are said as Responses says them", async () => {
    const start = seen.length;
    const picture = "data:image/png;base64,iVBORw0KGgo=";
    const answered = await chat("gpt-5.5", {
      messages: [
        { role: "system", content: "Be kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: picture, detail: "low" } },
            { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
          ],
        },
      ],
      tools,
      tool_choice: { type: "function", function: { name: NAME } },
      parallel_tool_calls: false,
      response_format: { type: "json_schema", json_schema: { name: "it", schema: SCHEMA, strict: true } },
      max_completion_tokens: 500,
      prompt_cache_key: "mine",
      stop: ["END"],
      seed: 1,
      temperature: 0.2,
    });
    expect(answered.status).toBe(200);
    expect(seen.slice(start)).toMatchObject([
      {
        path: "/v1/responses",
        body: {
          instructions: "Be kind.",
          input: [
            {
              role: "user",
              content: [
                { type: "input_text", text: "What is this?" },
                { type: "input_image", image_url: picture, detail: "low" },
                { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
              ],
            },
          ],
          tool_choice: { type: "function", name: NAME },
          parallel_tool_calls: false,
          text: { format: { type: "json_schema", name: "it", schema: SCHEMA, strict: true } },
          max_output_tokens: 500,
          prompt_cache_key: "mine",
        },
      },
    ]);
    const row = (await weir.logs()).at(-1);
    const { warnings } = JSON.parse(row?.other ?? "{}") as { warnings?: string[] };
    expect(warnings).toEqual(
      expect.arrayContaining(["dropped_field: stop", "dropped_field: seed", "dropped_field: temperature"]),
    );
  });

  describe("on a Claude", () => {
    const bodies = (start: number): Json[] => seen.slice(start).map(({ body }) => body);
    const history = (answer: OpenAI.ChatCompletion): Json => {
      const message = answer.choices[0]?.message;
      return {
        messages: [
          { role: "system", content: "Be kind." },
          { role: "user", content: QUESTION },
          message,
          ...(message?.tool_calls ?? []).map(({ id }) => ({ role: "tool", tool_call_id: id, content: "sunny" })),
        ],
      };
    };

    test("is marked for its cache turn by turn, and the bill says what that saved", async () => {
      const [start, before] = [seen.length, (await weir.logs()).length];
      const model = "claude-opus-4-6";
      const first = (await (await chat(model, { tools })).json()) as OpenAI.ChatCompletion;
      expect((await chat(model, { tools, ...history(first) })).status).toBe(200);
      expect(bodies(start).map(marksOf)).toEqual([2, 3]);
      const rows = (await weir.logs()).slice(before);
      // Ten tokens, 1,000 written at 1.25, 20 of output; then 1,000 read at a tenth and 200 written.
      expect(rows.map(({ quota }) => quota)).toEqual([10 + 1250 + 20, 10 + 100 + 250 + 20]);
      expect(rows.map(({ other }) => (JSON.parse(other) as Json).cache_saved)).toEqual(["-250", "850"]);
    });

    test("gets no marks where its cache is dear, where the channel says so, without tools, and from callers that can set their own", async () => {
      const start = seen.length;
      await chat("claude-dear-4-6", { tools });
      await chat("never/claude-opus-4-6", { tools });
      await chat("claude-opus-4-6");
      const own = { model: "claude-opus-4-6", max_tokens: 9, messages: [{ role: "user", content: QUESTION }] };
      const declared = { ...own, tools: [{ name: NAME, input_schema: SCHEMA }] };
      await weir.call(key, declared, { path: "/v1/messages" });
      expect(bodies(start).map(marksOf)).toEqual([0, 0, 0, 0]);
      expect(bodies(start).at(-1)).toEqual(declared);
      const marked = [{ type: "text", text: QUESTION, cache_control: { type: "ephemeral" } }];
      await chat("claude-opus-4-6", { tools, messages: [{ role: "user", content: marked }] });
      expect(bodies(start).slice(4).map(marksOf)).toEqual([1]);
      for (const row of (await weir.logs()).slice(-5)) expect(row.other).not.toContain("cache_saved");
    });
  });

  test("every charge is in the books", async () => {
    expect([await weir.holds(), await weir.audit()]).toEqual([0, []]);
  });
});
