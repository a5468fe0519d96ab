/** What an operation asks of a request body. One small file per operation. */
import type { Operation as OperationKey } from "../../../shared/channel-types";
import { fail } from "../../../shared/errors";
import type { JsonObject } from "../../lib/json-bytes";
import type { ChatRequest, DialectKey, Usage } from "../../protocol/chat-events";
import type { Form } from "../../lib/request-body/multipart-form";

export interface Operation {
  readonly key: OperationKey;
  /** Whether answers can be streamed. */
  readonly streams: boolean;
  /** Throws model_missing and invalid_request. */
  read(body: JsonObject): ChatRequest;
  /** The operation under which channels declare that they take such a call as it is, and the dialect of it. */
  readonly native?: { readonly operation: OperationKey; readonly dialect: DialectKey };
  /** What its calls may refer to: files, or earlier answers as well (stored/thread.ts). */
  readonly refers?: "files" | "responses";
  /** For what is no conversation. */
  readonly direct?: UntranslatedRules;
  /** For callers that do not ask for it in OpenAI's words. */
  readonly adapter?: RequestAdapter;
}

/** An operation in a caller's own words, made of OpenAI's. */
export interface RequestAdapter {
  /** Throws invalid_request. */
  toOpenAi(body: JsonObject): JsonObject;
  /** OpenAI's body without what only a vendor of the caller's kind understands. */
  withoutHints(body: JsonObject): JsonObject;
  fromOpenAi(answer: JsonObject): JsonObject;
}

/** The model's name. */
export function readModel(body: JsonObject): string {
  const { model } = body;
  if (model === undefined || model === null || model === "") fail("model_missing");
  if (typeof model !== "string") fail("invalid_request", { detail: "model" });
  return model;
}

/** Throws text_too_long: what is not stored whole is not stored, and no model has such a name. */
export function checkLength(name: string, text: string, max: number): void {
  if (text.length > max) fail("text_too_long", { name, max });
}

/** A boolean member; absent and null are false. */
export function readFlag(body: JsonObject, name: string): boolean {
  const value = body[name];
  if (value === undefined || value === null) return false;
  if (typeof value !== "boolean") fail("invalid_request", { detail: name });
  return value;
}

/** A whole number >= 0; absent and null are undefined. */
export function readCount(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) fail("invalid_request", { detail: name });
  return value;
}

/** A text; absent, null and "" are undefined. */
export function readText(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") fail("invalid_request", { detail: name });
  return value;
}

/**
 * The model's name, or the operation's own when the body names none: `model_added` then says that it must be put in.
 */
export function readModelOr(body: JsonObject, otherwise: string): { model: string; model_added?: true } {
  const { model } = body;
  return model === undefined || model === null || model === ""
    ? { model: otherwise, model_added: true }
    : { model: readModel(body) };
}

/** What the relay must know of an operation that no dialect translates. */
export interface UntranslatedRules {
  /** Whether a body may be JSON. */
  readonly json: boolean;
  /** Reads a multipart form; absent: it may not be one. */
  readForm?(form: Form): ChatRequest | Promise<ChatRequest>;
  /** The form as the body of OpenAI's JSON call, for vendors that take no forms; absent: there is no such call. */
  inJson?(form: Form): Promise<JsonObject>;
  /** Where a vendor's path for the operation ends, and how it ends for this one (images: /generations -> /edits). */
  readonly path?: readonly [ordinary: string, own: string];
  /** Answers need not be JSON: sound, or text in the format that was asked for. */
  readonly plain: "audio" | "text" | "never";
  /** Whether a JSON body is an answer of this operation. */
  isAnswer(body: JsonObject): boolean;
  /** Bytes of generated text in an answer; absent: what it makes is no text, or is priced by the request. */
  contentBytes?(body: JsonObject): number;
  /** The usage of an answer, or of an object { usage } that stood in a stream; undefined when it names none. */
  usageOf(body: JsonObject): Usage | undefined;
}
