/** Tools in a namespace (Codex CLI: those of MCP servers) on channels that have only plain names. */
import { expect, test } from "bun:test";
import type { WireObject } from "../../src/server/protocol/chat-events";
import { object, objects } from "../../src/server/protocol/dialects/shared/json";
import { StreamTranslator, translateAnswer, translateRequest } from "../../src/server/protocol/translate";
import { context } from "./streams";

// Shapes of the `openai` SDK 7.55: NamespaceTool, ResponseFunctionToolCall.namespace.
const request = {
  model: "asked",
  tools: [
    {
      type: "namespace",
      name: "crm",
      description: "Customers.",
      tools: [
        {
          type: "function",
          name: "find",
          description: "Finds one.",
          parameters: { type: "object", properties: { id: { type: "string" } } },
          strict: false,
        },
        { type: "custom", name: "note", description: "Writes a note." },
      ],
    },
    { type: "function", name: "find", parameters: { type: "object", properties: {} }, strict: false },
  ],
  input: [
    { role: "user", content: "who is 7?" },
    { type: "function_call", call_id: "c1", namespace: "crm", name: "find", arguments: '{"id":"7"}' },
    { type: "function_call_output", call_id: "c1", namespace: "crm", output: "Ann" },
  ],
};
const asked = { ...context, request };
const call = (id: string, name: string, input: WireObject): WireObject => ({ type: "tool_use", id, name, input });

test("every tool of a namespace is declared with both names, and so are its earlier calls, with nothing lost", () => {
  const { body, warnings } = translateRequest("openai-responses", "anthropic", request, "claude-sonnet-5");
  expect(objects(body.tools).map(({ name }) => name)).toEqual(["crm__find", "crm__note", "find"]);
  expect(JSON.stringify(body.messages)).toContain('"name":"crm__find","input":{"id":"7"}');
  expect(warnings).toEqual([{ code: "changed_value", detail: "custom tool crm__note" }]);
  const { body: google } = translateRequest("openai-responses", "gemini", request, "gemini-3.5-flash");
  expect(objects(objects(google.tools)[0]?.functionDeclarations).map(({ name }) => name)).toEqual([
    "crm__find",
    "crm__note",
    "find",
  ]);
});

test("a call is returned with its namespace, and a tool of the same name without one stays without", () => {
  const message = {
    id: "a",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason: "tool_use",
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const content = [
    call("c2", "crm__find", { id: "8" }),
    call("c3", "find", {}),
    call("c4", "crm__note", { input: "hello" }),
  ];
  expect(translateAnswer("anthropic", "openai-responses", { ...message, content }, asked)?.body.output).toMatchObject([
    { type: "function_call", call_id: "c2", namespace: "crm", name: "find", arguments: '{"id":"8"}' },
    { type: "function_call", call_id: "c3", name: "find" },
    { type: "custom_tool_call", call_id: "c4", namespace: "crm", name: "note", input: "hello" },
  ]);
});

test("a streamed call has its namespace in every event", () => {
  const translator = new StreamTranslator("anthropic", "openai-responses", asked);
  const events: WireObject[] = [
    {
      type: "message_start",
      message: {
        id: "a",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: call("c2", "crm__find", {}) },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"id":"8"}' } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
  for (const event of events) translator.feedData(JSON.stringify(event));
  const text = Buffer.concat([translator.feed(Buffer.alloc(0)), translator.close()]).toString();
  const told = text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => object(JSON.parse(line.slice(6))));
  const items = told.flatMap(({ type, item }) =>
    String(type).startsWith("response.output_item.") ? [object(item)] : [],
  );
  expect(items).toMatchObject([
    { namespace: "crm", name: "find", status: "in_progress" },
    { namespace: "crm", name: "find", status: "completed" },
  ]);
});

test("to Responses itself a namespace is sent unchanged", () => {
  const { body } = translateRequest("openai-responses", "openai-responses", request, "gpt-5.6");
  expect(body.tools).toEqual(request.tools);
  expect(objects(body.input)[1]).toMatchObject({ namespace: "crm", name: "find" });
});

test("names too long for one function end in a digest, and are restored", () => {
  const long = "n".repeat(60);
  const named = {
    ...request,
    tools: [{ type: "namespace", name: "server", description: "", tools: [{ type: "function", name: long }] }],
    input: "q",
  };
  const { body } = translateRequest("openai-responses", "anthropic", named, "claude-sonnet-5");
  const [tool] = objects(body.tools);
  expect(String(tool?.name).length).toBeLessThanOrEqual(64);
  const answer = {
    id: "a",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason: "tool_use",
    content: [call("c", String(tool?.name), {})],
  };
  expect(
    translateAnswer("anthropic", "openai-responses", answer, { ...context, request: named })?.body.output,
  ).toMatchObject([{ namespace: "server", name: long }]);
});
