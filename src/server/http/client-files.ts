/**
 * The console's built files: from dist/client when Weir runs from source, from inside the executable otherwise.
 *
 * Files are compressed when the console is built (`.br` and `.gz` beside each); a request only picks one. Names under
 * /assets/ carry a hash, so they never change and are never a page; every other path without a file extension is the
 * console's own route and gets index.html.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/**
 * Answers GET and HEAD of any path that is no API. `headers` go on every response (content security policy and such).
 */
export type ClientFiles = (request: Request, headers: Record<string, string>) => Response;

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
  ".xml": "application/xml",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webp": "image/webp",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
};
/** Extensions of files, never of pages: scanners look for them, and a missing file must not answer 200. */
const FILE_ENDING =
  /\.(html?|m?js|css|json|map|webmanifest|txt|xml|svg|png|jpe?g|gif|webp|ico|woff2?|php|aspx?|jsp|env|ya?ml|zip|gz|sql|log)$/i;

const ENCODINGS = [
  { name: "br", ending: ".br" },
  { name: "gzip", ending: ".gz" },
] as const;

/**
 * Whether a request is for the console: for a file, its first page, or a page that a browser goes to. Programs that ask
 * elsewhere have mistaken the address, and a page would look like success to them.
 */
export function isForConsole({ url, headers }: Request): boolean {
  const { pathname } = new URL(url);
  if (pathname === "/" || pathname.startsWith("/assets/") || FILE_ENDING.test(pathname)) return true;
  return headers.get("sec-fetch-mode") === "navigate" || /\btext\/html\b/i.test(headers.get("accept") ?? "");
}

interface StoredFile {
  type: string;
  immutable: boolean;
  /** Content encoding ("" = none) to the file on disk or in the executable. */
  stored: Map<string, string>;
}

/** The build's output: `--asset ./dist/client` appears beside the executable's code. */
const builtConsole = (): string =>
  join(import.meta.dir, Bun.isStandaloneExecutable ? "client" : "../../../dist/client");

export function createClientFiles(root: string = builtConsole()): ClientFiles {
  const files = listFiles(root);
  // Read on first use: a start reads no file, and unused files take no memory.
  const loaded = new Map<string, { bytes: Uint8Array<ArrayBuffer>; etag: string }>();
  const load = (path: string) => {
    let content = loaded.get(path);
    if (!content) {
      const bytes = new Uint8Array(readFileSync(path));
      content = { bytes, etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"` };
      loaded.set(path, content);
    }
    return content;
  };

  return (request, headers) => {
    const { pathname } = new URL(request.url);
    const isFile = pathname.startsWith("/assets/") || FILE_ENDING.test(pathname);
    const file = files.get(pathname) ?? (isFile ? undefined : files.get("/index.html"));
    if (!file) return missing(files.size === 0 && !isFile, headers);

    const encoding = ENCODINGS.find(({ name }) => file.stored.has(name) && accepts(request.headers, name))?.name ?? "";
    const { bytes, etag } = load(file.stored.get(encoding) ?? "");
    const answer: Record<string, string> = {
      ...headers,
      "content-type": file.type,
      "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
      etag,
      vary: "accept-encoding",
    };
    if (encoding) answer["content-encoding"] = encoding;
    if (knows(request.headers, etag)) return new Response(null, { status: 304, headers: answer });
    // HEAD too: the server sends the headers (with the length) and drops the body; without a body the length is lost.
    return new Response(bytes, { headers: answer });
  };
}

/** Every file below `root` by its URL path; compressed files are encodings of the file beside them. */
function listFiles(root: string): Map<string, StoredFile> {
  const files = new Map<string, StoredFile>();
  if (!existsSync(root)) return files;
  const walk = (dir: string, url: string): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) walk(path, `${url}/${entry.name}`);
      else {
        const ending = ENCODINGS.find((encoding) => entry.name.endsWith(encoding.ending));
        const name = `${url}/${ending ? entry.name.slice(0, -ending.ending.length) : entry.name}`;
        const file: StoredFile = files.get(name) ?? {
          type: TYPES[extname(name)] ?? "application/octet-stream",
          immutable: name.startsWith("/assets/"),
          stored: new Map(),
        };
        file.stored.set(ending?.name ?? "", path);
        files.set(name, file);
      }
    }
  };
  walk(root, "");
  return files;
}

function missing(notBuilt: boolean, headers: Record<string, string>): Response {
  const text = notBuilt
    ? "The console is not built. `npm start` builds it; from source alone: bun scripts/build-client.ts\n"
    : "Not found\n";
  return new Response(text, {
    status: notBuilt ? 503 : 404,
    headers: { ...headers, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
}

/** Whether Accept-Encoding names the encoding and does not refuse it (RFC 9110, 12.5.3). */
function accepts(headers: Headers, encoding: string): boolean {
  for (const part of (headers.get("accept-encoding") ?? "").split(",")) {
    const [name, ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    if (name === encoding) return !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  }
  return false;
}

/** Whether If-None-Match has the tag; a proxy that recompresses may have made it weak. */
const knows = (headers: Headers, etag: string): boolean =>
  (headers.get("if-none-match") ?? "").split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
