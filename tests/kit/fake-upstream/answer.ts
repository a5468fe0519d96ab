/** The content of the fake model's answer, independent of any dialect. */
import type { Behaviour, FakeUsage } from "./behaviours";

export type Json = Record<string, unknown>;

/** The value when it is a JSON object, else an empty one. */
export function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The value when it is an array, else an empty one. */
export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export interface ToolCall {
  id: string;
  name: string;
  /** JSON text of the arguments, in the fragments it is streamed in. */
  fragments: string[];
}

export interface Answer {
  /** Letters and digits, unique per request unless the answer was prepared. */
  id: string;
  model: string;
  /** Epoch seconds. */
  created: number;
  reasoning: string[];
  /** Gemini: the first call carries a signature though no thoughts are shown; undefined: with shown thoughts only. */
  signed?: boolean;
  text: string[];
  refusal: string[];
  tools: ToolCall[];
  finish: "stop" | "length" | "content_filter" | "tool";
  choices: number;
  /** Undefined: the answer reports no usage. */
  usage?: FakeUsage;
  behaviour: Behaviour;
}

/** What the dialect found in the request. */
export interface Prompt {
  /** Text of the last user turn. */
  lastUserText: string;
  toolNames: string[];
}

const FILLER = "the quick brown fox jumps over the lazy dog ";

function pieces(behaviour: Behaviour, prompt: Prompt): string[] {
  if (behaviour.bigFrame > 0) return ["x".repeat(behaviour.bigFrame)];
  switch (behaviour.text.kind) {
    case "none":
      return [];
    case "json":
      return ['{"answer":', "42", ',"unit":"', "度", '"}'];
    case "words": {
      return Array.from({ length: behaviour.text.count }, (_, i) => (i === 0 ? "word1" : ` word${i + 1}`));
    }
    case "bytes": {
      const { count } = behaviour.text;
      const whole = FILLER.repeat(Math.ceil(count / FILLER.length)).slice(0, count);
      const size = count >= 1048576 ? 16384 : 50;
      return Array.from({ length: Math.ceil(count / size) }, (_, i) => whole.slice(i * size, (i + 1) * size));
    }
    case "echo":
      // Code points, so that no fragment holds half a character.
      return (prompt.lastUserText || "Hello from the fake upstream.").match(/\s*\S{1,12}|\s+$/gu) ?? [];
  }
}

function tools(behaviour: Behaviour, prompt: Prompt, id: string): ToolCall[] {
  if (behaviour.tools === "none") return [];
  const [first = "get_weather", second = first] = prompt.toolNames;
  if (behaviour.tools === "whole")
    return [{ id: `${id}a`, name: first, fragments: ['{"city":"Paris","unit":"celsius"}'] }];
  return [
    { id: `${id}a`, name: first, fragments: ["", '{"ci', 'ty":"', "巴", '黎","un', 'it":"celsius"}'] },
    { id: `${id}b`, name: second, fragments: ["", '{"city"', ':"Tok', 'yo \\"East\\""', "}"] },
  ];
}

/** Composes the answer to a prompt. */
export function compose(behaviour: Behaviour, prompt: Prompt, model: string, id: string): Answer {
  const calls = tools(behaviour, prompt, id);
  return {
    id,
    model,
    created: Math.floor(Date.now() / 1000),
    reasoning: behaviour.reasoning ? ["Let me ", "think ", "about this."] : [],
    text: pieces(behaviour, prompt),
    refusal: behaviour.refusal ? ["I'm sorry, ", "I can't ", "help with that."] : [],
    tools: calls,
    finish: calls.length > 0 ? "tool" : behaviour.finish,
    choices: behaviour.choices,
    usage: behaviour.usageMode === "none" ? undefined : behaviour.usage,
    behaviour,
  };
}
