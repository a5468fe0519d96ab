/** What the server of the strict vendors needs to know of a dialect. */
import type { Json } from "../../kit/fake-upstream/answer";
import type { Dialect, ErrorAnswer, Frame } from "../../kit/fake-upstream/dialects/dialect";
import type { Rule } from "./rule";

/** What a request says about the conversation so far. */
export interface Conversation {
  /** Names of the declared functions. */
  tools: string[];
  /** How many calls the model has made. */
  calls: number;
  /** Texts of tool results. */
  results: string[];
  /** Signatures and encrypted thoughts that came back. */
  thoughts: string[];
  /** The answer shows thoughts. */
  thinks: boolean;
  /** The answer carries a signature or encrypted thoughts. */
  signs: boolean;
}

export interface Vendor {
  readonly dialect: Dialect;
  readonly rules: readonly Rule[];
  readonly read: (request: Json) => Conversation;
  /** The answer to a conversation longer than the model's context. */
  readonly tooLong: ErrorAnswer;
  /** The same where a stream is asked for, if that is told in events. */
  readonly tooLongEvents?: (request: Json) => Frame[];
  readonly unknownModel: (model: string) => ErrorAnswer;
  readonly overloaded: ErrorAnswer;
  /** Writes a refusal by a rule. */
  readonly refusal: (rule: Rule, message: string) => ErrorAnswer;
}

/** Texts anywhere below a value under a member of this name. */
export function membersNamed(value: unknown, name: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => membersNamed(item, name));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === name && typeof member === "string" ? [member] : membersNamed(member, name),
  );
}
