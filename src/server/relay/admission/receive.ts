/**
 * Operations that are no conversation: images, speech, transcription, moderation, reranking. Nothing of them is
 * translated; what the relay must know is how their body, their price and their answer are read. One small file per
 * operation.
 */
import { fail } from "../../../shared/errors";
import { chargeOf, type CallTimes, estimateUpperBound, type InputKinds } from "../../../shared/charge";
import { type CompiledPrice } from "../../../shared/pricing";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import { readBody } from "../../lib/request-body/read-body";
import { inputTokenBound, parseBody } from "../../lib/request-body/json-body";
import type { ChatRequest, Usage } from "../../protocol/chat-events";
import { asksForHiddenTurns } from "../../protocol/hidden-turns";
import type { JsonObject } from "../../lib/json-bytes";
import type { Bytes } from "../../lib/sse";
import { Form } from "../../lib/request-body/multipart-form";
import { boundaryOf } from "../../lib/request-body/multipart";
import { checkLength, type Operation } from "../operations/operation";

/** How a call that is no conversation is priced, as far as its request tells. */
export interface Terms {
  /** What multiplies a price per call. */
  readonly times?: CallTimes;
  /** What its tokens may be besides text, for the hold. */
  readonly kinds?: InputKinds;
  /** An upper bound of its input in tokens, where that is not the size of its body. */
  readonly input_bound?: number;
  /** Units that are held at least. */
  readonly least_hold?: number;
  /** Billed when the answer names no usage. */
  readonly usage: Usage;
  /** What a count that cannot be believed is replaced by, where that is more than `usage`. */
  readonly doubted?: Usage;
  /** `usage` is what the call is priced by, no estimate. */
  readonly exact: boolean;
  /** The vendor may work out of sight (hidden-turns.ts). */
  readonly hidden_turns?: true;
  /** The price of the model made into the price of this operation. */
  priced?(price: CompiledPrice): CompiledPrice;
}

/** What the relay must know of an operation that no dialect translates. */
export interface DirectRules {
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

/** A request's body as an operation reads it. */
export interface Received {
  /** Empty for a form. */
  body: Bytes;
  form: Form | undefined;
  asked: ChatRequest;
  input_bound: number;
  /** The parsed body of a conversation. */
  json?: JsonObject;
}

/**
 * Reads the body of any call, unless a door of ours has read it (`given`). Throws what the caller gets for a body that
 * is too large, no JSON, no form, incomplete, or of a model with too long a name.
 */
export async function receive(operation: Operation, request: Request, limit: number, given?: Bytes): Promise<Received> {
  const { direct } = operation;
  const contentType = direct ? (request.headers.get("content-type") ?? "") : "";
  const boundary = direct?.readForm && boundaryOf(contentType);
  if (direct?.readForm && boundary !== undefined) {
    const form = await Form.read(request, boundary, limit);
    try {
      const asked = await direct.readForm(form);
      checkLength("model", asked.model, TEXT_LIMITS.model);
      return { body: Buffer.alloc(0), form, asked, input_bound: asked.terms?.input_bound ?? form.tokenBound() };
    } catch (error) {
      form.close();
      throw error;
    }
  }
  if (direct && (!direct.json || /^(multipart|application\/x-www-form-urlencoded)\b/i.test(contentType))) {
    fail("invalid_request", { detail: "content-type" });
  }
  const sent = given ?? (await readBody(request, limit));
  const json = operation.wording?.inOpenai(parseBody(sent)) ?? parseBody(sent);
  const body = operation.wording ? Buffer.from(JSON.stringify(json)) : sent;
  const asked = operation.read(json);
  checkLength("model", asked.model, TEXT_LIMITS.model);
  if (asksForHiddenTurns(json)) asked.hidden_turns = true;
  return { body, json, form: undefined, asked, input_bound: asked.terms?.input_bound ?? inputTokenBound(body) };
}

/** The address of an operation, made from the vendor's address of its kind; undefined when that has no such ending. */
export function directUrl(url: string | undefined, operation: Operation, complete: boolean): string | undefined {
  const path = operation.direct?.path;
  if (url === undefined || !path || complete) return url;
  const query = url.indexOf("?");
  const end = query < 0 ? url.length : query;
  return url.slice(0, end).endsWith(path[0])
    ? url.slice(0, end - path[0].length) + path[1] + url.slice(end)
    : undefined;
}

/** Units to hold: the whole price of a call, or every token at the dearest rate that the request allows. */
export function holdOf(
  price: CompiledPrice,
  inputTokens: number,
  outputTokens: number,
  terms: Terms | undefined,
): number {
  if (price.by === "call" && terms) return chargeOf(price, {}, terms.times).quota;
  return Math.max(terms?.least_hold ?? 0, estimateUpperBound(price, inputTokens, outputTokens, terms?.kinds));
}
