/** A request to the channel that stores an object of the caller: no other channel could serve it. */
import type { Operation as OperationKey } from "../../../shared/channel-types";
import type { AppError } from "../../../shared/errors";
import type { SideRequest } from "../admission/side-call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { UpstreamError } from "../../protocol/upstream-error";
import { classifyStatus, failureOf, retryAfterSeconds, unanswered } from "../../protocol/upstream-failure";
import { isObject, type JsonObject, tryParse } from "../../lib/json-bytes";
import { redactedBody, redactErrors, redactOf } from "../providers/redact";
import { providerOf } from "../providers/registry";
import { initFor } from "../providers/provider-context";
import type { PoolChannel } from "../../contracts/channel";
import type { Bytes } from "../../lib/sse";
import { readErrorBody } from "./request";

/** A URL with `path` appended to its path. */
export function appendPath(url: string, path: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url + path : url.slice(0, query) + path + url.slice(query);
}

/**
 * The URL of a path below one of a channel's operations; undefined when the channel does not serve the operation. Only
 * the members of the caller's `query` named in `passes` are forwarded.
 */
export function urlFor(
  channel: PoolChannel,
  operation: OperationKey,
  path: string,
  query?: URLSearchParams,
  passes: readonly string[] = [],
): string | undefined {
  const url = providerOf(channel)?.url(channel, operation, "");
  if (url === undefined) return undefined;
  const passed = [...(query ?? [])].filter(([name]) => passes.includes(name.replace(/\[\d*\]$/, "")));
  const more = new URLSearchParams(passed).toString();
  return appendPath(url, path) + (more === "" ? "" : `${url.includes("?") ? "&" : "?"}${more}`);
}

export interface PinnedRequest {
  method: "GET" | "POST" | "DELETE";
  /** See urlFor. Without a URL the request fails as an unreadable response. */
  url: string | undefined;
  headers?: Record<string, string>;
  body?: BodyInit;
}

/** A vendor's response and the end of its time limit, which includes reading a whole body. */
async function send(
  { engine, request }: SideRequest,
  channel: PoolChannel,
  { method, url, headers, body }: PinnedRequest,
): Promise<{ response: Response; inTime(): void }> {
  const provider = providerOf(channel);
  if (!provider || url === undefined) throw new UpstreamError(failureOf("malformed"));
  const { controlPlane, timers } = engine;
  const late = new AbortController();
  // The body may be large: then the time limit includes sending it.
  const limit =
    body === undefined || typeof body === "string"
      ? controlPlane.option.firstByteTimeoutMs
      : controlPlane.option.totalTimeoutMs;
  const inTime = timers.after(limit, () => late.abort());
  try {
    const response = await engine.fetch(url, {
      method,
      headers: { ...provider.headers(channel), accept: "*/*", "accept-encoding": "identity", ...headers },
      ...(body !== undefined && { body }),
      ...initFor(channel, AbortSignal.any([request.signal, late.signal])),
    });
    if (response.ok) return { response, inTime };
    const { status } = response;
    const error =
      status >= 400
        ? openaiChat.readError(tryParse(await readErrorBody(response).catch(() => Buffer.alloc(0))))
        : undefined;
    throw new UpstreamError(
      classifyStatus(
        redactOf(channel),
        status,
        error,
        channel.status_mapping,
        retryAfterSeconds(response.headers.get("retry-after"), controlPlane.now()),
      ),
    );
  } catch (error) {
    inTime();
    if (error instanceof UpstreamError) throw error;
    throw new UpstreamError(late.signal.aborted ? failureOf("timeout", 0, "first byte") : failureOf(unanswered(error)));
  }
}

/** The vendor's response, its body not read yet. Throws Failed for any status but success. */
export async function requestPinned(
  sideRequest: SideRequest,
  channel: PoolChannel,
  pinned: PinnedRequest,
): Promise<Response> {
  const { response, inTime } = await send(sideRequest, channel, pinned);
  inTime();
  return response;
}

/** The same for an event stream, which may contain errors. */
export async function requestPinnedEvents(
  sideRequest: SideRequest,
  channel: PoolChannel,
  pinned: PinnedRequest,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const { body } = await requestPinned(sideRequest, channel, pinned);
  return body ? redactedBody(channel, body) : undefined;
}

/** The vendor's response as JSON, as text and parsed. Throws Failed. */
export async function requestPinnedJson(
  sideRequest: SideRequest,
  channel: PoolChannel,
  pinned: PinnedRequest,
): Promise<{ body: Bytes; json: JsonObject }> {
  const { response, inTime } = await send(sideRequest, channel, pinned);
  let body: Bytes;
  try {
    body = redactErrors(channel, Buffer.from(await response.arrayBuffer()));
  } catch {
    throw new UpstreamError(failureOf("cut", response.status));
  } finally {
    inTime();
  }
  const json = tryParse(body);
  if (!isObject(json)) throw new UpstreamError(failureOf("malformed", response.status));
  return { body, json };
}

/** Sends a request for an object that may be gone upstream: then it is `missing` here as well. */
export async function mapNotFound<T>(missing: AppError, pinned: Promise<T>): Promise<T> {
  try {
    return await pinned;
  } catch (error) {
    throw error instanceof UpstreamError && error.failure.upstream_status === 404 ? missing : error;
  }
}
