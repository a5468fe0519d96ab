/** Conversations for vendors that know one system text, at the front, and want user and assistant to take turns. */
import type { Block, Message, ToolCallBlock, ToolResultBlock, Warn } from "../../chat-events";

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

/**
 * One system message at most, first; then user and assistant by turns. What the system says later is said by the user,
 * and neighbours of one role are one message.
 */
export function alternate(messages: readonly Message[], warn: Warn): Message[] {
  const turns: Message[] = [];
  for (const message of messages) {
    const late = isSystem(message) && turns.some((turn) => turn.role !== "system");
    if (late) warn("changed_value", "system message in the middle");
    const role = late ? "user" : isSystem(message) ? "system" : message.role;
    const last = turns.at(-1);
    if (last?.role !== role) turns.push({ ...message, role });
    else turns[turns.length - 1] = { ...last, ...message, role, content: [...last.content, ...message.content] };
  }
  return turns;
}

const isEmpty = (block: Block): boolean =>
  block.type === "text" && block.text === "" && !block.extra && !block.cache && !block.citations;

/** Whether two messages are one turn. What only one dialect says of a message belongs to that message alone. */
const areOneTurn = (last: Message | undefined, next: Message): last is Message =>
  last?.role === next.role && !isSystem(next) && !last.extra && !next.extra;

/**
 * Neighbours of user or assistant as one message each: some programs keep one message for each piece of a stream
 * (@google/genai 3.1, Chat), while most vendors want a turn whole, and results right after their calls.
 */
function joined(messages: readonly Message[]): Message[] {
  const turns: Message[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (!areOneTurn(last, message)) {
      turns.push(message);
      continue;
    }
    const content = [...last.content, ...message.content];
    const said = content.filter((block) => !isEmpty(block));
    turns[turns.length - 1] = { ...last, content: said.length > 0 ? said : content.slice(0, 1) };
  }
  return turns;
}

const isResult = (block: Block): block is ToolResultBlock => block.type === "tool_result";

/** Results that come later than in the message after their calls stand there; an empty message is left out. */
function resultsAfterCalls(turns: readonly Message[], warn: Warn): readonly Message[] {
  const due = new Map<string, number>();
  for (const [index, { role, content }] of turns.entries())
    if (role === "assistant") for (const block of content) if (block.type === "tool_call") due.set(block.id, index);
  if (due.size === 0) return turns;
  const late = new Map<number, ToolResultBlock[]>();
  const rest = turns.map((message, index) => {
    if (message.role === "assistant") return message;
    const content = message.content.filter((block) => {
      const call = isResult(block) ? due.get(block.call_id) : undefined;
      if (!isResult(block) || call === undefined || index <= call + 1) return true;
      late.set(call, [...(late.get(call) ?? []), block]);
      return false;
    });
    return content.length === message.content.length ? message : { ...message, content };
  });
  if (late.size === 0) return turns;
  warn("changed_order", "tool_result");
  return rest.flatMap((message, index): Message[] => {
    const results = late.get(index);
    const kept = message.content.length > 0 || turns[index]?.content.length === 0 ? [message] : [];
    return results ? [...kept, { role: "user", content: results }] : kept;
  });
}

/** A conversation for a vendor of another dialect: whole turns, and every result right after its call. */
export const wholeTurns = (messages: readonly Message[], warn: Warn): readonly Message[] => {
  const turns = joined(messages);
  const ordered = resultsAfterCalls(turns, warn);
  return ordered === turns ? turns : joined(ordered);
};

/** The words of blocks, a blank line between them; a warning for each block that is none. */
function wordsOf(blocks: readonly Block[], warn: Warn): string {
  const words: string[] = [];
  for (const block of blocks) {
    if (block.type !== "text" && block.type !== "refusal") warn("dropped_block", block.type);
    else if (block.text !== "") words.push(block.text);
  }
  return words.join("\n\n");
}

/**
 * One message of a vendor that knows functions but no parallel calls: the assistant asks for one, a function answers.
 */
export type PlainTurn =
  | { readonly role: "user" | "assistant"; readonly text: string; readonly call?: ToolCallBlock }
  | { readonly role: "function"; readonly text: string; readonly name: string };

/**
 * A conversation as words: calls of one turn are asked and answered one after the other. `functions` false: the vendor
 * knows no functions, so their results are words of the user and the calls are lost.
 */
export function plainTurns(
  messages: readonly Message[],
  functions: boolean,
  warn: Warn,
): { system: string; turns: PlainTurn[] } {
  let system = "";
  const turns: PlainTurn[] = [];
  const results = new Map<string, ToolResultBlock>();
  const asked = new Set<string>();
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type === "tool_result") results.set(block.call_id, block);
      else if (block.type === "tool_call") asked.add(block.id);
    }
  }
  for (const { role, content } of alternate(messages, warn)) {
    if (role === "system") {
      system = wordsOf(content, warn);
      continue;
    }
    const calls = content.filter((block) => block.type === "tool_call");
    const rest = content.filter(
      (block) => block.type !== "tool_call" && block.type !== "tool_result" && block.type !== "reasoning",
    );
    if (functions && calls.length > 0) {
      let text = wordsOf(rest, warn);
      for (const call of calls) {
        turns.push({ role: "assistant", text, call });
        text = "";
        turns.push({ role: "function", name: call.name, text: resultWords(results.get(call.id), warn) });
      }
      continue;
    }
    // Results that no call of the conversation asked for, or that this vendor has no place for.
    const loose = content.flatMap((block) =>
      block.type === "tool_result" && !(functions && asked.has(block.call_id)) ? [resultWords(block, warn)] : [],
    );
    push(
      turns,
      role === "assistant" ? "assistant" : "user",
      [...loose, wordsOf(rest, warn)].filter(Boolean).join("\n\n"),
    );
  }
  return { system, turns };
}

function push(turns: PlainTurn[], role: "user" | "assistant", text: string): void {
  const last = turns.at(-1);
  if (text === "") return;
  if (last && (last.role === role || (last.role === "function" && role === "user")) && !("call" in last)) {
    // What the user adds to a result has no turn of its own.
    turns[turns.length - 1] = { ...last, text: [last.text, text].filter(Boolean).join("\n\n") };
  } else turns.push({ role, text });
}

function resultWords(result: ToolResultBlock | undefined, warn: Warn): string {
  return result ? wordsOf(result.content, warn) : "";
}
