/** The official SDKs as callers: each of them reads the answers of every upstream dialect. */
import { afterAll, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { type DialectKey, dialectKeys } from "../../src/server/protocol/chat-events";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { startProxy } from "./proxy";

const upstream = startFakeUpstream();
const proxy = startProxy(upstream.url);
afterAll(() => {
  proxy.close();
  upstream.close();
});

const SAID = "Héllo 你好 🙂 world";
const TOOLS = ["get_weather", "get_time"];
const SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" as const }, unit: { type: "string" as const } },
  required: ["city"],
};

/** What a caller got, whatever its SDK calls it. */
interface Got {
  text: string;
  thoughts: string;
  calls: { name: string; args: unknown }[];
  finish: string;
  input: number;
  output: number;
}

interface Asked {
  model: string;
  tools: boolean;
  stream: boolean;
}

const parse = (json: string): unknown => JSON.parse(json);

/** One call of each SDK. */
const callers: Record<DialectKey, (to: DialectKey, asked: Asked) => Promise<Got>> = {
  async "openai-chat"(to, { model, tools, stream }) {
    const client = new OpenAI({
      baseURL: `${proxy.url}/v1`,
      apiKey: "k",
      maxRetries: 0,
      defaultHeaders: { "x-upstream": to },
    });
    const body = {
      model,
      messages: [{ role: "user" as const, content: SAID }],
      ...(tools && {
        tools: TOOLS.map((name) => ({ type: "function" as const, function: { name, parameters: SCHEMA } })),
      }),
    };
    // The SDK's helper does not know reasoning_content: its deltas are collected separately.
    const thoughts: string[] = [];
    const read = (message: object): void => {
      if ("reasoning_content" in message) thoughts.push(String(message.reasoning_content));
    };
    const streamed = stream
      ? client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).on("chunk", (chunk) => {
          for (const { delta } of chunk.choices) read(delta);
        })
      : undefined;
    const answer = streamed ? await streamed.finalChatCompletion() : await client.chat.completions.create(body);
    const [choice] = answer.choices;
    if (!stream && choice) read(choice.message);
    return {
      text: choice?.message.content ?? "",
      thoughts: thoughts.join(""),
      calls: (choice?.message.tool_calls ?? []).flatMap((call) =>
        call.type === "function" ? [{ name: call.function.name, args: parse(call.function.arguments) }] : [],
      ),
      finish: choice?.finish_reason ?? "",
      input: answer.usage?.prompt_tokens ?? -1,
      output: answer.usage?.completion_tokens ?? -1,
    };
  },
  async "openai-responses"(to, { model, tools, stream }) {
    const client = new OpenAI({
      baseURL: `${proxy.url}/v1`,
      apiKey: "k",
      maxRetries: 0,
      defaultHeaders: { "x-upstream": to },
    });
    const body = {
      model,
      input: SAID,
      reasoning: { summary: "auto" as const },
      ...(tools && {
        tools: TOOLS.map((name) => ({ type: "function" as const, name, parameters: SCHEMA, strict: false })),
      }),
    };
    const answer = stream ? await client.responses.stream(body).finalResponse() : await client.responses.create(body);
    // The SDK returns a failed response.
    if (answer.error) throw new Error(answer.error.message);
    return {
      text: answer.output_text,
      thoughts: answer.output
        .flatMap((item) => (item.type === "reasoning" ? item.summary.map((part) => part.text) : []))
        .join(""),
      calls: answer.output.flatMap((item) =>
        item.type === "function_call" ? [{ name: item.name, args: parse(item.arguments) }] : [],
      ),
      finish: answer.incomplete_details?.reason ?? answer.status ?? "",
      input: answer.usage?.input_tokens ?? -1,
      output: answer.usage?.output_tokens ?? -1,
    };
  },
  async anthropic(to, { model, tools, stream }) {
    const client = new Anthropic({
      baseURL: proxy.url,
      apiKey: "k",
      maxRetries: 0,
      defaultHeaders: { "x-upstream": to },
    });
    const body = {
      model,
      max_tokens: 1000,
      messages: [{ role: "user" as const, content: SAID }],
      ...(tools && { tools: TOOLS.map((name) => ({ name, input_schema: SCHEMA })) }),
    };
    const answer = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    const { usage } = answer;
    return {
      text: answer.content.map((block) => (block.type === "text" ? block.text : "")).join(""),
      thoughts: answer.content.map((block) => (block.type === "thinking" ? block.thinking : "")).join(""),
      calls: answer.content.flatMap((block) =>
        block.type === "tool_use" ? [{ name: block.name, args: block.input }] : [],
      ),
      finish: answer.stop_reason ?? "",
      input: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      output: usage.output_tokens,
    };
  },
  async gemini(to, { model, tools, stream }) {
    const client = new GoogleGenAI({ apiKey: "k", httpOptions: { baseUrl: proxy.url, headers: { "x-upstream": to } } });
    const body = {
      model,
      contents: SAID,
      config: {
        ...(tools && {
          tools: [{ functionDeclarations: TOOLS.map((name) => ({ name, parametersJsonSchema: SCHEMA })) }],
        }),
      },
    };
    const got: Got = { text: "", thoughts: "", calls: [], finish: "", input: -1, output: -1 };
    const chunks = stream
      ? await client.models.generateContentStream(body)
      : [await client.models.generateContent(body)];
    for await (const chunk of chunks) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.functionCall) got.calls.push({ name: part.functionCall.name ?? "", args: part.functionCall.args });
        else if (part.thought) got.thoughts += part.text ?? "";
        else got.text += part.text ?? "";
      }
      got.finish = chunk.candidates?.[0]?.finishReason ?? got.finish;
      const { usageMetadata: usage } = chunk;
      got.input = usage?.promptTokenCount ?? got.input;
      if (usage) got.output = (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0);
    }
    return got;
  },
};

const words = {
  stop: { "openai-chat": "stop", "openai-responses": "completed", anthropic: "end_turn", gemini: "STOP" },
  tools: { "openai-chat": "tool_calls", "openai-responses": "completed", anthropic: "tool_use", gemini: "STOP" },
  length: {
    "openai-chat": "length",
    "openai-responses": "max_output_tokens",
    anthropic: "max_tokens",
    gemini: "MAX_TOKENS",
  },
} as const;

for (const caller of dialectKeys) {
  for (const to of dialectKeys.filter((key) => key !== caller)) {
    for (const stream of [false, true]) {
      describe(`${caller} SDK, ${to} upstream, ${stream ? "streamed" : "plain"}`, () => {
        const call = (model: string, tools = false): Promise<Got> => callers[caller](to, { model, tools, stream });

        test("text, finish and usage", async () => {
          for (const model of [
            "m+usage:1000:500",
            "m+cached:1000:400:0:500",
            "m+crlf+usage:1000:500",
            "m+comments+usage:1000:500",
            "m+multi-data+usage:1000:500",
          ]) {
            expect(await call(model)).toEqual({
              text: SAID,
              thoughts: "",
              calls: [],
              finish: words.stop[caller],
              input: 1000,
              output: 500,
            });
          }
        });

        test("thoughts before the answer", async () => {
          const got = await call("m+reasoning:8");
          expect(got).toMatchObject({ text: SAID, finish: words.stop[caller], output: 20 });
          expect(got.thoughts).toBe("Let me think about this.");
        });

        test("parallel tool calls in fragments, after text", async () => {
          const got = await call("m+tool-split", true);
          expect(got.text).toBe(SAID);
          expect(got.calls).toEqual([
            { name: "get_weather", args: { city: "巴黎", unit: "celsius" } },
            { name: "get_time", args: { city: 'Tokyo "East"' } },
          ]);
          expect(got.finish).toBe(words.tools[caller]);
        });

        test("an answer that was cut short says so", async () => {
          expect(await call("m+finish-length")).toMatchObject({ text: SAID, finish: words.length[caller] });
        });

        test("an error is one for the SDK", async () => {
          await expect(call("m+error-429")).rejects.toMatchObject({ status: 429 });
          if (stream) await expect(call("m+error-midstream:1")).rejects.toThrow();
        });
      });
    }
  }
}
