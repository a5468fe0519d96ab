/** How a channel is spoken to: the language of a call, its address, and the exchange itself. */
import type { Operation as OperationKey } from "../../../shared/channel-types";
import { isCodingPlan } from "../../../shared/channel-types/plans";
import { isUpstreamDialect, type UpstreamDialectKey, upstreamDialects } from "../../protocol/dialects/vendor-dialects";
import type { WireError, WireObject } from "../../protocol/chat-events";
import { afterAcceptance } from "../../protocol/upstream-error";
import { isObject, tryParse } from "../../lib/json-bytes";
import type { Operation } from "../operations/operation";
import type { PoolChannel } from "../../contracts/channel";
import type { Bytes } from "../../lib/sse";
import { rewritten } from "./framing";
import type { Outgoing, ProviderContext } from "./provider";
import { providerOf } from "./registry";
import { overridden } from "./param-override";
import { send } from "./provider-context";

/**
 * The language of a channel's model; undefined when the relay does not speak it. `model` is the vendor's name of it.
 */
export function languageOf(channel: PoolChannel, model: string): UpstreamDialectKey | undefined {
  const dialect = providerOf(channel)?.dialect?.(channel, model) ?? channel.type.dialect;
  return isUpstreamDialect(dialect) ? dialect : undefined;
}

const EMPTY: Bytes = Buffer.alloc(0);

/** What is asked of a channel, as far as its language depends on it. */
export type Asked = Pick<Operation, "key" | "native">;

/**
 * The operation that a channel is asked for. One whose conversations are OpenAI's, and that declares the caller's own
 * operation besides, takes such a call as it is, and then nothing is translated. Many a server that stands behind a
 * vendor's type lacks the vendor's other operations: at another address than the vendor's own only what
 * `setting.native_calls` allows. A complete address is that of one operation, the channel's own.
 */
export function operationFor(channel: PoolChannel, { key, native }: Asked, model: string): OperationKey {
  const takes = native && languageOf(channel, model) === "openai-chat" && takesNative(channel);
  return takes && providerOf(channel)?.url(channel, native.operation, model) !== undefined ? native.operation : key;
}

function takesNative({ type, setting, base_url }: PoolChannel): boolean {
  const { native_calls = "auto" } = setting;
  if (type.complete_url || native_calls === "never") return false;
  return native_calls === "always" || type.base_url === "" || type.base_url === base_url || isCodingPlan(base_url);
}

/**
 * The dialect in which an operation is asked and answered: the caller's own where the channel takes it as it is; chat
 * in the model's language; the others in OpenAI's, which is the channel's own or made of it (`Provider.direct`).
 * undefined: the channel is not asked for it.
 */
export function dialectOf(channel: PoolChannel, operation: Asked, model: string): UpstreamDialectKey | undefined {
  const asked = operationFor(channel, operation, model);
  if (operation.native && asked === operation.native.operation) return operation.native.dialect;
  const language = languageOf(channel, model);
  if (asked === "chat") return language;
  return language === "openai-chat" || providerOf(channel)?.direct?.[asked] ? "openai-chat" : undefined;
}

/** The address of an operation; undefined when the channel cannot be asked for it. */
export function addressOf(channel: PoolChannel, operation: Asked, model: string, stream = false): string | undefined {
  if (dialectOf(channel, operation, model) === undefined) return undefined;
  return providerOf(channel)?.url(channel, operationFor(channel, operation, model), model, stream);
}

/** The error object in a body of a channel, undefined when there is none. */
export function readChannelError(
  channel: PoolChannel,
  operation: Asked,
  model: string,
  body: unknown,
): WireError | undefined {
  const own = providerOf(channel)?.readError?.(body);
  if (own) return own;
  // What is no conversation is refused in the vendor's own language too.
  const { native } = operation;
  const asIs = native && operationFor(channel, operation, model) === native.operation;
  return upstreamDialects[(asIs ? native.dialect : languageOf(channel, model)) ?? "openai-chat"].readError(body);
}

/**
 * Sends a request the way its channel wants it, and answers in the dialect that `dialectOf` names. Throws what fetch
 * does, Failed, and RequestFault for what the vendor cannot be asked.
 */
export function exchange(outgoing: Outgoing, context: ProviderContext): Promise<Response> {
  const { channel, operation, form, spooled } = outgoing;
  const provider = providerOf(channel);
  const codec = form ? undefined : provider?.direct?.[operation];
  return codec || provider?.prepare || provider?.open || spooled
    ? exchangeOwnWay(outgoing, context)
    : send(overridden(outgoing), context);
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
  const changed = overridden(encoded);
  const ready = provider?.prepare ? await provider.prepare(changed, context) : changed;
  // The attempt keeps `outgoing` for as long as the upstream takes.
  if (outgoing.spooled && ready !== outgoing) outgoing.body = EMPTY;
  const response = await (provider?.open ? provider.open(ready, context) : send(ready, context));
  return codec && response.ok
    ? toOpenAi(response, (answer) => afterAcceptance(context.signal, () => codec.decode(answer, asked, context)))
    : response;
}

/** An answer as OpenAI would write it. What is none stays as it is: its error is read where all are. */
async function toOpenAi(
  response: Response,
  decode: (answer: WireObject) => Promise<WireObject | Response | undefined>,
): Promise<Response> {
  const bytes = await response.arrayBuffer();
  const answer = tryParse(new Uint8Array(bytes));
  const decoded = isObject(answer) ? await decode(answer) : undefined;
  if (decoded instanceof Response) return decoded;
  if (!decoded) return rewritten(response, bytes);
  const made = rewritten(response, JSON.stringify(decoded));
  made.headers.set("content-type", "application/json");
  return made;
}
