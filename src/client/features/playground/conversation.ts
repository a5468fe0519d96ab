/** Conversations of the playground as values: what they hold, how they grow, and what of them a call carries. */
import { randomId } from "../../lib/random-id";

/**
 * `loading`: sent, nothing came yet. `incomplete`: text is coming, or it was stopped or cut. `error` marks the answer
 * whose call failed, before or within the stream.
 */
export type AnswerState = "loading" | "incomplete" | "complete" | "error";

export interface ToolCall {
  name: string;
  /** JSON as the model wrote it, perhaps unfinished. */
  arguments: string;
}

/** One model's answer to a turn. */
export interface Answer {
  id: string;
  model: string;
  state: AnswerState;
  text: string;
  reasoning: string;
  tools: ToolCall[];
  /** Of state `error`; `status` 0 when no answer came or it broke inside the stream. */
  error?: { status: number; message: string };
  request_id?: string;
  /** Milliseconds from sending to the first content, and to the end. */
  ttft?: number;
  duration?: number;
  /** From the log row, once it is there. */
  bill?: { log_id: number; prompt_tokens: number; completion_tokens: number; quota: number };
}

/** What the user said, and each compared model's answer to it. */
export interface Turn {
  id: string;
  text: string;
  /** data: URLs. */
  images: string[];
  answers: Answer[];
}

export interface Conversation {
  id: string;
  /** Epoch milliseconds. */
  updated: number;
  turns: Turn[];
}

export type ChatContent =
  | string
  | ({ type: "text"; text: string } | { type: "image_url"; image_url: { url: string } })[];

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: ChatContent;
}

export const newConversation = (): Conversation => ({ id: randomId(), updated: Date.now(), turns: [] });

export const newAnswer = (model: string): Answer => ({
  id: randomId(),
  model,
  state: "loading",
  text: "",
  reasoning: "",
  tools: [],
});

export const newTurn = (text: string, images: string[], models: readonly string[]): Turn => ({
  id: randomId(),
  text,
  images,
  answers: models.map(newAnswer),
});

/** What a list calls it: the beginning of what was asked first. */
export const titleOf = ({ turns }: Conversation): string =>
  turns[0]?.text.trim().replace(/\s+/g, " ").slice(0, 40) ?? "";

const userContent = ({ text, images }: Turn): ChatContent =>
  images.length === 0
    ? text
    : [
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...images.map((url) => ({ type: "image_url" as const, image_url: { url } })),
      ];

/**
 * The messages of a call for the last of `turns`: the system prompt, and every turn with the answer that stands in the
 * same lane (the first one where fewer models were compared). Answers without text are left out.
 */
export function messagesFor(turns: readonly Turn[], lane: number, system: string): ChatMessage[] {
  const messages: ChatMessage[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  for (const [index, turn] of turns.entries()) {
    messages.push({ role: "user", content: userContent(turn) });
    if (index === turns.length - 1) break;
    const answer = turn.answers[lane] ?? turn.answers[0];
    if (answer && answer.text !== "") messages.push({ role: "assistant", content: answer.text });
  }
  return messages;
}

/** The turns before `turnId`; all of them when it is not there. */
export function turnsBefore({ turns }: Conversation, turnId: string): Turn[] {
  const at = turns.findIndex((turn) => turn.id === turnId);
  return at < 0 ? turns : turns.slice(0, at);
}

/** A conversation of its own that shares the turns up to and including `turnId`. */
export function branchAt(conversation: Conversation, turnId: string): Conversation {
  const at = conversation.turns.findIndex((turn) => turn.id === turnId);
  return { ...newConversation(), turns: conversation.turns.slice(0, at + 1) };
}

/** With one answer changed, wherever it is. */
export function withAnswer(
  conversation: Conversation,
  answerId: string,
  change: (answer: Answer) => Answer,
): Conversation {
  if (!conversation.turns.some((turn) => turn.answers.some((answer) => answer.id === answerId))) return conversation;
  const turns = conversation.turns.map((turn) =>
    turn.answers.some((answer) => answer.id === answerId)
      ? { ...turn, answers: turn.answers.map((answer) => (answer.id === answerId ? change(answer) : answer)) }
      : turn,
  );
  return { ...conversation, turns };
}
