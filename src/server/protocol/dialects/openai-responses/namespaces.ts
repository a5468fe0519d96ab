/**
 * Tools that a caller groups under a namespace, as the Codex CLI does with those of MCP servers (types of the `openai`
 * SDK 7.55, NamespaceTool, ResponseFunctionToolCall.namespace; read November 2026). Others know single names: a tool is
 * called namespace__name there, and its calls come back under both.
 */
import type { Block, ChatPrompt, Tool, WireObject } from "../../chat-events";
import { objects, text } from "../shared/json";
import { FREE_FORM } from "../shared/free-form";
import { KEY } from "./items";
import { decodeTool } from "./request-decode";

/** Longest name of a function that every vendor takes. */
const LONGEST = 64;

/** A tool's name where there are no namespaces; a long one ends in a digest. */
function flatName(namespace: string, name: string): string {
  const whole = `${namespace}__${name}`.replace(/[^a-zA-Z0-9_-]/g, "_");
  if (whole.length <= LONGEST) return whole;
  const digest = Bun.hash(whole).toString(36);
  return `${whole.slice(0, LONGEST - digest.length - 1)}_${digest}`;
}

const isNamespace = (tool: WireObject): boolean => tool.type === "namespace";

/** What a caller calls a tool, and whether it takes plain text. */
export interface Declared {
  readonly name: string;
  readonly namespace?: string;
  readonly free: boolean;
}

/** A caller's tools by the names that others know. */
export function declaredTools(request: WireObject | undefined): ReadonlyMap<string, Declared> {
  const names = new Map<string, Declared>();
  for (const tool of objects(request?.tools)) {
    if (!isNamespace(tool)) {
      names.set(text(tool.name), { name: text(tool.name), free: tool.type === FREE_FORM });
      continue;
    }
    const namespace = text(tool.name);
    for (const { name, type } of objects(tool.tools)) {
      names.set(flatName(namespace, text(name)), { name: text(name), namespace, free: type === FREE_FORM });
    }
  }
  return names;
}

function flatTools(tool: Tool): Tool[] {
  if (tool.type !== "server" || !isNamespace(tool.value)) return [tool];
  const namespace = text(tool.value.name);
  return objects(tool.value.tools).map((inner) =>
    decodeTool({ ...inner, name: flatName(namespace, text(inner.name)) }),
  );
}

function flatBlock(block: Block): Block {
  if (block.type !== "tool_call" && block.type !== "tool_result") return block;
  const { namespace, ...rest } = block.extra?.[KEY] ?? {};
  if (typeof namespace !== "string") return block;
  const extra = Object.keys(rest).length > 0 ? { [KEY]: rest } : {};
  return block.type === "tool_call" ? { ...block, name: flatName(namespace, block.name), extra } : { ...block, extra };
}

/** The prompt for a channel of another dialect. */
export function withoutNamespaces(prompt: ChatPrompt): ChatPrompt {
  const { tools } = prompt;
  return {
    ...prompt,
    messages: prompt.messages.map((message) => ({ ...message, content: message.content.map(flatBlock) })),
    ...(tools && { tools: tools.flatMap(flatTools) }),
  };
}
