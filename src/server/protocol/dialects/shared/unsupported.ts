/**
 * Warnings of what a dialect has no word for, generated from its table (support.ts), so that nothing gets lost in
 * silence.
 */
import type { Block, ChatAnswer, ChatPrompt, Extra, ServerTool, Tool, Warn, WireObject } from "../../chat-events";
import { isObject } from "./json";
import type { AnswerSupport, Param, RequestSupport } from "./support";

/** Values that ask for nothing: a call without the member means the same. */
const idleValues: Readonly<Record<string, readonly unknown[]>> = {
  choices: [1],
  parallel_tools: [true],
  frequency_penalty: [0],
  presence_penalty: [0],
  show: [true],
  strict: [false, "if_possible"],
  error: [false],
  custom: [false],
  detail: ["auto"],
  // A citation without a place in the text.
  start: [0],
  end: [0],
};

function isIdle(name: string, value: unknown): boolean {
  if (value === undefined || idleValues[name]?.includes(value)) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (name === "format") return isObject(value) && value.type === "text";
  // The mark of thoughts that came without a signature.
  if (name === "reasoningSignature") return isObject(value) && value.data === "";
  return name === "metadata" && isObject(value) && Object.keys(value).length === 0;
}

const none: ReadonlySet<string> = new Set();

type Table = "sent" | "unsupported" | Readonly<Record<string, unknown>>;

/** A warning for each member of `value` that the table calls unsupported; `where` names the place in the log. */
export function warnMembers(value: object, table: Table, where: string, warn: Warn): void {
  if (typeof table === "string") return;
  for (const name in table) {
    if (table[name] !== "unsupported") continue;
    const member: unknown = Reflect.get(value, name);
    if (name === "extra") {
      if (isObject(member)) takeExtra(member, none, where, warn);
    } else if (!isIdle(name, member)) warn("dropped_field", `${where}.${name}`);
  }
}

/** The log's name of a tool that the vendor would run itself. */
const serverToolName = ({ from, value }: ServerTool): string =>
  String(value.type ?? value.name ?? Object.keys(value)[0] ?? from);

function warnTools(tools: readonly Tool[], support: RequestSupport["tools"], warn: Warn): void {
  if (typeof support === "string") return;
  for (const tool of tools) {
    const own = support[tool.type];
    if (own !== "unsupported") warnMembers(tool, own, "tools", warn);
    else warn("dropped_tool", tool.type === "server" ? serverToolName(tool) : tool.name);
  }
}

type Blocks = { readonly [Type in Block["type"]]?: Table };

function warnBlocks(blocks: readonly Block[], support: Blocks, warn: Warn): void {
  for (const block of blocks) {
    const own = support[block.type];
    if (own === undefined) continue;
    if (own !== "unsupported") {
      warnMembers(block, own, block.type, warn);
      if (block.type === "tool_result") warnBlocks(block.content, support, warn);
    } else if (block.type === "reasoning") warn("dropped_reasoning", block.reasoningSignature?.from ?? "unsigned");
    else warn("dropped_block", blockName(block));
  }
}

/** A warning for each member of a prompt, however deep, that the dialect has no word for. */
export function warnUnsupported(prompt: ChatPrompt, support: RequestSupport, warn: Warn): void {
  for (const name of Object.keys(support) as Param[]) {
    const value = prompt[name];
    if (support[name] === "unsupported" && !isIdle(name, value)) {
      if (name === "extra") takeExtra(prompt.extra, none, "", warn);
      else warn("dropped_field", name);
    }
  }
  const { messages, tools = [], tool_choice, format, reasoning, cache } = prompt;
  for (const message of messages) {
    warnMembers(message, support.messages, "messages", warn);
    warnBlocks(message.content, support.messages.content, warn);
  }
  warnTools(tools, support.tools, warn);
  if (tool_choice) warnMembers(tool_choice, support.tool_choice, "tool_choice", warn);
  if (format && typeof support.format !== "string") {
    const own = support.format[format.type];
    if (own === "unsupported") warn("dropped_field", "format");
    else warnMembers(format, own, "format", warn);
  }
  if (reasoning) warnMembers(reasoning, support.reasoning, "reasoning", warn);
  if (cache) warnMembers(cache, support.cache, "cache", warn);
}

/** A warning for each member of a whole answer that the caller's dialect has no word for. */
export function warnUnsupportedAnswer(answer: ChatAnswer, support: AnswerSupport, warn: Warn): void {
  const { choices, usage, extra } = answer;
  const { several, content, finish } = support.choices;
  const [first] = choices;
  if (several === "unsupported" && choices.length > 1) warn("dropped_field", "choices");
  for (const choice of several === "unsupported" && first ? [first] : choices) {
    warnBlocks(choice.content, content, warn);
    if (choice.finish) warnMembers(choice.finish, finish, "finish", warn);
    if (support.choices.extra === "unsupported") takeExtra(choice.extra, none, "choices", warn);
  }
  if (support.extra === "unsupported") takeExtra(extra, none, "", warn);
  if (usage) warnMembers(usage, support.usage, "usage", warn);
}

/**
 * The members of a caller's extras that are the vendor's own words (whatever dialect the caller speaks, it knows which
 * vendor it speaks to); a warning for the rest. `where` names the place in the log.
 */
export function takeExtra(extra: Extra | undefined, words: ReadonlySet<string>, where: string, warn: Warn): WireObject {
  const taken: Record<string, unknown> = {};
  for (const members of Object.values(extra ?? {})) {
    for (const [key, value] of Object.entries(members ?? {})) {
      if (words.has(key)) taken[key] = value;
      else warn("dropped_field", where === "" ? key : `${where}.${key}`);
    }
  }
  return taken;
}

/** A block's name in a warning. */
export const blockName = (block: Block): string =>
  block.type === "opaque" ? String(block.value.type ?? block.from) : block.type;

/** The texts of blocks, joined; a warning for every block that is none. Refusals are texts. */
export function textOfBlocks(blocks: readonly Block[], warn: Warn): string {
  const texts: string[] = [];
  for (const block of blocks) {
    if (block.type === "text" || block.type === "refusal") texts.push(block.text);
    else if (block.type === "file" && block.source.kind === "text") texts.push(block.source.text);
    else if (block.type === "reasoning") warn("dropped_reasoning", block.reasoningSignature?.from ?? "unsigned");
    else warn("dropped_block", blockName(block));
  }
  return texts.join("");
}
