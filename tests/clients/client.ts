/** What the certification knows of a client, whatever it is made of. */
import type { Fate } from "./vendors/server";

/** The dialect that a client speaks. */
export type Door = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** Where a client is pointed, and with what. */
export interface Target {
  /** Without a path. */
  readonly url: string;
  readonly key: string;
  readonly model: string;
  /** The folder with the notes, an empty home beside it for what a client writes. */
  readonly folder: string;
  readonly home: string;
  readonly prompt: string;
}

/** How a run ended. */
export interface Outcome {
  readonly ended: "answered" | "failed" | "too late";
  /** The last text, or what the client says of the failure. */
  readonly says: string;
}

export interface Client {
  readonly name: string;
  readonly version: string;
  readonly kind: "cli" | "sdk";
  /** Where it is installed from; "project": it is a dependency of the project. */
  readonly from: "npm" | "pip" | "project";
  readonly door: Door;
  /** The model it asks for, and those it asks for besides. */
  readonly models: readonly [string, ...string[]];
  /** It tries no more once it is told that trying is in vain (x-should-retry): what it asks is counted, not only what
   * reaches the upstream. */
  readonly obeys: boolean;
  /** The scenarios that it is tried in. */
  readonly fates: readonly Fate[];
  /** What it must say when the conversation is too long: how an agent knows that it has to compact. */
  readonly tooLong: RegExp;
  /** Why it cannot run here; undefined: it can. */
  readonly missing: () => string | undefined;
  readonly run: (target: Target) => Promise<Outcome>;
}

/** The models that a client of each dialect asks for. */
export const NATURAL_MODELS: Readonly<Record<Door, string>> = {
  "openai-chat": "gpt-5.1",
  "openai-responses": "gpt-5.5",
  anthropic: "claude-opus-4-6",
  gemini: "gemini-3-pro-preview",
};

/** How each dialect says that a conversation is too long. */
export const TOO_LONG: Readonly<Record<Door, RegExp>> = {
  "openai-chat": /context_length_exceeded/,
  "openai-responses": /context_length_exceeded/,
  anthropic: /prompt is too long/i,
  gemini: /exceeds the maximum number of tokens/i,
};
