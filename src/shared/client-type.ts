/**
 * The program behind a call, as its User-Agent names it: `claude-cli`, `OpenAI/Python`, `CherryStudio`, `browser`.
 * Kept in the log row (`other.client_type`) so that operators see who uses a channel.
 */

export const UNKNOWN_CLIENT = "unknown";
const BROWSER = "browser";
const MAX_LENGTH = 64;

/** What every browser sends besides its own name. */
const BROWSER_PRODUCTS = new Set([
  "Mozilla",
  "AppleWebKit",
  "Chrome",
  "HeadlessChrome",
  "Safari",
  "Firefox",
  "Gecko",
  "Version",
  "Mobile",
  "Edg",
  "EdgA",
  "EdgiOS",
  "OPR",
  "CriOS",
  "FxiOS",
  "SamsungBrowser",
  "Electron",
  "Chromium",
]);

/**
 * The name without its version (`codex_cli_rs/0.4` -> `codex_cli_rs`); letters that could end a JSON text are left out.
 */
function productName(token: string): string {
  const name = token.replace(/\/v?\d.*$/i, "").replace(/[^A-Za-z0-9._/@+-]/g, "");
  return name.slice(0, MAX_LENGTH);
}

/**
 * The product of a User-Agent. Programs built on a browser engine are named by their own product; plain browsers are
 * "browser".
 */
export function clientType(userAgent: string | null | undefined): string {
  const products = (userAgent ?? "")
    .slice(0, 1000)
    .replace(/\([^)]*\)/g, " ")
    .split(/[\s;,]+/)
    .map(productName)
    .filter(Boolean);
  const [first] = products;
  if (first === undefined) return UNKNOWN_CLIENT;
  if (!BROWSER_PRODUCTS.has(first)) return first;
  return products.find((name) => !BROWSER_PRODUCTS.has(name) && /[A-Za-z]/.test(name)) ?? BROWSER;
}

const MAX_REMEMBERED = 1000;
const remembered = new Map<string, string>();

/** `clientType` for the hot path: few programs make most calls, so their names are cached. */
export function knownClientType(userAgent: string): string {
  let type = remembered.get(userAgent);
  if (type === undefined) {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(userAgent, (type = clientType(userAgent)));
  }
  return type;
}
