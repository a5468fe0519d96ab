/** Members that a vendor would refuse with 400 are not sent: the call succeeds, and the log says what was dropped. */
import { describe, expect, test } from "bun:test";
import type { DialectKey, WireObject } from "../../src/server/protocol/chat-events";
import { objects } from "../../src/server/protocol/dialects/shared/json";
import { translateAnswer, translateRequest } from "../../src/server/protocol/translate";
import { context } from "./streams";

function sent(from: DialectKey, to: DialectKey, model: string, body: WireObject): { body: WireObject; lost: string[] } {
  const { body: written, warnings } = translateRequest(from, to, { model: "asked", ...body }, model, {
    model: "asked",
    stream: false,
  });
  return { body: written, lost: warnings.map(({ code, detail }) => `${code} ${detail}`) };
}

const question = { max_tokens: 100, messages: [{ role: "user", content: "q" }] };
const weather = {
  name: "weather",
  description: "d",
  input_schema: { type: "object", properties: { city: { type: "string" } } },
};

describe("OpenAI's models", () => {
  test("a model without reasoning is requested neither reasoning nor its encrypted content", () => {
    const thinking = { ...question, thinking: { type: "enabled", budget_tokens: 2048 } };
    for (const model of ["gpt-4.1", "gpt-4o-2024-08-06", "gpt-5-chat-latest", "ft:gpt-4o-mini:org::id"]) {
      const responses = sent("anthropic", "openai-responses", model, thinking);
      expect(responses.body).not.toHaveProperty("include");
      expect(responses.body).not.toHaveProperty("reasoning");
      expect(responses.lost).toContain("dropped_field reasoning");
      const chat = sent("anthropic", "openai-chat", model, thinking);
      expect(chat.body).not.toHaveProperty("reasoning_effort");
      expect(chat.lost).toContain("dropped_field reasoning");
    }
    expect(sent("anthropic", "openai-responses", "gpt-5.2", thinking).body).toMatchObject({
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "low" },
    });
    // A name of a deployment says nothing.
    expect(sent("anthropic", "openai-responses", "our-deployment", thinking).body.include).toEqual([
      "reasoning.encrypted_content",
    ]);
  });

  test("an effort that the model does not support becomes the nearest supported one", () => {
    const effort = (model: string, wanted: string): unknown =>
      sent("anthropic", "openai-chat", model, {
        ...question,
        thinking: { type: "adaptive" },
        output_config: { effort: wanted },
      }).body.reasoning_effort;
    expect(effort("o3", "max")).toBe("high");
    expect(effort("gpt-5", "xhigh")).toBe("high");
    expect(effort("gpt-5.2", "max")).toBe("xhigh");
    expect(effort("gpt-5.6", "max")).toBe("max");
    expect(effort("deepseek-reasoner", "max")).toBe("max");
    const minimal = {
      contents: [{ parts: [{ text: "q" }] }],
      generationConfig: { thinkingConfig: { thinkingLevel: "MINIMAL" } },
    };
    expect(sent("gemini", "openai-responses", "gpt-5.1", minimal).body.reasoning).toMatchObject({ effort: "low" });
    expect(sent("gemini", "openai-responses", "gpt-5.1", minimal).lost).toContain("changed_value reasoning.effort");
    expect(sent("gemini", "openai-responses", "gpt-5-mini", minimal).lost).not.toContain(
      "changed_value reasoning.effort",
    );
  });

  test("a reasoning model gets no temperature, no penalties and no stop sequences", () => {
    const body = { ...question, temperature: 0.2, top_p: 0.9, stop_sequences: ["END"] };
    const lost = ["dropped_field temperature", "dropped_field top_p", "dropped_field stop"];
    for (const model of ["o4-mini", "gpt-5", "openai/gpt-5.1", "gpt-6"]) {
      const { body: written, lost: told } = sent("anthropic", "openai-chat", model, body);
      for (const name of ["temperature", "top_p", "stop"]) expect(written).not.toHaveProperty(name);
      expect(told).toEqual(expect.arrayContaining(lost));
    }
    const quiet = sent("anthropic", "openai-chat", "gpt-5", { ...question, temperature: 1 });
    expect(quiet.lost).toEqual([]);
    expect(sent("anthropic", "openai-chat", "gpt-5.2", { ...body, thinking: { type: "disabled" } }).body).toMatchObject(
      { reasoning_effort: "none", temperature: 0.2 },
    );
    expect(sent("anthropic", "openai-chat", "qwen-max", body).body).toMatchObject({
      temperature: 0.2,
      top_p: 0.9,
      stop: ["END"],
    });
  });

  test("more stop sequences than four are cut off", () => {
    const { body, lost } = sent("anthropic", "openai-chat", "gpt-4o", {
      ...question,
      stop_sequences: ["1", "2", "3", "4", "5"],
    });
    expect(body.stop).toEqual(["1", "2", "3", "4"]);
    expect(lost).toContain("changed_value stop");
  });

  test("functions in chat are sent without reasoning where the model supports only one of them", () => {
    const { body, lost } = sent("anthropic", "openai-chat", "gpt-5.6", {
      ...question,
      tools: [weather],
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
    expect(body.reasoning_effort).toBe("none");
    expect(lost).toContain("dropped_field reasoning beside functions");
    expect(
      sent("anthropic", "openai-responses", "gpt-5.6", {
        ...question,
        tools: [weather],
        thinking: { type: "adaptive" },
        output_config: { effort: "high" },
      }).body.reasoning,
    ).toMatchObject({ effort: "high" });
  });

  test("the name of a user that is longer than 64 characters is sent as its digest", () => {
    // As Claude Code 2.1 writes metadata.user_id.
    const user_id = JSON.stringify({
      device_id: "d".repeat(64),
      account_uuid: "",
      session_id: "00000000-0000-4000-8000-000000000000",
    });
    for (const to of ["openai-chat", "openai-responses"] as const) {
      const { body, lost } = sent("anthropic", to, "gpt-5.2", { ...question, metadata: { user_id } });
      expect(body.user).toMatch(/^[0-9a-f]{64}$/);
      expect(body.user).toBe(sent("anthropic", to, "gpt-5.2", { ...question, metadata: { user_id } }).body.user);
      expect(lost).toContain("changed_value user");
      expect(sent("anthropic", to, "gpt-5.2", { ...question, metadata: { user_id: "u1" } }).body.user).toBe("u1");
    }
  });
});

describe("vendors whose chat is like OpenAI's", () => {
  // Like a request of the Codex CLI: a developer message, and apply_patch as a custom tool with a grammar.
  const patch = {
    type: "custom",
    name: "apply_patch",
    description: "Edit files.",
    format: { type: "grammar", syntax: "lark", definition: "start: begin_patch hunk end_patch" },
  };
  const codex = {
    instructions: "You are a coding agent.",
    tools: [patch],
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Sandbox: read-only" }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "fix it" }] },
      { type: "custom_tool_call", call_id: "c1", name: "apply_patch", input: "*** Begin Patch\n" },
      { type: "custom_tool_call_output", call_id: "c1", output: "done" },
    ],
  };

  test("several texts are joined for models that may not accept lists, and stay separate if other parts are among them", () => {
    const text = (words: string) => ({ type: "text", text: words });
    const image = { type: "image", source: { type: "url", url: "https://pictures.example/a.png" } };
    const body = {
      ...question,
      system: [text("You are an agent."), text("Be brief.")],
      messages: [
        { role: "user", content: [text("<system-reminder>x</system-reminder>"), text("go")] },
        { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
        {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "c1", content: [text("a"), text("b")] }, text("and?"), image],
        },
      ],
    };
    const messages = objects(sent("anthropic", "openai-chat", "deepseek-chat", body).body.messages);
    expect(messages.map(({ content }) => content)).toEqual([
      "You are an agent.\n\nBe brief.",
      "<system-reminder>x</system-reminder>\n\ngo",
      null,
      "a\n\nb",
      [text("and?"), { type: "image_url", image_url: { url: "https://pictures.example/a.png" } }],
    ]);
    expect(objects(sent("anthropic", "openai-chat", "gpt-5.2", body).body.messages)[0]?.content).toEqual([
      text("You are an agent."),
      text("Be brief."),
    ]);
  });

  test("a developer message becomes a system message for models without that role", () => {
    const roles = (model: string): unknown[] =>
      objects(sent("openai-responses", "openai-chat", model, codex).body.messages).map(({ role }) => role);
    expect(roles("deepseek-chat")).toEqual(["system", "system", "user", "assistant", "tool"]);
    expect(roles("gpt-5.2")).toEqual(["system", "developer", "user", "assistant", "tool"]);
  });

  test("a tool of plain text becomes a function that describes its grammar, and its calls come back as plain text", () => {
    const { body, lost } = sent("openai-responses", "openai-chat", "deepseek-chat", codex);
    expect(lost).toContain("changed_value custom tool apply_patch");
    const [tool] = objects(body.tools);
    expect(tool).toMatchObject({
      type: "function",
      function: { name: "apply_patch", parameters: { required: ["input"] } },
    });
    expect(JSON.stringify(tool)).toContain("begin_patch hunk end_patch");
    const said = objects(body.messages).find(({ role }) => role === "assistant");
    expect(said?.tool_calls).toEqual([
      { id: "c1", type: "function", function: { name: "apply_patch", arguments: '{"input":"*** Begin Patch\\n"}' } },
    ]);
    const call = {
      id: "c2",
      type: "function",
      function: { name: "apply_patch", arguments: '{"input":"*** End Patch"}' },
    };
    const answer = {
      id: "a",
      model: "m",
      choices: [
        { index: 0, finish_reason: "tool_calls", message: { role: "assistant", content: null, tool_calls: [call] } },
      ],
    };
    expect(
      translateAnswer("openai-chat", "openai-responses", answer, { ...context, request: codex })?.body.output,
    ).toMatchObject([{ type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** End Patch" }]);
    expect(objects(sent("openai-responses", "openai-chat", "gpt-5.2", codex).body.tools)[0]).toMatchObject({
      type: "custom",
    });
  });

  test("a caller of chat itself keeps the tools that it declared", () => {
    const custom = { type: "custom", custom: { name: "shell", format: { type: "text" } } };
    expect(
      sent("openai-chat", "openai-chat", "our-deployment", {
        messages: [{ role: "user", content: "q" }],
        tools: [custom],
      }).body.tools,
    ).toEqual([custom]);
  });
});

describe("strictness", () => {
  const open = { type: "object", properties: { city: { type: "string" } } };
  const closed = { ...open, required: ["city"], additionalProperties: false };
  const asked = (tool: WireObject): WireObject => ({
    input: "q",
    tools: [{ type: "function", name: "weather", ...tool }],
  });
  const toolOf = (body: WireObject): WireObject => objects(body.tools)[0] ?? {};

  test("strictness that Responses enforces only for fitting schemas is not enforced elsewhere", () => {
    const unsaid = asked({ parameters: open });
    expect(toolOf(sent("openai-responses", "anthropic", "claude-sonnet-5", unsaid).body)).not.toHaveProperty("strict");
    expect(toolOf(sent("openai-responses", "openai-chat", "gpt-5.2", unsaid).body).function).not.toHaveProperty(
      "strict",
    );
    expect(sent("openai-responses", "openai-chat", "gpt-5.2", unsaid).lost).toEqual([]);
    expect(toolOf(sent("openai-responses", "openai-responses", "gpt-5.2", unsaid).body)).not.toHaveProperty("strict");
    expect(
      toolOf(sent("anthropic", "openai-responses", "gpt-5.2", { ...question, tools: [weather] }).body).strict,
    ).toBe(false);
  });

  test("a strict tool stays strict where its schema fits, and is an ordinary one otherwise", () => {
    expect(
      toolOf(
        sent("openai-responses", "anthropic", "claude-sonnet-5", asked({ strict: true, parameters: closed })).body,
      ),
    ).toMatchObject({ strict: true, input_schema: closed });
    expect(
      toolOf(sent("openai-responses", "openai-chat", "gpt-5.2", asked({ strict: true, parameters: closed })).body),
    ).toMatchObject({ function: { strict: true } });
    const optional = { ...weather, strict: true, input_schema: { ...open, additionalProperties: false } };
    const { body, lost } = sent("anthropic", "openai-chat", "gpt-5.2", { ...question, tools: [optional] });
    expect(toolOf(body).function).not.toHaveProperty("strict");
    expect(lost).toContain("dropped_field tools.strict");
  });

  test("strict tools above Anthropic's limit are ordinary ones", () => {
    const tools = Array.from({ length: 21 }, (_, at) => ({
      type: "function",
      name: `t${at}`,
      strict: true,
      parameters: closed,
    }));
    const { body, lost } = sent("openai-responses", "anthropic", "claude-sonnet-5", { input: "q", tools });
    expect(objects(body.tools).some((tool) => "strict" in tool)).toBe(false);
    expect(lost).toEqual(["dropped_field tools.strict"]);
  });
});

describe("Anthropic's models", () => {
  const formatFor = (schema: WireObject, model = "claude-sonnet-5"): { body: WireObject; lost: string[] } =>
    sent("openai-chat", "anthropic", model, {
      messages: [{ role: "user", content: "q" }],
      response_format: { type: "json_schema", json_schema: { name: "r", schema } },
    });

  test("an output schema is closed, and what Anthropic does not enforce is written in words", () => {
    const { body, lost } = formatFor({
      type: "object",
      properties: {
        age: { type: "integer", minimum: 0, maximum: 150, description: "In years." },
        tags: { type: "array", items: { type: "string", maxLength: 9 }, minItems: 2 },
        kind: { oneOf: [{ const: "a" }, { $ref: "#/$defs/b" }] },
      },
      required: ["age"],
      $defs: { b: { type: "object", properties: { at: { type: "string", format: "date-time" } } } },
    });
    expect(body.output_config).toEqual({
      format: {
        type: "json_schema",
        schema: {
          title: "r",
          type: "object",
          properties: {
            age: { type: "integer", description: "In years.\nminimum: 0, maximum: 150" },
            tags: { type: "array", items: { type: "string", description: "maxLength: 9" }, description: "minItems: 2" },
            kind: { anyOf: [{ const: "a" }, { $ref: "#/$defs/b" }] },
          },
          required: ["age"],
          additionalProperties: false,
          $defs: {
            b: {
              type: "object",
              properties: { at: { type: "string", format: "date-time" } },
              additionalProperties: false,
            },
          },
        },
      },
    });
    expect(lost).toContain("changed_value response_format");
  });

  test("a schema that fits is sent as it is, with the format's name as its title, without a warning", () => {
    const schema = {
      type: "object",
      properties: { a: { type: ["string", "null"] } },
      required: ["a"],
      additionalProperties: false,
    };
    const { body, lost } = formatFor(schema);
    expect(body.output_config).toEqual({ format: { type: "json_schema", schema: { title: "r", ...schema } } });
    expect(lost).toEqual([]);
  });

  test("an open or recursive schema is described in the prompt", () => {
    const node = { type: "object", properties: { next: { $ref: "#/$defs/node" } } };
    for (const schema of [
      { type: "object" },
      { type: "object", properties: { a: { type: "object", additionalProperties: { type: "string" } } } },
      { $ref: "#/$defs/node", $defs: { node } },
      { type: "object", properties: { a: true } },
      { type: "object", properties: { a: { $ref: "https://schemas.example/a.json" } } },
    ]) {
      const { body, lost } = formatFor(schema);
      expect(body).not.toHaveProperty("output_config");
      expect(String(body.system)).toContain(JSON.stringify({ title: "r", ...schema }));
      expect(lost).toEqual(["changed_value response_format"]);
    }
  });

  test("whitespace that a model wrote before its calls is not sent back as text", () => {
    const { body } = sent("openai-chat", "anthropic", "claude-sonnet-5", {
      messages: [
        { role: "user", content: "q" },
        {
          role: "assistant",
          content: "\n\n",
          tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: " " },
      ],
    });
    expect(body.messages).toEqual([
      { role: "user", content: "q" },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "weather", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1" }] },
    ]);
  });

  test("a turn that continues after another vendor's unsigned thoughts has no thinking budget", () => {
    const body = {
      ...question,
      thinking: { type: "enabled", budget_tokens: 1024 },
      tools: [weather],
      messages: [
        { role: "user", content: "q" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "" },
            { type: "tool_use", id: "c1", name: "weather", input: {} },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "sunny" }] },
      ],
    };
    const { body: written, lost } = sent("anthropic", "anthropic", "claude-sonnet-4-5", body);
    expect(written).not.toHaveProperty("thinking");
    expect(lost).toContain("dropped_field reasoning after lost thoughts");
    const signed = JSON.parse(JSON.stringify(body).replace('"signature":""', '"signature":"EqoB"')) as WireObject;
    expect(sent("anthropic", "anthropic", "claude-sonnet-4-5", signed).body.thinking).toEqual(body.thinking);
  });

  test("an effort, a forced tool and disabled thinking are sent in the model generation's form", () => {
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }];
    const ask = (model: string, more: WireObject) =>
      sent("openai-chat", "anthropic", model, { messages: [{ role: "user", content: "q" }], ...more });
    expect(ask("claude-opus-4-6", { reasoning_effort: "xhigh" }).body.output_config).toEqual({ effort: "high" });
    expect(ask("claude-opus-4-6", { reasoning_effort: "xhigh" }).lost).toContain("changed_value reasoning xhigh");
    expect(ask("claude-opus-4-8", { reasoning_effort: "xhigh" }).body.output_config).toEqual({ effort: "xhigh" });
    expect(ask("claude-opus-5-5", { tools, tool_choice: "required" })).toMatchObject({
      body: { tool_choice: { type: "auto" } },
      lost: ["changed_value tool_choice"],
    });
    expect(ask("claude-opus-5", { tools, tool_choice: "required" }).body.tool_choice).toEqual({ type: "any" });
    expect(ask("claude-fable-5", { reasoning_effort: "none" }).body).not.toHaveProperty("thinking");
    expect(ask("claude-haiku-5-5", { reasoning_effort: "none" }).body.thinking).toEqual({ type: "disabled" });
  });
});

describe("blocks that only Anthropic has", () => {
  const words = (value: unknown): string => JSON.stringify(value);

  test("say the same to others: search results, documents in pieces, tools that were found", () => {
    const body = {
      ...question,
      messages: [
        {
          role: "user",
          content: [
            {
              type: "search_result",
              source: "https://notes.example/1",
              title: "Notes",
              content: [{ type: "text", text: "Leap years have 366 days." }],
              citations: { enabled: true },
            },
            {
              type: "document",
              title: "Manual",
              source: { type: "content", content: [{ type: "text", text: "Chapter one." }] },
            },
            { type: "text", text: "q" },
          ],
        },
        {
          role: "assistant",
          content: [{ type: "tool_use", id: "c1", name: "ToolSearch", input: { query: "notebook" } }],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "c1",
              content: [{ type: "tool_reference", tool_name: "NotebookEdit" }],
            },
          ],
        },
      ],
    };
    for (const [to, model] of [
      ["openai-chat", "gpt-5.2"],
      ["openai-responses", "gpt-5.2"],
      ["gemini", "gemini-3.5-flash"],
    ] as const) {
      const { body: written, lost } = sent("anthropic", to, model, body);
      for (const said of [
        "Notes",
        "https://notes.example/1",
        "Leap years have 366 days.",
        "Manual",
        "Chapter one.",
        "NotebookEdit",
      ])
        expect(words(written)).toContain(said);
      expect(lost).toEqual(["dropped_field search_result.citations"]);
    }
    expect(sent("anthropic", "anthropic", "claude-sonnet-5", body).body.messages).toEqual(body.messages);
  });

  test("without text are dropped with a warning, and nothing replaces them", () => {
    const result = {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "strange_block", id: "x" }] }],
    };
    const turn = { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "f", input: {} }] };
    const { body, lost } = sent("anthropic", "openai-chat", "gpt-5.2", {
      ...question,
      messages: [question.messages[0], turn, result],
    });
    expect(objects(body.messages).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect(lost).toContain("dropped_block strange_block");
  });
});

describe("Gemini models", () => {
  const tools = [
    {
      type: "function",
      function: { name: "weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
    },
  ];
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const ask = (model: string, more: WireObject) => {
    const { body, lost } = sent("openai-chat", "gemini", model, {
      messages: [{ role: "user", content: "q" }],
      ...more,
    });
    return { body, lost, config: (body.generationConfig ?? {}) as WireObject };
  };

  test("JSON beside functions is described in the prompt up to 2.5, and a schema from 3 on", () => {
    const more = { tools, response_format: { type: "json_schema", json_schema: { name: "r", schema } } };
    const old = ask("gemini-2.5-flash", more);
    expect(old.config).not.toHaveProperty("responseMimeType");
    expect(JSON.stringify(old.body.systemInstruction)).toContain("JSON schema");
    expect(old.lost).toContain("changed_value response_format");
    expect(ask("gemini-3.5-flash", more).config).toMatchObject({
      responseMimeType: "application/json",
      responseSchema: schema,
    });
    expect(ask("gemini-2.5-flash", { ...more, tools: undefined }).config).toMatchObject({
      responseMimeType: "application/json",
    });
  });

  test("penalties are dropped where they are not enabled", () => {
    expect(ask("gemini-2.5-pro", { frequency_penalty: 0.5, presence_penalty: 0 })).toMatchObject({
      body: { contents: [{}] },
      config: {},
      lost: ["dropped_field frequency_penalty"],
    });
    expect(ask("gemini-2.5-pro", { frequency_penalty: 0.5 }).config).not.toHaveProperty("frequencyPenalty");
    expect(ask("gemini-3.5-flash", { frequency_penalty: 0.5 }).config).not.toHaveProperty("frequencyPenalty");
    expect(ask("gemini-2.0-flash", { frequency_penalty: 0.5 }).config).toMatchObject({ frequencyPenalty: 0.5 });
  });

  test("thinking is requested in the model generation's own form, and not where there is none", () => {
    const thinking = (model: string, effort: string): unknown =>
      ask(model, { reasoning_effort: effort }).config.thinkingConfig;
    expect(thinking("gemini-2.0-flash", "high")).toBeUndefined();
    expect(ask("gemini-2.0-flash", { reasoning_effort: "high" }).lost).toEqual(["dropped_field reasoning"]);
    expect(thinking("gemini-2.5-flash-image", "low")).toBeUndefined();
    expect(thinking("gemini-3-pro-image-preview", "low")).toMatchObject({ thinkingBudget: 1024 });
    expect(thinking("gemini-3.5-flash", "none")).toMatchObject({ thinkingLevel: "MINIMAL" });
    expect(thinking("gemini-3.8-flash", "none")).toMatchObject({ thinkingLevel: "LOW" });
    expect(thinking("gemini-flash-latest", "high")).toMatchObject({ thinkingLevel: "HIGH" });
    const small = { max_tokens: 4000, messages: question.messages, thinking: { type: "enabled", budget_tokens: 100 } };
    expect(sent("anthropic", "gemini", "gemini-2.5-flash-lite", small).body.generationConfig).toMatchObject({
      thinkingConfig: { thinkingBudget: 512 },
    });
  });

  test("counts that Google's SDKs send as strings are numbers for other vendors", () => {
    // @google/genai 3.1: Schema.minItems and the like are strings.
    const parameters = {
      type: "OBJECT",
      properties: { tags: { type: "ARRAY", minItems: "1", maxItems: "3", items: { type: "STRING", maxLength: "9" } } },
    };
    const body = {
      contents: [{ parts: [{ text: "q" }] }],
      tools: [{ functionDeclarations: [{ name: "f", parameters }] }],
    };
    expect(objects(sent("gemini", "openai-chat", "gpt-5.2", body).body.tools)[0]?.function).toMatchObject({
      parameters: {
        type: "object",
        properties: { tags: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", maxLength: 9 } } },
      },
    });
  });

  test("dropped members of a configuration are named", () => {
    const body = {
      contents: [{ parts: [{ text: "q" }] }],
      generationConfig: { mediaResolution: "MEDIA_RESOLUTION_LOW", speechConfig: {} },
      cachedContent: "cachedContents/1",
    };
    expect(sent("gemini", "anthropic", "claude-sonnet-5", body).lost).toEqual(
      expect.arrayContaining([
        "dropped_field generationConfig.mediaResolution",
        "dropped_field generationConfig.speechConfig",
        "dropped_field cachedContent",
      ]),
    );
  });
});

describe("members that OpenAI's two dialects share", () => {
  const cached = { prompt_cache_key: "thread-1", prompt_cache_retention: "24h" };

  test("are translated between them for OpenAI's models, and are a warning elsewhere", () => {
    expect(sent("openai-responses", "openai-chat", "gpt-5.2", { input: "q", ...cached })).toMatchObject({
      body: cached,
      lost: [],
    });
    expect(
      sent("openai-chat", "openai-responses", "gpt-5.2", { messages: question.messages, ...cached }),
    ).toMatchObject({ body: cached, lost: [] });
    for (const [to, model] of [
      ["openai-chat", "deepseek-chat"],
      ["anthropic", "claude-sonnet-5"],
    ] as const) {
      const { body, lost } = sent("openai-responses", to, model, { input: "q", ...cached });
      expect(body).not.toHaveProperty("prompt_cache_key");
      expect(lost).toEqual(["dropped_field prompt_cache_key", "dropped_field prompt_cache_retention"]);
    }
  });

  test("the phase of what an assistant said goes back with its message, even where the body is rewritten", () => {
    // ResponseOutputMessage.phase (`openai` SDK 7.55).
    const input = [
      { role: "user", content: "q" },
      {
        type: "message",
        role: "assistant",
        phase: "commentary",
        content: [{ type: "output_text", text: "I look.", annotations: [] }],
      },
      {
        type: "message",
        role: "assistant",
        phase: "final_answer",
        content: [{ type: "output_text", text: "Found.", annotations: [] }],
      },
      { role: "user", content: "and now?" },
    ];
    const messages = objects(sent("openai-responses", "openai-responses", "gpt-5.3-codex", { input }).body.input);
    expect(messages.map(({ role, phase }) => [role, phase])).toEqual([
      ["user", undefined],
      ["assistant", "commentary"],
      ["assistant", "final_answer"],
      ["user", undefined],
    ]);
  });
});
