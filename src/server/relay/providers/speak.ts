/** How a channel is spoken to: the language of a call, its address, and the exchange itself. */
import type { Operation } from "../../../shared/channel-types";
import { isUpstreamDialect, type UpstreamDialectKey, upstreamDialects } from "../dialects/vendor-dialects";
import type { WireError, WireObject } from "../events";
import { isObject, tryParse } from "../json";
import type { PoolChannel } from "../seams";
import type { Outgoing } from "./provider";
import { providerOf } from "./registry";
import { rewritten } from "./rewrite";
import { send, type Tools } from "./tools";

/** The language of a channel's model; undefined when the relay does not speak it. `model` is the vendor's name of it. */
export function languageOf(channel: PoolChannel, model: string): UpstreamDialectKey | undefined {
  const dialect = providerOf(channel)?.dialect?.(channel, model) ?? channel.type.dialect;
  return isUpstreamDialect(dialect) ? dialect : undefined;
}

/**
 * The dialect in which an operation is asked and answered: chat in the model's language; the others in OpenAI's, which is the
 * channel's own or made of it (`Provider.direct`). undefined: the channel is not asked for it.
 */
export function dialectOf(channel: PoolChannel, operation: Operation, model: string): UpstreamDialectKey | undefined {
  const language = languageOf(channel, model);
  if (operation === "chat") return language;
  return language === "openai-chat" || providerOf(channel)?.direct?.[operation] ? "openai-chat" : undefined;
}

/** The address of an operation; undefined when the channel cannot be asked for it. */
export function addressOf(channel: PoolChannel, operation: Operation, model: string, stream = false): string | undefined {
  if (dialectOf(channel, operation, model) === undefined) return undefined;
  return providerOf(channel)?.url(channel, operation, model, stream);
}

/** The error object in a body of a channel, undefined when there is none. */
export function readChannelError(channel: PoolChannel, model: string, body: unknown): WireError | undefined {
  const own = providerOf(channel)?.readError?.(body);
  return own ?? upstreamDialects[languageOf(channel, model) ?? "openai-chat"].readError(body);
}

/**
 * Sends a request the way its channel wants it, and answers in the dialect that `dialectOf` names. Throws what fetch does,
 * Failed, and RequestFault for what the vendor cannot be asked.
 */
export async function exchange(outgoing: Outgoing, tools: Tools): Promise<Response> {
  const { channel, operation, model, body, form } = outgoing;
  const provider = providerOf(channel);
  const codec = form ? undefined : provider?.direct?.[operation];
  const parsed = codec && tryParse(body);
  const asked = isObject(parsed) ? parsed : {};
  const encoded = codec ? { ...outgoing, body: Buffer.from(JSON.stringify(codec.encode(asked, { channel, model }))) } : outgoing;
  const changed = rewritten(encoded);
  const ready = provider?.prepare ? await provider.prepare(changed, tools) : changed;
  const response = await (provider?.open ? provider.open(ready, tools) : send(ready, tools));
  return codec && response.ok ? inOpenai(response, (answer) => codec.decode(answer, asked)) : response;
}

/** An answer as OpenAI would write it. What is none stays as it is: its error is read where all are. */
async function inOpenai(response: Response, decode: (answer: WireObject) => WireObject | Response | undefined): Promise<Response> {
  const bytes = await response.arrayBuffer();
  const answer = tryParse(new Uint8Array(bytes));
  const decoded = isObject(answer) ? decode(answer) : undefined;
  if (decoded instanceof Response) return decoded;
  const headers = new Headers(response.headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  return decoded ? Response.json(decoded, { headers }) : new Response(bytes, { status: response.status, headers });
}
