/** What the headers and the query of a request say: the key, the language, the version of the API. */
import type { Lang } from "../../../shared/text";

/**
 * The sub-protocol in which a browser's WebSocket, which cannot set headers, presents a key (OpenAI's realtime guide).
 */
const KEY_PROTOCOL = "openai-insecure-api-key.";

/** The sub-protocols that a WebSocket handshake offers. */
export const offeredProtocols = ({ headers }: Request): string[] =>
  (headers.get("sec-websocket-protocol") ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/**
 * The presented key: Authorization (with or without Bearer), x-api-key, api-key, x-goog-api-key, mj-api-secret, a
 * WebSocket sub-protocol or ?key=. Undefined when there is none. The authenticator parses the key itself.
 */
export function presentedKey(request: Request): string | undefined {
  const { headers } = request;
  const authorization = headers.get("authorization");
  if (authorization) {
    const key = authorization.startsWith("Bearer ") ? authorization.slice(7) : authorization.replace(/^bearer\s+/i, "");
    if (key.trim() !== "") return key.trim();
  }
  const other =
    headers.get("x-api-key") ?? headers.get("api-key") ?? headers.get("x-goog-api-key") ?? headers.get("mj-api-secret");
  if (other) return other.trim();
  if (headers.has("sec-websocket-protocol")) {
    const protocol = offeredProtocols(request).find((name) => name.startsWith(KEY_PROTOCOL));
    if (protocol) return protocol.slice(KEY_PROTOCOL.length);
  }
  return inQuery(request, "key");
}

function inQuery({ url }: Request, name: string): string | undefined {
  const query = url.indexOf("?");
  return query < 0 ? undefined : (new URLSearchParams(url.slice(query)).get(name) ?? undefined);
}

/** The form of a dated API version. */
const VERSION = /^[\w.-]{1,32}$/;

/** The API version in the caller's URL (Azure's `?api-version=`), "" = none. */
export function askedVersion(request: Request): string {
  const version = inQuery(request, "api-version") ?? "";
  return VERSION.test(version) ? version : "";
}

/** The language of messages: Chinese where the caller prefers it, English otherwise: no SDK says what it prefers. */
export function callerLang(request: Request): Lang {
  return /^\s*zh/i.test(request.headers.get("accept-language") ?? "") ? "zh" : "en";
}
