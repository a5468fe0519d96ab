/**
 * The one way to fetch an address that a user typed: resolve, refuse what is not public, connect to the checked address
 * (a second look-up could resolve to another one), follow redirects by hand and check each, limit size and time.
 */
import dns from "node:dns/promises";
import { fail } from "../../shared/errors";
import { isPublicAddress, isReachableByOwner } from "./addresses";

export interface EgressOptions {
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  /** Bytes never go through a worker, which takes text only. */
  body?: string | Uint8Array<ArrayBuffer>;
  /** Permits private and local addresses (WEIR_ALLOW_PRIVATE_FETCH); `own`: all but link-local and metadata ones. */
  allowPrivate: boolean | "own";
  /** Milliseconds for everything, redirects included. */
  timeoutMs?: number;
  maxBytes?: number;
  maxRedirects?: number;
  signal?: AbortSignal;
  /**
   * A worker that fetches for this server (options WorkerUrl and WorkerValidKey), so that the server's own address
   * stays unknown.
   */
  worker?: EgressWorker | undefined;
  /** For tests: the addresses of a host name. */
  resolve?: (host: string) => Promise<string[]>;
}

/** A worker takes POST {url, key, method, headers, body} and returns the response of the address. */
export interface EgressWorker {
  url: string;
  key: string;
}

export interface EgressResponse {
  status: number;
  headers: Headers;
  text: string;
}

export const EGRESS_TIMEOUT_MS = 15_000;
export const EGRESS_MAX_BYTES = 4 * 1024 * 1024;

export class ResponseTooLarge extends Error {
  override readonly name = "ResponseTooLarge";
}

const addressesOf = async (host: string): Promise<string[]> =>
  (await dns.lookup(host, { all: true })).map((entry) => entry.address);

/** The address to connect to. Every address of the name must be public, because any of them could be used. */
async function checkedAddress(url: URL, { allowPrivate, resolve = addressesOf }: EgressOptions): Promise<string> {
  if (url.protocol !== "http:" && url.protocol !== "https:") fail("address_forbidden");
  if (url.username || url.password) fail("address_forbidden");
  // WHATWG URLs have already turned 0x7f.1, 2130706433 and the like into dotted form.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const literal = url.hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
  const found = literal ? [host] : await resolve(host);
  const [first] = found;
  if (first === undefined) fail("address_forbidden");
  const may = allowPrivate === "own" ? isReachableByOwner : isPublicAddress;
  if (allowPrivate !== true && !found.every(may)) fail("address_forbidden");
  return first;
}

/** Reads a body up to `limit` bytes. Throws ResponseTooLarge beyond. */
export async function readLimited(response: Response, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.byteLength;
    if (size > limit) {
      await reader.cancel();
      throw new ResponseTooLarge(`The answer is larger than ${limit} bytes`);
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * Fetches `address`. Throws AppError address_forbidden where the policy refuses, ResponseTooLarge, and the errors of
 * fetch and DNS when the host cannot be reached or time is up.
 */
export async function egressFetch(address: string, options: EgressOptions): Promise<EgressResponse> {
  const { maxBytes = EGRESS_MAX_BYTES, timeoutMs = EGRESS_TIMEOUT_MS } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const response = await egressOpen(address, options, signal);
  return { status: response.status, headers: response.headers, text: await readLimited(response, maxBytes) };
}

/**
 * Opens `address` and returns its response unread: for files that are streamed. Size and time are the caller's to limit
 * (`maxBytes` and `timeoutMs` are not used). Throws what egressFetch throws.
 */
export async function egressOpen(
  address: string,
  options: Omit<EgressOptions, "maxBytes" | "timeoutMs" | "signal">,
  signal: AbortSignal,
): Promise<Response> {
  const { maxRedirects = 3 } = options;
  let url = parse(address);
  const { worker, body } = options;
  if (worker && !(body instanceof Uint8Array)) return openByWorker(worker, url, { ...options, body }, signal);
  let headers = options.headers ?? {};
  for (let hop = 0; ; hop++) {
    const target = new URL(url);
    const connectTo = await checkedAddress(url, options);
    target.hostname = connectTo.includes(":") ? `[${connectTo}]` : connectTo;
    const response = await fetch(target, {
      method: options.method ?? "GET",
      headers: { ...headers, host: url.host },
      body: options.body,
      redirect: "manual",
      signal,
      proxy: false,
      // Server name and certificate are checked against the name in the URL, not the address.
      ...(url.protocol === "https:" ? { tls: { serverName: url.hostname } } : {}),
    } as BunFetchRequestInit);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || !location) {
      return response;
    }
    await response.body?.cancel();
    // A body is never sent to a second receiver: it was not meant for that one.
    if (hop >= maxRedirects || options.method === "POST") fail("address_forbidden");
    const next = new URL(location, url);
    // Keys belong to the origin in the URL.
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

/**
 * Sends the request through the worker, whose address a root user configured. Addresses that are private here are
 * refused here as well; names that only the worker can resolve, and redirects, are left to it.
 */
async function openByWorker(
  worker: EgressWorker,
  url: URL,
  options: EgressOptions & { body: string | undefined },
  signal: AbortSignal,
): Promise<Response> {
  const { resolve = addressesOf } = options;
  // A name that does not resolve here is left to the worker; the check needs an address, so a public one is used.
  await checkedAddress(url, {
    ...options,
    resolve: async (host) => [...(await resolve(host).catch(() => [])), UNKNOWN],
  });
  const { method = "GET", headers = {}, body = "" } = options;
  return fetch(worker.url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ url: url.href, key: worker.key, method, headers, body }),
    redirect: "manual",
    signal,
  });
}

/** A public address to which nothing is sent. */
const UNKNOWN = "1.1.1.1";

function parse(address: string): URL {
  if (!URL.canParse(address)) fail("address_forbidden");
  return new URL(address);
}
