/**
 * The neutral language of the relay: what a chat call says, whichever dialect spells it. Dialects translate to and from
 * it; nothing here knows a wire format. Usage is the pricing module's: disjoint buckets, undefined = unknown.
 */
import type { Dialect } from "../../shared/channel-types";
import type { Usage } from "../../shared/pricing";
import type { WarningCode } from "../../shared/warning-text";

import type { Terms } from "./call-terms";

export type { Usage } from "../../shared/pricing";

/** Why a model stopped. `failed`: its answer is of no use, and its vendor says so. */
export type Finish = "stop" | "length" | "tool_calls" | "content_filter" | "failed" | "other";

/** An error object of a vendor, read from any dialect. */
export interface WireError {
  message: string;
  type: string;
  code: string;
  param: string | null;
  /** When to come again, where the body says it and not a header. */
  retry_after_s?: number;
  violations?: readonly QuotaViolation[];
  more?: ErrorMembers;
}

/** What vendors of OpenAI's form say besides, and clients read. */
export interface ErrorMembers {
  /** Groq: what the model wrote instead of a valid call (console.groq.com/docs/tool-use, November 2026). */
  readonly failed_generation?: string;
  /** OpenRouter: who failed behind it, and how (openrouter.ai/docs/api-reference/errors, November 2026). */
  readonly metadata?: { readonly provider_name?: string; readonly raw?: string };
}

/** A limit of the vendor's that a call exceeds (google.rpc.QuotaFailure). */
export interface QuotaViolation {
  /** The vendor's name of the limit; Google's programs read from it whether it ends with the day. */
  readonly quotaId: string;
  readonly quotaValue?: string;
}

/** What was lost in a translation; kept in the log row. */
export interface Warning {
  code: string;
  detail: string;
}

/** One event of an answer that arrives in pieces, in order. */
export type ChatEvent =
  | { type: "start"; id: string; model: string }
  | { type: "text" | "reasoning" | "refusal"; choice: number; text: string }
  | { type: "tool_call"; choice: number; index: number; id?: string; name?: string; arguments?: string }
  | { type: "finish"; choice: number; reason: Finish }
  /** `alone`: the frame carries nothing but usage. */
  | { type: "usage"; usage: Usage; alone: boolean }
  | { type: "error"; error: WireError }
  /** The dialect's own last word (OpenAI: [DONE]). */
  | { type: "done" };

/** A whole answer, as far as the relay reads it. */
export interface ChatResult {
  usage?: Usage;
  error?: WireError;
  /** Bytes of generated text, for an estimate when no usage came. */
  content_bytes: number;
}

/** What the relay must know of a request before it is sent on; everything else stays in the body. */
export interface ChatRequest {
  model: string;
  stream: boolean;
  /** The caller wants the usage frame. Meaningful for streams only. */
  include_usage: boolean;
  /** Most output tokens the caller allows over all choices, undefined = no limit named. */
  max_output?: number;
  /** Answers that it wants side by side, where that is more than one. */
  choices?: number;
  /** The body names no model (a default, or the path does): it is put in for the upstream. */
  model_added?: true;
  /** The whole body, for a dialect whose answers repeat parts of it. */
  wire?: WireObject;
  /** How it is priced when it is no conversation. */
  terms?: Terms;
  /** The vendor may work out of sight (hidden-turns.ts). */
  hidden_turns?: true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The whole language: what a translation between two dialects carries. The types above are the part that is read of a
// frame that passes through untouched.

/** The wire dialects of chat. */
export const dialectKeys = ["openai-chat", "openai-responses", "anthropic", "gemini"] as const;
export type DialectKey = (typeof dialectKeys)[number];

/** A JSON object as it came over the wire. */
export type WireObject = Readonly<Record<string, unknown>>;

/** What only one dialect knows, kept under its name: given back to that dialect, a warning for every other. */
export type Extra = Readonly<Partial<Record<DialectKey, WireObject>>>;

/** Takes note of something that a translation loses or changes. */
export type Warn = (code: WarningCode, detail: string) => void;

/** Why something was lost. */
export type { WarningCode };

/**
 * What a vendor signed or encrypted: opaque, and good only where it came from. `kind` is the author's own word for what
 * it signs: a thinking block, a redacted one, the text or the call beside it.
 */
export interface ReasoningSignature {
  readonly from: DialectKey;
  readonly kind: "signature" | "encrypted" | "text" | "call" | "detail";
  readonly data: string;
  /** The author's id of the item, where it has one. */
  readonly id?: string;
}

/** A place where a prompt may be cached, and for how long. */
export interface CacheMark {
  readonly ttl?: "5m" | "30m" | "1h" | "12h";
  /** The mark as its dialect spells it. */
  readonly extra?: Extra;
}

/** Where the bytes of an image, a sound or a file are. `media_type` is an IANA media type; `data` is base64. */
export type Source =
  | { readonly kind: "url"; readonly url: string; readonly media_type?: string }
  | { readonly kind: "data"; readonly media_type: string; readonly data: string }
  | { readonly kind: "text"; readonly text: string; readonly media_type?: string }
  /** An upload that only one vendor has. */
  | { readonly kind: "id"; readonly from: DialectKey; readonly id: string; readonly media_type?: string };

/** Where a text has it from. `raw` is the author's own object. */
export interface Citation {
  readonly url?: string;
  readonly title?: string;
  readonly cited_text?: string;
  /** Offsets into the answer's text, in UTF-16 units; end is exclusive. */
  readonly start?: number;
  readonly end?: number;
  /** A vendor's language that no caller speaks as well. */
  readonly from: Dialect;
  readonly raw: WireObject;
}

interface InBlock {
  readonly cache?: CacheMark;
  readonly extra?: Extra;
}

export interface TextBlock extends InBlock {
  readonly type: "text";
  readonly text: string;
  readonly citations?: readonly Citation[];
}

/** The model declines, in words. */
export interface RefusalBlock extends InBlock {
  readonly type: "refusal";
  readonly text: string;
}

/** Thoughts. Without text it is the signature of the block beside it, or thoughts that may not be read. */
export interface ReasoningBlock extends InBlock {
  readonly type: "reasoning";
  readonly text: string;
  readonly reasoningSignature?: ReasoningSignature;
}

export interface ImageBlock extends InBlock {
  readonly type: "image";
  readonly source: Source;
  readonly detail?: string;
}

export interface AudioBlock extends InBlock {
  readonly type: "audio";
  readonly source: Source;
  readonly transcript?: string;
}

export interface FileBlock extends InBlock {
  readonly type: "file";
  readonly source: Source;
  readonly name?: string;
}

/** `input` is JSON text as the model wrote it; plain text when `custom`. */
export interface ToolCallBlock extends InBlock {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  readonly input: string;
  readonly custom?: boolean;
}

export interface ToolResultBlock extends InBlock {
  readonly type: "tool_result";
  readonly call_id: string;
  readonly name?: string;
  readonly content: readonly Block[];
  readonly error?: boolean;
  readonly custom?: boolean;
}

/** A block that only one dialect knows (server tools and their results). */
export interface OpaqueBlock extends InBlock {
  readonly type: "opaque";
  readonly from: DialectKey;
  readonly value: WireObject;
}

export type Block =
  | TextBlock
  | RefusalBlock
  | ReasoningBlock
  | ImageBlock
  | AudioBlock
  | FileBlock
  | ToolCallBlock
  | ToolResultBlock
  | OpaqueBlock;

/** Tool results are blocks of the user. System and developer may speak in the middle of a conversation. */
export interface Message {
  readonly role: "system" | "developer" | "user" | "assistant";
  readonly content: readonly Block[];
  readonly extra?: Extra;
}

export interface FunctionTool {
  readonly type: "function";
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the input. */
  readonly parameters?: WireObject;
  /** "if_possible": enforced where the schema allows it (Responses, where nothing is said). */
  readonly strict?: boolean | "if_possible";
  readonly cache?: CacheMark;
  readonly extra?: Extra;
}

/** A tool that takes plain text. */
export interface FreeFormTool {
  readonly type: "free_form";
  readonly name: string;
  readonly description?: string;
  readonly format?: WireObject;
  readonly extra?: Extra;
}

/** A tool that the vendor runs itself. */
export interface ServerTool {
  readonly type: "server";
  readonly from: DialectKey;
  readonly value: WireObject;
}

export type Tool = FunctionTool | FreeFormTool | ServerTool;

export interface ToolChoice {
  readonly mode: "auto" | "none" | "required" | "named";
  /** "named": the tool. */
  readonly name?: string;
  /** The tools that may be called; all when undefined. */
  readonly allowed?: readonly string[];
}

export interface JsonSchemaFormat {
  readonly type: "json_schema";
  readonly name?: string;
  readonly description?: string;
  readonly schema: WireObject;
  readonly strict?: boolean;
}

export type OutputFormat = { readonly type: "text" } | { readonly type: "json" } | JsonSchemaFormat;

export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type Effort = (typeof efforts)[number];

/** How much a model may think. `show` false: the caller does not want to read it. */
export interface Reasoning {
  readonly effort?: Effort;
  /** Most tokens of thought. 0 is none at all; -1 is up to the model. */
  readonly budget?: number;
  readonly show?: boolean;
  /** Words of one dialect for the rest. */
  readonly extra?: Extra;
}

/** A chat call, whichever dialect it was written in. */
export interface ChatPrompt {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[];
  readonly tool_choice?: ToolChoice;
  /** False: one tool call at a time. */
  readonly parallel_tools?: boolean;
  readonly format?: OutputFormat;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly top_k?: number;
  readonly seed?: number;
  readonly frequency_penalty?: number;
  readonly presence_penalty?: number;
  readonly choices?: number;
  /** Most tokens of one answer, thoughts included. */
  readonly max_output?: number;
  readonly stop?: readonly string[];
  readonly reasoning?: Reasoning;
  readonly verbosity?: string;
  /** An opaque name of the end user. */
  readonly user?: string;
  readonly metadata?: WireObject;
  /** Marks the end of what was said as cacheable. */
  readonly cache?: CacheMark;
  readonly stream?: boolean;
  readonly include_usage?: boolean;
  readonly extra?: Extra;
}

/** Why an answer ended: our word for logic, the vendor's for the log. */
export interface FinishReason {
  readonly unified: Finish;
  readonly raw: string;
  /** The stop sequence that was met. */
  readonly stop?: string;
}

export interface Choice {
  readonly index: number;
  readonly content: readonly Block[];
  readonly finish?: FinishReason;
  readonly extra?: Extra;
}

/** A whole answer. */
export interface ChatAnswer {
  readonly id: string;
  readonly model: string;
  /** Epoch seconds. */
  readonly created?: number;
  readonly choices: readonly Choice[];
  readonly usage?: Usage;
  readonly extra?: Extra;
}

/** The blocks of an answer that may arrive in pieces. */
export type BlockStart =
  | { readonly kind: "text" | "reasoning" | "refusal" }
  | { readonly kind: "audio"; readonly media_type: string; readonly id?: string }
  | { readonly kind: "tool_call"; readonly id: string; readonly name: string; readonly custom?: boolean }
  /** Comes whole. */
  | { readonly kind: "whole"; readonly block: ImageBlock | FileBlock | OpaqueBlock };

/**
 * A streamed answer. Blocks have a start, pieces and an end; `block` numbers them within their choice, ascending; two
 * blocks may be open at a time. `done` is the dialect's own last word.
 */
export type AnswerEvent =
  | { readonly type: "message_start"; readonly id: string; readonly model: string; readonly created?: number }
  | { readonly type: "block_start"; readonly choice: number; readonly block: number; readonly start: BlockStart }
  /** `text` is a piece of text, of JSON text (tool calls) or of a transcript (audio). */
  | { readonly type: "block_delta"; readonly choice: number; readonly block: number; readonly text: string }
  /** A piece of sound, base64. */
  | { readonly type: "block_data"; readonly choice: number; readonly block: number; readonly data: string }
  | { readonly type: "block_citation"; readonly choice: number; readonly block: number; readonly citation: Citation }
  | {
      readonly type: "block_end";
      readonly choice: number;
      readonly block: number;
      readonly reasoningSignature?: ReasoningSignature;
    }
  | { readonly type: "finish"; readonly choice: number; readonly finish: FinishReason }
  | { readonly type: "usage"; readonly usage: Usage }
  /** What only one dialect says (log probabilities, fingerprints). */
  | { readonly type: "extra"; readonly choice?: number; readonly from: DialectKey; readonly value: WireObject }
  | { readonly type: "ping" }
  | { readonly type: "error"; readonly error: WireError }
  | { readonly type: "done" };
