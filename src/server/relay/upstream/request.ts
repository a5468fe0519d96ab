/** One request to one channel: building and sending it, and reading the response's body under the call's deadlines. */
import { ANTHROPIC_VERSION } from "../../../shared/channel-types";
import type { RequestFacts } from "../../../shared/price-rules";
import { cleanRequestId } from "../../../shared/text-limits";
import { bodyObject } from "../../lib/request-body/json-body";
import type { Asked, Attempted, LeftOut } from "../call/call";
import { leaveOut } from "./left-out";
import type { AnswerReader } from "./answer-reader";
import { withCacheMarks } from "../../protocol/dialects/anthropic/cache-marks";
import { getsCacheMarks } from "../providers/cache-marks";
import type { Warning, WireObject } from "../../protocol/chat-events";
import { adaptBody } from "../providers/model-quirks";
import { factsOf } from "../billing/call-price";
import { withLimit } from "../billing/output-limit";
import { redact } from "../providers/redact";
import { withSystemPrompt } from "../providers/param-override";
import { isObject, tryParse, withMembers } from "../../lib/json-bytes";
import { urlOf, withVersion } from "../providers/address";
import type { Operation } from "../operations/operation";
import type { Outgoing } from "../providers/provider";
import { providerOf } from "../providers/registry";
import { dialectOf, operationFor } from "../providers/dispatch";
import type { PoolChannel } from "../../contracts/channel";
import type { UpstreamDialectKey } from "../../protocol/dialects/vendor-dialects";
import { choosesService, surchargedFields, without } from "../providers/surcharged-fields";
import { carriesSignatures, translateRequest } from "../../protocol/translate";
import {
  addClaudeHeaders,
  applyVendorRules,
  atVersion,
  claudeMaxTokens,
  effortMembers,
  isPassthrough,
} from "../providers/vendor-rules";
import { isAnother, withoutRefused } from "../providers/mapped-model";
import { type ModelNames, namesOf } from "../providers/model-mapping";
import { type Bytes, type FrameSplitter, readFrame } from "../../lib/sse";

/** Largest error body that is read to classify a failure. */
const ERROR_BODY_LIMIT = 256 * 1024;

export interface UpstreamRequest {
  outgoing: Outgoing;
  /** The dialect of the body and of its response. */
  dialect: UpstreamDialectKey;
  /** The content that the channel's dialect could not express. */
  warnings: readonly Warning[];
  /** The conversation got cache marks that its caller did not set. */
  cacheMarks?: boolean;
  /** What rules of prices ask of it; undefined: the operation has no service tiers. */
  facts?: RequestFacts;
}

/**
 * The request for a channel; undefined when its type does not serve the operation. None of the caller's headers are
 * forwarded, except the names of Anthropic's beta features, to Anthropic. Throws RequestFault where the body is no
 * valid call in the caller's dialect.
 */
export function buildRequest(attempt: Attempted): UpstreamRequest | undefined {
  const { call, channel, price, output_limit } = attempt;
  const { asked } = call;
  const { request, operation, form, content } = asked;
  const rules = asked.engine.controlPlane.option.vendorRules;
  const provider = providerOf(channel);
  const mapped = channel.model_mapping.get(request.model) ?? request.model;
  const dialectOfName = dialectOf(channel, operation, mapped);
  const as_is =
    isPassthrough(channel, rules) &&
    dialectOfName !== undefined &&
    (operation.key === "chat" ? asked.dialect.key === dialectOfName : !operation.adapter);
  const names = namesOf(request.model, channel, dialectOfName, as_is ? undefined : rules);
  const { model } = names;
  // The name without its suffix may be mapped to a model that is spoken to in another dialect.
  const dialect = as_is || model === mapped ? dialectOfName : dialectOf(channel, operation, model);
  const ownUrl = withVersion(urlOf(channel, operation, model, request.stream), asked);
  if (!provider || dialect === undefined || ownUrl === undefined) return undefined;
  const url = atVersion(ownUrl, channel, names, rules);

  const headers = provider.headers(channel);
  headers["content-type"] = "application/json";
  headers.accept = operation.direct ? "*/*" : request.stream ? "text/event-stream" : "application/json";
  if (dialect === "anthropic")
    addClaudeHeaders(headers, asked.dialect.key === "anthropic" ? asked.betas : "", names, rules);
  // The relay reads the response, so it requests it uncompressed.
  headers["accept-encoding"] = "identity";
  const operationKey = operationFor(channel, operation, model);
  if (operationKey === "messages") addAnthropicHeaders(headers);
  const outgoing = {
    channel,
    operation: operationKey,
    model,
    stream: request.stream,
    url,
    headers,
    rules,
  };
  const inJson = provider.direct?.[operationKey] && operation.direct?.inJson;
  if (form && inJson) {
    return {
      outgoing: { ...outgoing, body: Buffer.alloc(0), inJson: async () => ({ ...(await inJson(form)), model }) },
      dialect,
      warnings: [],
    };
  }
  if (form) {
    const sent = form.body(model === request.model && !request.model_added ? undefined : model);
    headers["content-type"] = form.content_type;
    headers["content-length"] = String(sent.length);
    return { outgoing: { ...outgoing, body: Buffer.alloc(0), form: sent.body }, dialect, warnings: [] };
  }
  const limited = (body: Bytes): Bytes =>
    withLimit(body, { output_limit }, dialect, { model, operation: operationKey });
  const ours: readonly Warning[] =
    output_limit === undefined ? [] : [{ code: "limited_output", detail: String(output_limit) }];
  const tiered = TIERED.has(operation.key);
  const chooses = tiered && choosesService(bodyObject(content.bytes) ?? {});
  if (as_is) {
    const body = limited(named(asked, content.bytes, dialect, model));
    return {
      outgoing: { ...outgoing, as_is, body },
      dialect,
      warnings: ours,
      ...(tiered && { facts: factsOf(attempt, chooses ? body : undefined, model) }),
    };
  }
  const edits: Edits = {
    cacheMarks: getsCacheMarks(asked, channel, model, price),
    leftOut: attempt.left_out ?? [],
  };
  const written = bodyFor(asked, channel, dialect, names, edits);
  const said = chooses ? ordinary(written, asked, channel) : written;
  const { cacheMarks = false } = said;
  const fit =
    operationKey === "chat" && dialect === "openai-chat" ? adaptBody(channel.type, model, said.body) : undefined;
  const warnings =
    fit || output_limit !== undefined ? [...ours, ...said.warnings, ...(fit?.warnings ?? [])] : said.warnings;
  const body = limited(fit?.body ?? said.body);
  return {
    outgoing: { ...outgoing, body },
    dialect,
    warnings,
    cacheMarks,
    ...(tiered && { facts: factsOf(attempt, chooses ? body : undefined, model) }),
  };
}

/**
 * A vendor that accepts Anthropic's calls besides OpenAI's documents the key in the header that Anthropic's SDKs use.
 */
function addAnthropicHeaders(headers: Record<string, string>): void {
  headers["anthropic-version"] ??= ANTHROPIC_VERSION;
  const key = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  if (key !== undefined) headers["x-api-key"] ??= key;
}

interface Said {
  body: Bytes;
  warnings: readonly Warning[];
  /** The conversation got cache marks. */
  cacheMarks?: boolean;
}

/** What an attempt changes in a translated prompt. */
interface Edits {
  readonly cacheMarks: boolean;
  readonly leftOut: readonly LeftOut[];
}

/** Operations that have service tiers. Elsewhere the same members mean something else: the speed of speech. */
const TIERED: ReadonlySet<Operation["key"]> = new Set(["chat", "completions", "responses"]);

/**
 * Removes the members that make the call more expensive than its price. A passed-through body was parsed on arrival;
 * nothing is parsed again.
 */
function ordinary(said: Said, { content }: Asked, { setting }: PoolChannel): Said {
  // A translation adds no such members.
  const dear = surchargedFields(bodyObject(content.bytes) ?? {}, setting);
  const own = dear.length > 0 ? bodyObject(said.body) : undefined;
  const left = own ? surchargedFields(own, setting) : [];
  if (!own || left.length === 0) return said;
  const rest = without(own, left);
  return { ...said, body: Buffer.from(JSON.stringify(rest.body)), warnings: [...said.warnings, ...rest.warnings] };
}

/**
 * The members outside of a prompt: whether the vendor stores the response, and the one that this call continues
 * (openai-responses).
 */
const MEMORY = ["previous_response_id", "store", "include"] as const;
function withMemory(written: WireObject, asked: WireObject): WireObject {
  const body = { ...written };
  for (const name of MEMORY) {
    if (asked[name] === undefined) delete body[name];
    else body[name] = asked[name];
  }
  return body;
}

/** The caller's body with the vendor's model name. Gemini's model name is only in the URL. */
function named({ request }: Asked, body: Bytes, to: UpstreamDialectKey, model: string): Bytes {
  return to !== "gemini" && (model !== request.model || request.model_added) ? withMembers(body, { model }) : body;
}

/** The body for a channel: as the caller wrote it where both use one dialect, translated otherwise. */
function bodyFor(asked: Asked, channel: PoolChannel, to: UpstreamDialectKey, names: ModelNames, edits: Edits): Said {
  const { request, dialect, engine, operation, content } = asked;
  const { model, thoughts } = names;
  const rules = engine.controlPlane.option.vendorRules;
  const { include_usage, max_top_p } = channel.type;
  const from = dialect.key;
  const isChat = operation.key === "chat";
  // Between OpenAI's own dialects a reasoning effort adds one member, and the rest is unchanged.
  const effort =
    isChat && from === to && thoughts !== undefined
      ? effortMembers(bodyObject(content.bytes) ?? {}, to, names)
      : undefined;
  const body = effort ? withMembers(content.bytes, effort) : content.bytes;
  const rewritten =
    from !== to ||
    channel.setting.system_prompt !== undefined ||
    (thoughts !== undefined && !effort) ||
    carriesSignatures(body);
  if (isChat && rewritten) {
    const own = bodyObject(body) ?? {};
    const address = { model: request.model, stream: request.stream };
    let cacheMarks = false;
    let lost: readonly Warning[] = [];
    const translated = translateRequest(from, to, own, model, address, (prompt) => {
      const ruled = applyVendorRules(withSystemPrompt(prompt, channel), from, to, names, rules);
      const left = edits.leftOut.length > 0 ? leaveOut(ruled, edits.leftOut) : { prompt: ruled, warnings: [] };
      lost = left.warnings;
      const marked = edits.cacheMarks ? withCacheMarks(left.prompt) : left.prompt;
      cacheMarks = marked !== left.prompt;
      return marked;
    });
    const { stream_options: _, ...without } = translated.body;
    const { top_p } = translated.body;
    const kept = to === "openai-chat" && !include_usage && !request.include_usage ? without : translated.body;
    const written =
      to === "openai-chat" && tooGreat(top_p, max_top_p)
        ? { ...kept, top_p: max_top_p }
        : from === to && from === "openai-responses"
          ? withMemory(kept, own)
          : kept;
    return { body: Buffer.from(JSON.stringify(written)), warnings: [...translated.warnings, ...lost], cacheMarks };
  }
  const { adapter } = operation;
  const hinted = adapter && !providerOf(channel)?.direct?.[operation.key] ? bodyObject(body) : undefined;
  if (adapter && hinted)
    return { body: Buffer.from(JSON.stringify({ ...adapter.withoutHints(hinted), model })), warnings: [] };
  const changes: Record<string, unknown> = {};
  if (to === "anthropic" && isChat && rules && request.max_output === undefined)
    changes.max_tokens = claudeMaxTokens(names, rules);
  if (to === "openai-chat" && request.stream && !request.include_usage && include_usage) {
    changes.stream_options = { include_usage: true };
  }
  if (to === "openai-chat" && max_top_p !== undefined) {
    if (tooGreat(bodyObject(body)?.top_p, max_top_p)) changes.top_p = max_top_p;
  }
  const mapped =
    isChat && isAnother(asked.virtual?.name ?? request.model, model)
      ? withoutRefused(from, model, bodyObject(body) ?? {})
      : undefined;
  const sent = named(asked, mapped ? Buffer.from(JSON.stringify(mapped.body)) : body, to, model);
  return {
    body: Object.keys(changes).length > 0 ? withMembers(sent, changes) : sent,
    warnings: mapped?.warnings ?? [],
  };
}

const tooGreat = (top_p: unknown, most: number | undefined): boolean =>
  most !== undefined && typeof top_p === "number" && top_p > most;

/** A streamed response whose first content has arrived. */
export interface UpstreamStream {
  reader: ReadableStreamDefaultReader<Uint8Array>;
  splitter: FrameSplitter;
  /** Reads the stream, and returns the bytes for the caller. */
  answer: AnswerReader;
  /** Whole frames read so far and not yet passed on; the last region contains the first content. */
  kept: Bytes[];
  /** The body ended while the first content was awaited. */
  ended: boolean;
  abort(): void;
}

/**
 * The rest at the end of a body: the last frame where a vendor leaves out its blank line, completed; empty when the
 * stream was cut inside a frame.
 */
export function lastFrame(splitter: FrameSplitter): Bytes {
  const tail = splitter.end();
  const { data } = tail.length === 0 ? { data: undefined } : readFrame(tail);
  if (data === undefined || (data.trim() !== "[DONE]" && !isObject(tryParse(Buffer.from(data)))))
    return Buffer.alloc(0);
  return Buffer.concat([tail, Buffer.from("\n\n")]);
}

/** Reads at most ERROR_BODY_LIMIT bytes of a body. */
export async function readErrorBody(response: Response): Promise<Bytes> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  while (reader && size < ERROR_BODY_LIMIT) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
  }
  reader?.cancel().catch(() => undefined);
  return Buffer.concat(parts).subarray(0, ERROR_BODY_LIMIT);
}

/** The upstream's id of its response, for support requests. */
export function upstreamRequestId(headers: Headers, channel: PoolChannel): string {
  return cleanRequestId(
    redact(
      channel,
      headers.get("x-request-id") ??
        headers.get("request-id") ??
        headers.get("x-oneapi-request-id") ??
        headers.get("x-amzn-requestid") ??
        "",
    ),
  );
}
