/** One request to the channel that holds something of a caller's: no other channel could answer it. */
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

/** An address with `path` at the end of its own. */
export function appendPath(url: string, path: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url + path : url.slice(0, query) + path + url.slice(query);
}

/**
 * Where a channel has what lies below an operation of its own; undefined when it does not serve it. Of the caller's
 * `query` only the members named in `passes` go along.
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
  /** See destinationOf. Without one the errand fails as one that nobody could do. */
  url: string | undefined;
  headers?: Record<string, string>;
  body?: BodyInit;
}

/** A vendor's answer and the end of its time limit, which the reading of a whole body is within. */
async function send(
  { engine, request }: SideRequest,
  channel: PoolChannel,
  { method, url, headers, body }: PinnedRequest,
): Promise<{ response: Response; inTime(): void }> {
  const provider = providerOf(channel);
  if (!provider || url === undefined) throw new UpstreamError(failureOf("malformed"));
  const { controlPlane, timers } = engine;
  const late = new AbortController();
  // What is sent may be large: then the time of sending counts as well.
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

/** The vendor's answer, its body not read yet. Throws Failed for everything that is no success. */
export async function requestPinned(
  sideRequest: SideRequest,
  channel: PoolChannel,
  pinned: PinnedRequest,
): Promise<Response> {
  const { response, inTime } = await send(sideRequest, channel, pinned);
  inTime();
  return response;
}

/** The same for a stream of events, which may tell of errors. */
export async function requestPinnedEvents(
  sideRequest: SideRequest,
  channel: PoolChannel,
  pinned: PinnedRequest,
): Promise<ReadableStream<Uint8Array> | undefined> {
  const { body } = await requestPinned(sideRequest, channel, pinned);
  return body ? redactedBody(channel, body) : undefined;
}

/** The vendor's answer as JSON, as it was written and as it is read. Throws Failed. */
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

/** Does an errand for something that may be gone upstream: then it is `missing` here as well. */
export async function mapNotFound<T>(missing: AppError, pinned: Promise<T>): Promise<T> {
  try {
    return await pinned;
  } catch (error) {
    throw error instanceof UpstreamError && error.failure.upstream_status === 404 ? missing : error;
  }
}
