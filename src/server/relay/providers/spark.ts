/**
 * iFlytek Spark: one WebSocket per call, at a signed address (xfyun.cn/doc/spark/Web.html, 1.1: addresses and domains;
 * general_url_authentication.html; read November 2026).
 */
import { createHmac } from "node:crypto";
import { joinFrames, LAST } from "../../protocol/dialects/spark/answer";
import { isObject, object } from "../../protocol/dialects/shared/json";
import type { WireObject } from "../../protocol/chat-events";
import { UpstreamError } from "../../protocol/upstream-error";
import { failureOf } from "../../protocol/upstream-failure";
import { tryParse } from "../../lib/json-bytes";
import { eventsOf } from "./framing";
import { keyParts } from "./parts";
import type { Outgoing, Provider, ProviderContext } from "./provider";
import { messagesOf } from "./socket";

interface Version {
  readonly path: string;
  readonly domain: string;
}

const versions: Readonly<Record<string, Version>> = {
  "v1.1": { path: "/v1.1/chat", domain: "lite" },
  "v2.1": { path: "/v2.1/chat", domain: "generalv2" },
  "v3.1": { path: "/v3.1/chat", domain: "generalv3" },
  "v3.5": { path: "/v3.5/chat", domain: "generalv3.5" },
  "v4.0": { path: "/v4.0/chat", domain: "4.0Ultra" },
  "pro-128k": { path: "/chat/pro-128k", domain: "pro-128k" },
  "max-32k": { path: "/chat/max-32k", domain: "max-32k" },
};
const byDomain = new Map(Object.values(versions).map((version) => [version.domain.toLowerCase(), version]));

/**
 * A model is a domain (`generalv3.5`), ends in its version (`SparkDesk-v3.5`), or has the version that the channel
 * names.
 */
export function sparkVersion(model: string, other: string): Version | undefined {
  const name = model.toLowerCase();
  const suffix = /-(v\d+\.\d+)$/.exec(name)?.[1];
  const named = other.trim().toLowerCase();
  return byDomain.get(name) ?? versions[suffix ?? ""] ?? versions[name] ?? versions[named] ?? byDomain.get(named);
}

/** The signed address: the signature covers host, date and request line. `now` in epoch milliseconds. */
export function sparkAddress(address: string, api_key: string, api_secret: string, now: number): string {
  const url = new URL(address);
  const date = new Date(now).toUTCString();
  const said = `host: ${url.host}\ndate: ${date}\nGET ${url.pathname} HTTP/1.1`;
  const signature = createHmac("sha256", api_secret).update(said).digest("base64");
  const proof = `api_key="${api_key}", algorithm="hmac-sha256", headers="host date request-line", signature="${signature}"`;
  const authorization = Buffer.from(proof).toString("base64");
  url.search = new URLSearchParams({ authorization, date, host: url.host }).toString();
  return url.href;
}

/** The frames of one answer, as text; the last one has status 2, or an error. */
async function* framesOf({ url, body, channel }: Outgoing, context: ProviderContext): AsyncGenerator<string> {
  for await (const text of messagesOf(url, body.toString(), channel, context)) {
    const frame = tryParse(Buffer.from(text));
    // A line end inside a frame would end it.
    yield isObject(frame) ? JSON.stringify(frame) : "{}";
    const { status, code } = object(object(frame).header);
    if (status === LAST || (typeof code === "number" && code !== 0)) return;
  }
}

/** Reasons for which the vendor's gateway refuses: the signature, the account, or the rate. */
const REFUSED = new Set([401, 403, 429]);

/** A WebSocket gets no reason for a refused handshake: an ordinary request to the same address does. */
async function refusal(url: string, context: ProviderContext): Promise<Response> {
  const response = await context.fetch(url.replace(/^ws/, "http"), { method: "GET" });
  if (REFUSED.has(response.status)) return response;
  throw new UpstreamError(failureOf("unreachable"));
}

export const spark: Provider = {
  url({ base_url, other }, operation, model) {
    const version = sparkVersion(model, other);
    return operation === "chat" && version ? base_url.replace(/^http/, "ws") + version.path : undefined;
  },
  headers: () => ({}),
  prepare(outgoing, { now }) {
    const { app_id = "", api_key = "", api_secret = "" } = keyParts(outgoing.channel);
    const { header, parameter, payload } = object(tryParse(outgoing.body));
    const domain = sparkVersion(outgoing.model, outgoing.channel.other)?.domain;
    const frame = {
      header: { app_id, ...object(header) },
      parameter: { chat: { domain, ...object(object(parameter).chat) } },
      payload,
    };
    return {
      ...outgoing,
      url: sparkAddress(outgoing.url, api_key, api_secret, now()),
      body: Buffer.from(JSON.stringify(frame)),
    };
  },
  async open(outgoing, context) {
    const frames = framesOf(outgoing, context);
    const first = await frames.next().catch((error: unknown) => error);
    if (first instanceof Error) return refusal(outgoing.url, context);
    async function* all(): AsyncGenerator<string> {
      if (isObject(first) && typeof first.value === "string") yield first.value;
      yield* frames;
    }
    if (outgoing.stream) return eventsOf(all());
    const parts: WireObject[] = [];
    for await (const text of all()) parts.push(object(JSON.parse(text)));
    const whole = joinFrames(parts);
    if (!whole) throw new UpstreamError(failureOf("cut", 200));
    return Response.json(whole);
  },
};
