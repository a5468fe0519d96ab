/** The body of a call: read, parsed, and kept as the call's record. */
import { fail } from "../../../shared/errors";
import { TEXT_LIMITS } from "../../../shared/text-limits";
import { readBody } from "../../lib/request-body/read-body";
import { SPOOL_LIMIT } from "../../lib/request-body/spool-file";
import { EMPTY } from "../../lib/request-body/spooled-body";
import { inputTokenBound, parseBody } from "../../lib/request-body/json-body";
import type { ChatRequest } from "../../protocol/chat-events";
import { allowsHiddenTurns } from "../../protocol/hidden-turns";
import type { JsonObject } from "../../lib/json-bytes";
import type { Bytes } from "../../lib/sse";
import type { Asked, Authenticated, Conversation } from "../call/call";
import { RequestContent } from "../call/request-content";
import { Form } from "../../lib/request-body/multipart-form";
import { boundaryOf } from "../../lib/request-body/multipart";
import { checkLength, type Operation } from "../operations/operation";

/** A request's body as received. */
export interface Content {
  /** Empty for a form. */
  bytes: Bytes;
  form: Form | undefined;
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
 * Reads the body of any call, unless the route has read it (`given`). Throws the caller's error for a body that is too
 * large or of another type than the operation's.
 */
export async function readContent(
  { direct }: Operation,
  request: Request,
  limit: number,
  given?: Bytes,
): Promise<Content> {
  const contentType = direct ? (request.headers.get("content-type") ?? "") : "";
  const boundary = direct?.readForm && boundaryOf(contentType);
  if (boundary !== undefined) return { bytes: EMPTY, form: await Form.read(request, boundary, limit) };
  if (direct && (!direct.json || /^(multipart|application\/x-www-form-urlencoded)\b/i.test(contentType)))
    fail("invalid_request", { detail: "content-type" });
  return { bytes: given ?? (await readBody(request, limit)), form: undefined };
}

/**
 * The call that the body describes; synchronous unless the body is a form. Throws the caller's error for a body that is
 * not JSON or incomplete, or whose model name is too long.
 */
export function parse(operation: Operation, { bytes, form }: Content): Received | Promise<Received> {
  if (form) return parseForm(operation, form);
  const { adapter } = operation;
  const json = adapter?.toOpenAi(parseBody(bytes)) ?? parseBody(bytes);
  const body = adapter ? Buffer.from(JSON.stringify(json)) : bytes;
  const asked = operation.read(json);
  checkLength("model", asked.model, TEXT_LIMITS.model);
  if (allowsHiddenTurns(json)) asked.hidden_turns = true;
  return { body, json, form: undefined, asked, input_bound: asked.terms?.input_bound ?? inputTokenBound(body) };
}

async function parseForm({ direct }: Operation, form: Form): Promise<Received> {
  const asked = (await direct?.readForm?.(form)) ?? fail("invalid_request", { detail: "content-type" });
  checkLength("model", asked.model, TEXT_LIMITS.model);
  return { body: EMPTY, form, asked, input_bound: asked.terms?.input_bound ?? form.tokenBound() };
}

/** The record of the call. From here on only this record keeps the body. */
export const askedIn = (
  call: Authenticated,
  operation: Operation,
  { asked, body, form, input_bound, json }: Received,
  conversation: Conversation | undefined,
): Asked => ({
  engine: call.engine,
  dialect: call.dialect,
  lang: call.lang,
  ip: call.ip,
  path: call.path,
  client_type: call.client_type,
  betas: call.betas,
  api_version: call.api_version,
  request_id: call.request_id,
  traceparent: call.traceparent,
  arrived: call.arrived,
  caller: call.caller,
  operation: json && declaresTools(json) ? { ...operation, tools: true } : operation,
  request: body.length > SPOOL_LIMIT ? withoutInput(asked) : asked,
  content: new RequestContent(body),
  form,
  input_bound,
  conversation,
  task_id: undefined,
});

/** Whether a conversation, in any dialect, declares tools. */
const declaresTools = ({ tools, functions }: JsonObject): boolean => hasItems(tools) || hasItems(functions);
const hasItems = (list: unknown): boolean => Array.isArray(list) && list.length > 0;

/** A large body waits in a file: responses repeat the settings of a call, never its content. */
function withoutInput(request: ChatRequest): ChatRequest {
  if (!request.wire) return request;
  const { input: _, ...settings } = request.wire;
  return { ...request, wire: settings };
}
