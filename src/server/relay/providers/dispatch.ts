/** Sends a call to a channel: its dialect, its address, and the exchange. */
import type { Operation as OperationKey } from "../../../shared/channel-types";
import { isCodingPlan } from "../../../shared/channel-types/plans";
import { isUpstreamDialect, type UpstreamDialectKey, upstreamDialects } from "../../protocol/dialects/vendor-dialects";
import type { WireError, WireObject } from "../../protocol/chat-events";
import { afterAcceptance } from "../../protocol/upstream-error";
import { isObject, tryParse } from "../../lib/json-bytes";
import type { Operation } from "../operations/operation";
import type { PoolChannel } from "../../contracts/channel";
import type { Bytes } from "../../lib/sse";
import { replaceBody } from "./framing";
import type { Outgoing, ProviderContext } from "./provider";
import { providerOf } from "./registry";
import { applyOverrides } from "./param-override";
import { needsResponses } from "../../protocol/dialects/shared/responses-models";
import { send } from "./provider-context";

/**
 * The dialect of a channel's model; undefined when the relay does not support it. `model` is the vendor's name of it.
 */
export function modelDialect(channel: PoolChannel, model: string): UpstreamDialectKey | undefined {
  const dialect = providerOf(channel)?.dialect?.(channel, model) ?? channel.type.dialect;
  return isUpstreamDialect(dialect) ? dialect : undefined;
}

const EMPTY: Bytes = Buffer.alloc(0);

/** The parts of a call on which the channel's dialect depends. */
export type CalledOperation = Pick<Operation, "key" | "native" | "tools">;

/**
 * The operation that a channel is called for. A channel whose chat calls are OpenAI's and that also declares the
 * caller's own operation passes such a call through, so nothing is translated. Many servers behind a vendor's type lack
 * the vendor's other operations: at an address other than the vendor's, only those in `setting.native_calls` are used.
 * A complete URL is that of one operation, the channel's own. A conversation whose model takes it there only goes to
 * OpenAI's Responses API.
 */
export function operationFor(channel: PoolChannel, operation: CalledOperation, model: string): OperationKey {
  const { key, native } = operation;
  if (modelDialect(channel, model) !== "openai-chat") return key;
  const serves = (one: OperationKey): boolean => providerOf(channel)?.url(channel, one, model) !== undefined;
  if (native && takesNative(channel) && serves(native.operation)) return native.operation;
  return key === "chat" && speaksResponses(channel, model, operation.tools === true) && serves("responses")
    ? "responses"
    : key;
}

/** Whether conversations with a model, in any caller's dialect, go to the Responses API. `model`: the vendor's name. */
function speaksResponses({ type, setting }: PoolChannel, model: string, tools: boolean): boolean {
  const { responses_api = "auto", native_calls } = setting;
  if (!type.openai_models || responses_api === "never") return false;
  return responses_api === "always" || (native_calls !== "never" && needsResponses(model, tools));
}

function takesNative({ type, setting, base_url }: PoolChannel): boolean {
  const { native_calls = "auto" } = setting;
  if (type.complete_url || native_calls === "never") return false;
  return native_calls === "always" || type.base_url === "" || type.base_url === base_url || isCodingPlan(base_url);
}

/**
 * The dialect in which an operation is called: the caller's own where the channel passes it through; a conversation in
 * the model's dialect, or in Responses where its model needs that; other operations in OpenAI's, which the channel
 * speaks or `Provider.direct` converts. undefined: the channel cannot be called for it.
 */
export function dialectOf(
  channel: PoolChannel,
  operation: CalledOperation,
  model: string,
): UpstreamDialectKey | undefined {
  const asked = operationFor(channel, operation, model);
  const other = otherDialect(operation, asked);
  if (other) return other;
  const language = modelDialect(channel, model);
  if (asked === "chat") return language;
  return language === "openai-chat" || providerOf(channel)?.direct?.[asked] ? "openai-chat" : undefined;
}

/** The dialect of a conversation that a channel is called for by an operation of its own; undefined: chat's. */
function otherDialect({ key, native }: CalledOperation, asked: OperationKey): UpstreamDialectKey | undefined {
  if (native && asked === native.operation) return native.dialect;
  return key === "chat" && asked === "responses" ? "openai-responses" : undefined;
}

/** The address of an operation; undefined when the channel cannot be called for it. */
export function addressOf(
  channel: PoolChannel,
  operation: CalledOperation,
  model: string,
  stream = false,
): string | undefined {
  if (dialectOf(channel, operation, model) === undefined) return undefined;
  return providerOf(channel)?.url(channel, operationFor(channel, operation, model), model, stream);
}

/** The error object in a channel's response body, undefined when there is none. */
export function readChannelError(
  channel: PoolChannel,
  operation: CalledOperation,
  model: string,
  body: unknown,
): WireError | undefined {
  const own = providerOf(channel)?.readError?.(body);
  if (own) return own;
  // Errors of other operations are in the vendor's own format too.
  const other = otherDialect(operation, operationFor(channel, operation, model));
  return upstreamDialects[other ?? modelDialect(channel, model) ?? "openai-chat"].readError(body);
}

/**
 * Sends a request in the channel's format, and answers in the dialect that `dialectOf` names. Throws what fetch does,
 * Failed, and RequestFault for what the vendor does not support.
 */
export function exchange(outgoing: Outgoing, context: ProviderContext): Promise<Response> {
  const { channel, operation, form, spooled } = outgoing;
  const provider = providerOf(channel);
  const codec = form ? undefined : provider?.direct?.[operation];
  return codec || provider?.prepare || provider?.open || spooled
    ? exchangeOwnWay(outgoing, context)
    : send(applyOverrides(outgoing), context);
}

async function exchangeOwnWay(outgoing: Outgoing, context: ProviderContext): Promise<Response> {
  const { channel, operation, body, form, inJson } = outgoing;
  const provider = providerOf(channel);
  const codec = form ? undefined : provider?.direct?.[operation];
  const parsed = codec && (inJson ? await inJson() : tryParse(body));
  const asked = isObject(parsed) ? parsed : {};
  const encoded = codec
    ? { ...outgoing, body: Buffer.from(JSON.stringify(await codec.encode(asked, outgoing))) }
    : outgoing;
  const changed = applyOverrides(encoded);
  const ready = provider?.prepare ? await provider.prepare(changed, context) : changed;
  // The attempt keeps `outgoing` in memory for as long as the upstream takes.
  if (outgoing.spooled && ready !== outgoing) outgoing.body = EMPTY;
  const response = await (provider?.open ? provider.open(ready, context) : send(ready, context));
  return codec && response.ok
    ? toOpenAi(response, (answer) => afterAcceptance(context.signal, () => codec.decode(answer, asked, context)))
    : response;
}

/**
 * A response converted to OpenAI's format. One that cannot be converted stays unchanged: its error is read with all
 * others.
 */
async function toOpenAi(
  response: Response,
  decode: (answer: WireObject) => Promise<WireObject | Response | undefined>,
): Promise<Response> {
  const bytes = await response.arrayBuffer();
  const answer = tryParse(new Uint8Array(bytes));
  const decoded = isObject(answer) ? await decode(answer) : undefined;
  if (decoded instanceof Response) return decoded;
  if (!decoded) return replaceBody(response, bytes);
  const made = replaceBody(response, JSON.stringify(decoded));
  made.headers.set("content-type", "application/json");
  return made;
}
