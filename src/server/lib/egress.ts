/**
 * The one way to fetch an address that somebody typed: resolve, refuse what is not public, connect to the checked
 * address (a second look-up could answer otherwise), follow redirects by hand and check each, limit size and time.
 */
import { lookup } from "node:dns/promises";
import { fail } from "../../shared/errors";
import { isPublicAddress } from "./addresses";

export interface EgressOptions {
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  /** Bytes never go through a worker, which takes text alone. */
  body?: string | Uint8Array<ArrayBuffer>;
  /** Lets private and local addresses pass (WEIR_ALLOW_PRIVATE_FETCH). */
  allowPrivate: boolean;
  /** Milliseconds for everything, redirects included. */
  timeoutMs?: number;
  maxBytes?: number;
  maxRedirects?: number;
  signal?: AbortSignal;
  /** Who fetches in our place (options WorkerUrl and WorkerValidKey): this server's own address then stays unknown. */
  worker?: EgressWorker | undefined;
  /** For tests: the addresses of a host name. */
  resolve?: (host: string) => Promise<string[]>;
}

/** A worker takes POST {url, key, method, headers, body} and answers what the address answered. */
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
  (await lookup(host, { all: true })).map((entry) => entry.address);

/** The address to connect to. Every address of the name must be public, so that none can be drawn later. */
async function checkedAddress(url: URL, { allowPrivate, resolve = addressesOf }: EgressOptions): Promise<string> {
  if (url.protocol !== "http:" && url.protocol !== "https:") fail("address_forbidden");
  if (url.username || url.password) fail("address_forbidden");
  // WHATWG URLs have already turned 0x7f.1, 2130706433 and friends into dotted form.
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const literal = url.hostname.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
  const found = literal ? [host] : await resolve(host);
  const [first] = found;
  if (first === undefined) fail("address_forbidden");
  if (!allowPrivate && !found.every(isPublicAddress)) fail("address_forbidden");
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
 * Fetches `address`. Throws AppError address_forbidden for what the policy refuses, ResponseTooLarge, and whatever
 * fetch or DNS throw when the host cannot be reached or time is up.
 */
export async function egressFetch(address: string, options: EgressOptions): Promise<EgressResponse> {
  const { maxBytes = EGRESS_MAX_BYTES, timeoutMs = EGRESS_TIMEOUT_MS } = options;
  const deadline = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
  const response = await egressOpen(address, options, signal);
  return { status: response.status, headers: response.headers, text: await readLimited(response, maxBytes) };
}

/**
 * Opens `address` and leaves its body to be read: a file that flows through. Its size and its time are the caller's
 * business (`maxBytes` and `timeoutMs` do not count). Throws what egressFetch throws.
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
      // Server name and certificate are those of the name that was typed, not of the address.
      ...(url.protocol === "https:" ? { tls: { serverName: url.hostname } } : {}),
    } as BunFetchRequestInit);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || !location) {
      return response;
    }
    await response.body?.cancel();
    // A body is never sent twice: the second receiver is not the one it was meant for.
    if (hop >= maxRedirects || options.method === "POST") fail("address_forbidden");
    const next = new URL(location, url);
    // Keys belong to the origin they were typed for.
    if (next.origin !== url.origin) headers = {};
    url = next;
  }
}

/**
 * Asks the worker, whose address root has typed. What is known here to be private is refused here as well; a name that
 * only the worker can resolve is its business, and so are redirects.
 */
async function openByWorker(
  worker: EgressWorker,
  url: URL,
  options: EgressOptions & { body: string | undefined },
  signal: AbortSignal,
): Promise<Response> {
  const { resolve = addressesOf } = options;
  // A name without an address is the worker's to find; the check wants one, so a public one stands in.
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

/** A public address that nothing is sent to. */
const UNKNOWN = "1.1.1.1";

function parse(address: string): URL {
  if (!URL.canParse(address)) fail("address_forbidden");
  return new URL(address);
}
