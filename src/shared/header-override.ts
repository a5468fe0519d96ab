/**
 * Headers that a channel sends in place of Weir's own (`header_override`): a JSON object name -> value. `{api_key}` in
 * a value is the key of the attempt; null removes a header.
 */
import type { Text } from "./text";

/** In a message catalogue the braces would be a placeholder. */
export const HEADER_HINT: Text = {
  zh: "值里的 {api_key} 会换成渠道密钥；null 去掉该请求头；密钥类的值加密保存并显示为 ********，原样保留即不变",
  en: "{api_key} in a value becomes the channel's key; null takes the header away; secret values are stored encrypted and shown as ********, which left as it is means unchanged",
};

/** Headers that follow from connection and body; another value would break the call or smuggle a second one. */
const FORBIDDEN = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "te",
  "trailer",
  "expect",
  "content-encoding",
  "content-type",
  "accept-encoding",
  "cookie",
]);
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i;
/** Visible characters, blanks and tabs: no line can be added (RFC 9110 5.5). */
const VALUE = /^[\t\x20-\x7e\x80-\xff]{0,4000}$/;
const MAX_HEADERS = 50;
const KEY_MARK = "{api_key}";

function problemOf(name: string, value: unknown): Text | undefined {
  const lower = name.toLowerCase();
  if (!NAME.test(name))
    return { zh: `“${name.slice(0, 40)}” 不是合法的请求头名称`, en: `"${name.slice(0, 40)}" is no header name` };
  if (FORBIDDEN.has(lower) || lower.startsWith("proxy-"))
    return { zh: `不能改写 ${lower}`, en: `${lower} cannot be overridden` };
  if (value === null || typeof value === "number" || typeof value === "boolean") return undefined;
  if (typeof value === "string" && VALUE.test(value)) return undefined;
  return { zh: `${lower} 的值应为单行文本`, en: `the value of ${lower} must be a text of one line` };
}

/** The reason why stored headers cannot be used; undefined when they can. */
export function headerProblem(stored: Readonly<Record<string, unknown>>): Text | undefined {
  const entries = Object.entries(stored);
  if (entries.length > MAX_HEADERS)
    return { zh: `最多 ${MAX_HEADERS} 个请求头`, en: `there may be at most ${MAX_HEADERS} headers` };
  return entries.map(([name, value]) => problemOf(name, value)).find((problem) => problem !== undefined);
}

/** Header names in lower case -> value with its placeholder, null = removed. */
export type HeaderRules = ReadonlyMap<string, string | null>;

/** The usable ones of stored headers. */
export function compileHeaders(stored: Readonly<Record<string, unknown>>): HeaderRules {
  const usable = Object.entries(stored).filter(([name, value]) => problemOf(name, value) === undefined);
  return new Map(
    usable.slice(0, MAX_HEADERS).map(([name, value]) => [name.toLowerCase(), value === null ? null : String(value)]),
  );
}

/** `headers` with the overrides applied; names are compared without case. */
export function withHeaders(
  headers: Readonly<Record<string, string>>,
  rules: HeaderRules | undefined,
  key: string,
): Record<string, string> {
  if (!rules || rules.size === 0) return { ...headers };
  const kept = Object.entries(headers).filter(([name]) => !rules.has(name.toLowerCase()));
  const own = [...rules].flatMap(([name, value]) =>
    value === null ? [] : [[name, value.replaceAll(KEY_MARK, () => key)] as const],
  );
  return Object.fromEntries([...kept, ...own]);
}
