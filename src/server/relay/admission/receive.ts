/**
 * Operations that are no conversation: images, speech, transcription, moderation, reranking. Nothing of them is
 * translated; what the relay must know is how their body, their price and their answer are read. One small file per
 * operation.
 */
import { fail } from "../../../shared/errors";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import { readBody } from "../../lib/request-body/read-body";
import { inputTokenBound, parseBody } from "../../lib/request-body/json-body";
import type { ChatRequest } from "../../protocol/chat-events";
import { allowsHiddenTurns } from "../../protocol/hidden-turns";
import type { JsonObject } from "../../lib/json-bytes";
import type { Bytes } from "../../lib/sse";
import { Form } from "../../lib/request-body/multipart-form";
import { boundaryOf } from "../../lib/request-body/multipart";
import { checkLength, type Operation } from "../operations/operation";

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
  const json = operation.adapter?.toOpenAi(parseBody(sent)) ?? parseBody(sent);
  const body = operation.adapter ? Buffer.from(JSON.stringify(json)) : sent;
  const asked = operation.read(json);
  checkLength("model", asked.model, TEXT_LIMITS.model);
  if (allowsHiddenTurns(json)) asked.hidden_turns = true;
  return { body, json, form: undefined, asked, input_bound: asked.terms?.input_bound ?? inputTokenBound(body) };
}
