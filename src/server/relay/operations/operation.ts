/** What an operation reads of a request body. One small file per operation. */
import type { Operation as OperationKey } from "../../../shared/channel-types";
import { fail } from "../../../shared/errors";
import type { JsonObject } from "../../lib/json-bytes";
import type { ChatRequest, DialectKey, Usage } from "../../protocol/chat-events";
import type { Form } from "../../lib/request-body/multipart-form";

export interface Operation {
  readonly key: OperationKey;
  /** Whether responses can be streamed. */
  readonly streams: boolean;
  /** Throws model_missing and invalid_request. */
  read(body: JsonObject): ChatRequest;
  /** The operation by which channels declare that they pass such a call through, and its dialect. */
  readonly native?: { readonly operation: OperationKey; readonly dialect: DialectKey };
  /** This call declares tools: some models take those in one of their vendor's dialects only. */
  readonly tools?: true;
  /** What its calls may refer to: files, or earlier answers as well (endpoints/stored/conversation.ts). */
  readonly refers?: "files" | "responses";
  /** For operations that are not conversations. */
  readonly direct?: UntranslatedRules;
  /** For callers whose format is not OpenAI's. */
  readonly adapter?: RequestAdapter;
}

/** An operation in a caller's own format, converted to and from OpenAI's. */
export interface RequestAdapter {
  /** Throws invalid_request. */
  toOpenAi(body: JsonObject): JsonObject;
  /** OpenAI's body without the members that only a vendor of the caller's kind knows. */
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

/** Throws text_too_long: a longer name could not be stored whole, and no model has one. */
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

/** An integer >= 0; absent and null are undefined. */
export function readCount(body: JsonObject, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) fail("invalid_request", { detail: name });
  return value;
}

/** A string; absent, null and "" are undefined. */
export function readText(body: JsonObject, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "string") fail("invalid_request", { detail: name });
  return value;
}

/**
 * The model's name, or the operation's default when the body names none: then `model_added` says that it must be added
 * to the body.
 */
export function readModelOr(body: JsonObject, otherwise: string): { model: string; model_added?: true } {
  const { model } = body;
  return model === undefined || model === null || model === ""
    ? { model: otherwise, model_added: true }
    : { model: readModel(body) };
}

/** What the relay must know about an operation that no dialect translates. */
export interface UntranslatedRules {
  /** Whether the body may be JSON. */
  readonly json: boolean;
  /** Reads a multipart form; absent: forms are refused. */
  readForm?(form: Form): ChatRequest | Promise<ChatRequest>;
  /** The form as the body of OpenAI's JSON call, for vendors that take no forms; absent: there is no such call. */
  inJson?(form: Form): Promise<JsonObject>;
  /**
   * The ending of a vendor's path for the base operation, and the ending for this one (images: /generations -> /edits).
   */
  readonly path?: readonly [ordinary: string, own: string];
  /** Responses need not be JSON: audio, or text in the requested format. */
  readonly plain: "audio" | "text" | "never";
  /** Whether a JSON body is a response of this operation. */
  isAnswer(body: JsonObject): boolean;
  /** Bytes of generated text in a response; absent: the output is not text, or is priced per request. */
  contentBytes?(body: JsonObject): number;
  /** The usage in a response, or in a stream's { usage } object; undefined when there is none. */
  usageOf(body: JsonObject): Usage | undefined;
}
