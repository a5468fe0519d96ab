/**
 * POST /v1/messages/count_tokens (Anthropic), :countTokens (Gemini) and /v1/responses/input_tokens: free, and
 * logged only when refused. A channel that speaks the caller's dialect is called; without one, or when it fails, the
 * answer is an estimate and says so.
 */
import { fail } from "../../../shared/errors";
import { withHeaders } from "../../../shared/header-override";
import type { SideHandler } from "../admission/side-call";
import { readBody } from "../../lib/request-body/read-body";
import { inputTokenBound, parseBody } from "../../lib/request-body/json-body";
import { recordRefusal } from "../billing/log-row";
import type { Engine } from "../call/call";
import { isObject, tryParse, withMembers } from "../../lib/json-bytes";
import { BYTES_PER_TOKEN } from "../billing/call-billing";
import type { Outgoing } from "../providers/provider";
import { providerOf } from "../providers/registry";
import type { PoolChannel } from "../../contracts/channel";
import type { Caller } from "../../contracts/caller";
import type { Bytes } from "../../lib/sse";
import { modelDialect, operationFor } from "../providers/dispatch";
import { send, providerContextFor } from "../providers/provider-context";
import { supportsNatively } from "../providers/capabilities";
import { addClaudeHeaders, atVersion } from "../providers/vendor-rules";
import { namesOf } from "../providers/model-mapping";
import { StoredConversation } from "./stored/conversation";
import { candidatesOf } from "../routing/router";
import { appendPath } from "../upstream/pinned-request";
import type { Received } from "../admission/receive";
import { responses } from "../operations/dialect-chat";
import { type Operation, readModel } from "../operations/operation";

/** How a dialect counts tokens. */
export interface TokenCounter {
  readonly dialect: "anthropic" | "gemini" | "openai-responses";
  /** The operation that a channel must pass through, where its dialect does not decide that. */
  readonly operation?: Operation;
  /** The path of the counting call, from the path of an ordinary call. */
  address(url: string): string;
  /** The member of the response that holds the count. */
  readonly member: "input_tokens" | "totalTokens";
  /** Further members of our response. */
  readonly more?: Readonly<Record<string, unknown>>;
}

export const anthropicCounter: TokenCounter = {
  dialect: "anthropic",
  address: (url) => `${url}/count_tokens`,
  member: "input_tokens",
};

export const geminiCounter: TokenCounter = {
  dialect: "gemini",
  address: (url) => url.replace(/:generateContent$/, ":countTokens"),
  member: "totalTokens",
};

/** POST /v1/responses/input_tokens (types of the `openai` SDK 7.55, InputTokenCountResponse). */
export const responsesCounter: TokenCounter = {
  dialect: "openai-responses",
  operation: responses,
  address: (url) => appendPath(url, "/input_tokens"),
  member: "input_tokens",
  more: { object: "response.input_tokens" },
};

/** Timeout of the vendor's count. */
const COUNT_MS = 10_000;

/** The route handler of a counter. `named` is the model where the path names it. */
export const counting =
  (counter: TokenCounter, named?: string): SideHandler =>
  async (sideRequest) => {
    const { engine, caller, request, responder } = sideRequest;
    const sent = await readBody(request, engine.controlPlane.option.maxBodyBytes);
    const json = parseBody(sent);
    const model = named ?? readModel(json);
    const received = { body: sent, json, form: undefined, asked: { model, stream: false, include_usage: false } };
    try {
      const betas = request.headers.get("anthropic-beta") ?? "";
      const count = await countTokens(engine, caller, counter, { ...received, input_bound: 0 }, betas);
      return responder.json(JSON.stringify(count));
    } catch (error) {
      await recordRefusal(engine.controlPlane, caller, { ...sideRequest, model }, error);
      throw error;
    }
  };

/**
 * The response body. Throws what a call of that model would: token_model_denied, the errors of candidatesOf,
 * previous_response_not_found. `betas`: the beta features that the caller names, as for an ordinary call.
 */
async function countTokens(
  engine: Engine,
  caller: Caller,
  counter: TokenCounter,
  received: Received,
  betas: string,
): Promise<Record<string, unknown>> {
  const { pool, virtual } = engine.controlPlane;
  const { model: named } = received.asked;
  if (caller.models && !caller.models.has(named)) fail("token_model_denied", { model: named });
  // A virtual model is counted by its first step.
  const step = virtual?.(named, caller)?.steps.find(({ denied }) => !denied);
  const { model = named, group } = step ?? {};
  const { candidates } = candidatesOf(pool, group === undefined ? caller : { group }, model);
  const conversation =
    counter.operation && (await StoredConversation.open(engine, caller, counter.operation, received));
  const body = step && counter.dialect !== "gemini" ? withMembers(received.body, { model }) : received.body;
  const own = candidates.filter((channel) =>
    counter.operation
      ? supportsNatively(channel, counter.operation)
      : modelDialect(channel, channel.model_mapping.get(model) ?? model) === counter.dialect,
  );
  const [channel] = own
    .flatMap((one) => (conversation ? (conversation.boundChannel(one) ?? []) : one))
    .toSorted((a, b) => b.priority - a.priority);
  if (!channel && conversation?.binding) throw conversation.binding.missing;
  const count =
    channel && (await requestCount(engine, engine.routing.keys.take(channel, model), counter, model, body, betas));
  const member = count ?? Math.ceil(inputTokenBound(body) / BYTES_PER_TOKEN);
  return { ...counter.more, [counter.member]: member, ...(count === undefined && { estimated: true }) };
}

/** The channel's count; undefined when its answer cannot be used. */
async function requestCount(
  engine: Engine,
  channel: PoolChannel,
  counter: TokenCounter,
  model: string,
  body: Bytes,
  betas: string,
): Promise<number | undefined> {
  const rules = engine.controlPlane.option.vendorRules;
  const names = namesOf(model, channel, counter.dialect, rules);
  const { model: mapped } = names;
  const provider = providerOf(channel);
  const ownUrl = provider?.url(
    channel,
    counter.operation ? operationFor(channel, counter.operation, mapped) : "chat",
    mapped,
  );
  if (!provider || ownUrl === undefined) return undefined;
  const url = atVersion(ownUrl, channel, names, rules);
  const headers = { ...provider.headers(channel), "content-type": "application/json", accept: "application/json" };
  if (counter.dialect === "anthropic") addClaudeHeaders(headers, betas, names, rules);
  const outgoing: Outgoing = {
    channel,
    operation: "chat",
    model: mapped,
    stream: false,
    url,
    headers: withHeaders(headers, channel.headers, channel.key),
    body: mapped !== model && counter.dialect !== "gemini" ? withMembers(body, { model: mapped }) : body,
  };
  const context = providerContextFor(engine, channel, AbortSignal.timeout(COUNT_MS), () => engine.controlPlane.now());
  try {
    const countRequest = provider.count
      ? await provider.count(outgoing, context)
      : { outgoing: { ...outgoing, url: counter.address(url) }, member: counter.member };
    const response = await (provider.count && provider.open
      ? provider.open(countRequest.outgoing, context)
      : send(countRequest.outgoing, context));
    const answer = response.ok ? tryParse(new Uint8Array(await response.arrayBuffer())) : undefined;
    const count = isObject(answer) ? answer[countRequest.member] : undefined;
    return typeof count === "number" && Number.isInteger(count) && count >= 0 ? count : undefined;
  } catch {
    // The estimate replaces a count that failed.
    return undefined;
  }
}
