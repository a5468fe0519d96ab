/** Generated conversations, and the parts of one that must survive a translation. */
import fc from "fast-check";
import type { Block, ChatAnswer, ChatPrompt, Message, Tool } from "../../src/server/protocol/chat-events";

const words = fc.oneof(
  fc.constantFrom("Hello", "你好 🙂", 'a "quote" and a \\', "line\nbreak", "{", "data: x\n\n"),
  fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" }).filter((text) => text.trim() !== ""),
);
const name = fc.constantFrom("get_weather", "search-web", "run", "f1");
const base64 = fc.uint8Array({ minLength: 3, maxLength: 24 }).map((bytes) => Buffer.from(bytes).toString("base64"));
const input = fc
  .dictionary(fc.constantFrom("city", "n", "注"), fc.oneof(words, fc.integer(), fc.boolean()), { maxKeys: 3 })
  .map((value) => JSON.stringify(value));

const textBlock: fc.Arbitrary<Block> = words.map((text) => ({ type: "text", text }));
const imageBlock: fc.Arbitrary<Block> = fc.oneof(
  base64.map((data): Block => ({ type: "image", source: { kind: "data", media_type: "image/png", data } })),
  fc.constant<Block>({ type: "image", source: { kind: "url", url: "https://example.com/a.png" } }),
);
const fileBlock: fc.Arbitrary<Block> = base64.map((data) => ({
  type: "file",
  source: { kind: "data", media_type: "application/pdf", data },
}));

const user = fc.array(fc.oneof({ weight: 4, arbitrary: textBlock }, imageBlock, fileBlock), {
  minLength: 1,
  maxLength: 3,
});

interface Exchange {
  said: string | undefined;
  calls: { name: string; input: string; result: string }[];
}

const exchange: fc.Arbitrary<Exchange> = fc.record({
  said: fc.option(words, { nil: undefined }),
  calls: fc.array(fc.record({ name, input, result: words }), { maxLength: 3 }),
});

function messagesOf(
  system: string | undefined,
  turns: { asked: Block[]; answer: Exchange }[],
  last: Block[],
): Message[] {
  const messages: Message[] =
    system === undefined ? [] : [{ role: "system", content: [{ type: "text", text: system }] }];
  let count = 0;
  for (const { asked, answer } of turns) {
    messages.push({ role: "user", content: asked });
    const ids = answer.calls.map(() => `call_${count++}`);
    const said: Block[] =
      answer.said === undefined && ids.length > 0 ? [] : [{ type: "text", text: answer.said ?? "." }];
    const calls = answer.calls.map(({ name, input }, at): Block => ({
      type: "tool_call",
      id: ids[at] ?? "",
      name,
      input,
    }));
    messages.push({ role: "assistant", content: [...said, ...calls] });
    if (ids.length === 0) continue;
    const results = answer.calls.map(({ result }, at): Block => ({
      type: "tool_result",
      call_id: ids[at] ?? "",
      content: [{ type: "text", text: result }],
    }));
    messages.push({ role: "user", content: results }, { role: "assistant", content: [{ type: "text", text: "So." }] });
  }
  return [...messages, { role: "user", content: last }];
}

const tool: fc.Arbitrary<Tool> = fc.record({ name, description: words }).map(({ name, description }) => ({
  type: "function",
  name,
  description,
  parameters: {
    type: "object",
    properties: { city: { type: "string", description }, n: { type: "integer" } },
    required: ["city"],
  },
}));

/** Conversations that every dialect can express completely. */
export const prompts: fc.Arbitrary<ChatPrompt> = fc
  .record({
    system: fc.option(words, { nil: undefined }),
    turns: fc.array(fc.record({ asked: user, answer: exchange }), { maxLength: 3 }),
    last: user,
    tools: fc.uniqueArray(tool, { minLength: 1, maxLength: 3, selector: (tool) => ("name" in tool ? tool.name : "") }),
    choice: fc.constantFrom("auto" as const, "none" as const, "required" as const, "named" as const),
    temperature: fc.option(fc.constantFrom(0, 0.5, 1), { nil: undefined }),
    max_output: fc.integer({ min: 16, max: 4096 }),
    stream: fc.boolean(),
  })
  .map(({ system, turns, last, tools, choice, ...rest }) => {
    const first = tools[0];
    return {
      model: "m",
      messages: messagesOf(system, turns, last),
      tools,
      tool_choice:
        choice === "named" && first && "name" in first
          ? { mode: choice, name: first.name }
          : { mode: choice === "named" ? "auto" : choice },
      ...rest,
    };
  });

const answerBlocks = fc
  .record({
    thought: fc.option(words, { nil: undefined }),
    said: fc.option(words, { nil: undefined }),
    calls: fc.array(fc.record({ name, input }), { maxLength: 3 }),
  })
  .map(({ thought, said, calls }): Block[] => [
    ...(thought === undefined ? [] : [{ type: "reasoning", text: thought } as const]),
    ...(said === undefined ? [] : [{ type: "text", text: said } as const]),
    ...calls.map((call, at) => ({ type: "tool_call", id: `call_${at}`, ...call }) as const),
  ]);

/** Answers that every dialect can express completely. */
export const answers: fc.Arbitrary<ChatAnswer> = fc
  .record({
    content: answerBlocks,
    cut: fc.boolean(),
    usage: fc.record({
      input: fc.nat(5000),
      output: fc.nat(5000),
      cache_read: fc.integer({ min: 1, max: 5000 }),
      reasoning: fc.integer({ min: 1, max: 5000 }),
    }),
  })
  .map(({ content, cut, usage }) => {
    const called = content.some((block) => block.type === "tool_call");
    const unified = cut ? "length" : called ? "tool_calls" : "stop";
    return { id: "a1", model: "m", choices: [{ index: 0, content, finish: { unified, raw: "" } }], usage } as const;
  });

/**
 * What must be equal: neighbouring texts and turns are one, signatures and spellings of the same thing are left out.
 */
export function essence(blocks: readonly Block[]): unknown[] {
  const found: Record<string, unknown>[] = [];
  for (const block of blocks) {
    const last = found.at(-1);
    if (block.type === "text" || block.type === "refusal") {
      if (last?.type === "text") last.text = String(last.text) + block.text;
      else if (block.text !== "") found.push({ type: "text", text: block.text });
    } else if (block.type === "reasoning") {
      if (block.text === "") continue;
      if (last?.type === "reasoning") last.text = String(last.text) + block.text;
      else found.push({ type: "reasoning", text: block.text });
    } else if (block.type === "tool_call") {
      found.push({ type: "tool_call", id: block.id, name: block.name, input: JSON.parse(block.input || "{}") });
    } else if (block.type === "tool_result") {
      found.push({
        type: "tool_result",
        call_id: block.call_id,
        content: essence(block.content),
        error: block.error === true,
      });
    } else if (block.type === "image") {
      found.push({ type: "image", source: block.source.kind === "url" ? block.source.url : block.source });
    } else if (block.type === "file") {
      found.push({ type: "file", source: block.source });
    } else found.push({ ...block });
  }
  return found;
}

/** The conversation as turns of alternating roles. */
export function essenceOf(prompt: ChatPrompt): unknown {
  const turns: { role: string; blocks: Block[] }[] = [];
  for (const { role, content } of prompt.messages) {
    const plain = role === "developer" ? "system" : role;
    const last = turns.at(-1);
    if (last?.role === plain) last.blocks.push(...content);
    else turns.push({ role: plain, blocks: [...content] });
  }
  const { tools = [], tool_choice, temperature, max_output } = prompt;
  return {
    turns: turns.map(({ role, blocks }) => ({ role, blocks: essence(blocks) })),
    tools: tools.map((tool) => (tool.type === "function" ? [tool.name, tool.description, tool.parameters] : tool)),
    tool_choice,
    temperature,
    max_output,
  };
}
