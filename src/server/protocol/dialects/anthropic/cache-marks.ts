/**
 * Cache marks for a conversation whose caller cannot set them: Anthropic caches nothing without
 * (platform.claude.com/docs/en/build-with-claude/prompt-caching: four marks at most, none on empty texts, a hit is
 * looked for in the 20 blocks before a mark, too short a prefix is no error; writing costs 1.25 times the input,
 * reading 0.1 times; read 22 November 2026). Marks on blocks, and not the one at the top of a body, because every
 * cloud takes those.
 */
import type { Block, CacheMark, ChatPrompt, Message } from "../../chat-events";

/** Five minutes from the last use, which is the cheaper write. */
const MARK: CacheMark = {};

/** Turns of the user that are marked: this one, and the one before, where the turn before has written. */
const MARKED_TURNS = 2;

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

const canBeMarked = (block: Block): boolean =>
  block.type === "text" ? block.text !== "" : ["image", "file", "tool_result"].includes(block.type);

const isMarked = (block: Block): boolean =>
  block.cache !== undefined || (block.type === "tool_result" && block.content.some(isMarked));

/** Whether the caller has marks of its own: then it knows better. */
const hasMarks = ({ messages, tools = [], cache }: ChatPrompt): boolean =>
  cache !== undefined ||
  messages.some(({ content }) => content.some(isMarked)) ||
  tools.some((tool) => tool.type === "function" && tool.cache !== undefined);

function marked(message: Message): Message {
  const last = message.content.findLastIndex(canBeMarked);
  return {
    ...message,
    content: message.content.map((block, index) => (index === last ? { ...block, cache: MARK } : block)),
  };
}

/** The places of messages that get a mark: the last of the system, and the last turns of the user. */
function placesOf(messages: readonly Message[]): { system: number; turns: ReadonlySet<number> } {
  const ends = messages.flatMap((message, index) => (message.content.some(canBeMarked) ? [index] : []));
  const first = messages.findIndex((message) => !isSystem(message));
  const system = ends.findLast((index) => index < (first < 0 ? messages.length : first)) ?? -1;
  const turns = ends.filter((index) => messages[index]?.role === "user").slice(-MARKED_TURNS);
  return { system, turns: new Set(turns) };
}

/** The prompt with marks; the same prompt where the caller has its own. */
export function withCacheMarks(prompt: ChatPrompt): ChatPrompt {
  if (hasMarks(prompt)) return prompt;
  const { messages, tools } = prompt;
  const { system, turns } = placesOf(messages);
  // Tools stand before the system: its mark is theirs too.
  const lastTool = system < 0 ? (tools?.findLastIndex(({ type }) => type === "function") ?? -1) : -1;
  return {
    ...prompt,
    messages: messages.map((message, index) => (index === system || turns.has(index) ? marked(message) : message)),
    ...(tools && {
      tools: tools.map((tool, index) =>
        index === lastTool && tool.type === "function" ? { ...tool, cache: MARK } : tool,
      ),
    }),
  };
}
