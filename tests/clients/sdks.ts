/** The vendors' own SDKs and the AI SDK in JavaScript, each as its documentation shows a loop of tools. */
import { readFileSync } from "node:fs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { type FunctionDeclaration, GoogleGenAI, type Part, Type } from "@google/genai";
import { isStepCount, type LanguageModel, streamText, tool } from "ai";
import OpenAI from "openai";
import { z } from "zod";
import packages from "../../package.json";
import { type Client, type Door, NATURAL_MODELS, type Outcome, type Target, TOO_LONG } from "./client";
import { FATES } from "./vendors/server";

// Its warnings are of what it mends by itself.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/** More turns than the model wants. */
const TURNS = 6;
const NAME = "read_note";
const DESCRIPTION = "Reads one note.";
const PARAMETERS = {
  type: "object" as const,
  properties: { path: { type: "string", description: "Path of the note" } },
  required: ["path"],
  additionalProperties: false,
};

const readNote = ({ path }: { path?: unknown }): string => readFileSync(String(path), "utf8");
const readNoteOf = (json: string): string => readNote(JSON.parse(json) as { path?: unknown });

async function openaiChat({ url, key, model, prompt }: Target): Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: prompt }];
  const tools = [
    { type: "function" as const, function: { name: NAME, description: DESCRIPTION, parameters: PARAMETERS } },
  ];
  for (let turn = 0; turn < TURNS; turn++) {
    const stream = client.chat.completions.stream({
      model,
      messages,
      tools,
      reasoning_effort: "medium",
      stream_options: { include_usage: true },
    });
    const message = (await stream.finalChatCompletion()).choices[0]?.message;
    if (!message) throw new Error("no choice");
    messages.push(message);
    if (!message.tool_calls?.length) return message.content ?? "";
    for (const call of message.tool_calls)
      if (call.type === "function")
        messages.push({ role: "tool", tool_call_id: call.id, content: readNoteOf(call.function.arguments) });
  }
  throw new Error("the model does not end");
}

async function openaiResponses({ url, key, model, prompt }: Target): Promise<string> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key });
  const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: prompt }];
  const tools = [
    { type: "function" as const, name: NAME, description: DESCRIPTION, parameters: PARAMETERS, strict: true },
  ];
  for (let turn = 0; turn < TURNS; turn++) {
    const response = await client.responses
      .stream({ model, input, tools, store: false, include: ["reasoning.encrypted_content"] })
      .finalResponse();
    // A failure inside the stream does not reject.
    if (response.error) throw new Error(`${response.status}: ${response.error.code} ${response.error.message}`);
    input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
    const calls = response.output.filter((item) => item.type === "function_call");
    if (calls.length === 0) return response.output_text;
    for (const call of calls)
      input.push({ type: "function_call_output", call_id: call.call_id, output: readNoteOf(call.arguments) });
  }
  throw new Error("the model does not end");
}

async function anthropic({ url, key, model, prompt }: Target): Promise<string> {
  const client = new Anthropic({ baseURL: url, apiKey: key });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: prompt }];
  const tools = [{ name: NAME, description: DESCRIPTION, input_schema: PARAMETERS }];
  for (let turn = 0; turn < TURNS; turn++) {
    const message = await client.messages
      .stream({ model, max_tokens: 8000, thinking: { type: "adaptive" }, messages, tools })
      .finalMessage();
    messages.push({ role: "assistant", content: message.content });
    const calls = message.content.filter((block) => block.type === "tool_use");
    if (calls.length === 0) return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    messages.push({
      role: "user",
      content: calls.map((call) => ({
        type: "tool_result",
        tool_use_id: call.id,
        content: readNote(call.input as { path?: unknown }),
      })),
    });
  }
  throw new Error("the model does not end");
}

async function gemini({ url, key, model, prompt }: Target): Promise<string> {
  const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });
  const declaration: FunctionDeclaration = {
    name: NAME,
    description: DESCRIPTION,
    parameters: { type: Type.OBJECT, properties: { path: { type: Type.STRING } }, required: ["path"] },
  };
  const chat = client.chats.create({
    model,
    config: { tools: [{ functionDeclarations: [declaration] }], thinkingConfig: { includeThoughts: true } },
  });
  let message: string | Part[] = prompt;
  for (let turn = 0; turn < TURNS; turn++) {
    let said = "";
    const answers: Part[] = [];
    for await (const chunk of await chat.sendMessageStream({ message })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.text && !part.thought) said += part.text;
        if (!part.functionCall) continue;
        const { id, name } = part.functionCall;
        answers.push({
          functionResponse: { ...(id && { id }), name, response: { output: readNote(part.functionCall.args ?? {}) } },
        });
      }
    }
    if (answers.length === 0) return said;
    message = answers;
  }
  throw new Error("the model does not end");
}

const aiSdk =
  (modelOf: (target: Target) => LanguageModel) =>
  async (target: Target): Promise<string> => {
    const result = streamText({
      model: modelOf(target),
      prompt: target.prompt,
      tools: {
        [NAME]: tool({
          description: DESCRIPTION,
          inputSchema: z.object({ path: z.string() }),
          execute: async (input) => readNote(input),
        }),
      },
      stopWhen: isStepCount(TURNS),
      // Its own is to print them.
      onError: () => {},
    });
    let said = "";
    for await (const part of result.stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") said += part.text;
    }
    return said;
  };

/** Status, code and words of an SDK's error, with what the AI SDK's retries keep inside. */
function wordsOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error) || depth > 3) return typeof error === "string" ? error : (JSON.stringify(error) ?? "");
  const {
    status,
    statusCode,
    code,
    type,
    responseBody,
    lastError,
    error: body,
  } = error as Error & Record<string, unknown>;
  const facts = [status ?? statusCode, code, type].filter((fact) => fact !== undefined && fact !== null).join(" ");
  const inner = lastError ? wordsOf(lastError, depth + 1) : "";
  const answer = typeof responseBody === "string" ? responseBody : body === undefined ? "" : JSON.stringify(body);
  return `${error.constructor.name} ${facts}: ${error.message} ${answer} ${inner}`;
}

const run =
  (loop: (target: Target) => Promise<string>, ms = 60_000) =>
  async (target: Target): Promise<Outcome> => {
    const { promise: late, resolve } = Promise.withResolvers<Outcome>();
    const timer = setTimeout(() => resolve({ ended: "too late", says: "" }), ms);
    const ends = loop(target).then(
      (says): Outcome => ({ ended: "answered", says }),
      (error: unknown): Outcome => ({ ended: "failed", says: wordsOf(error) }),
    );
    const outcome = await Promise.race([ends, late]);
    clearTimeout(timer);
    return outcome;
  };

const sdk = (name: string, version: string, door: Door, loop: (target: Target) => Promise<string>): Client => ({
  name,
  version,
  kind: "sdk",
  from: "project",
  // The AI SDK reads the status alone (ai 7, November 2026).
  obeys: !name.startsWith("AI SDK"),
  door,
  models: [NATURAL_MODELS[door]],
  fates: FATES,
  tooLong: TOO_LONG[door],
  missing: () => undefined,
  run: run(loop),
});

const versions = packages.devDependencies;
const ai = `${versions.ai} under Bun`;
const under = (version: string): string => `${version} under Bun`;

export const sdks: readonly Client[] = [
  sdk("openai (JavaScript), chat", under(versions.openai), "openai-chat", openaiChat),
  sdk("openai (JavaScript), Responses", under(versions.openai), "openai-responses", openaiResponses),
  sdk("anthropic (JavaScript)", under(versions["@anthropic-ai/sdk"]), "anthropic", anthropic),
  sdk("google-genai (JavaScript)", under(versions["@google/genai"]), "gemini", gemini),
  sdk(
    "AI SDK, OpenAI-compatible",
    ai,
    "openai-chat",
    aiSdk(({ url, key, model }) =>
      createOpenAICompatible({ name: "certified", baseURL: `${url}/v1`, apiKey: key, includeUsage: true })(model),
    ),
  ),
  sdk(
    "AI SDK, OpenAI Responses",
    ai,
    "openai-responses",
    aiSdk(({ url, key, model }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key })(model)),
  ),
  sdk(
    "AI SDK, Anthropic",
    ai,
    "anthropic",
    aiSdk(({ url, key, model }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(model)),
  ),
  sdk(
    "AI SDK, Google",
    ai,
    "gemini",
    aiSdk(({ url, key, model }) => createGoogle({ baseURL: `${url}/v1beta`, apiKey: key })(model)),
  ),
];
