import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { Elysia } from "elysia";
import { type ClientFiles, createClientFiles, isForConsole } from "./client-files";

const PAGE = "<!doctype html><title>Weir</title>";
const SCRIPT = "console.log('weir');".repeat(40);
let root = "";
let files: ClientFiles;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "weir-files-"));
  mkdirSync(join(root, "assets"));
  writeFileSync(join(root, "index.html"), PAGE);
  writeFileSync(join(root, "assets/app-1a2b.js"), SCRIPT);
  writeFileSync(join(root, "assets/app-1a2b.js.br"), brotliCompressSync(SCRIPT));
  writeFileSync(join(root, "assets/app-1a2b.js.gz"), gzipSync(SCRIPT));
  files = createClientFiles(root);
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const get = (path: string, headers: Record<string, string> = {}) =>
  files(new Request(`http://localhost${path}`, { headers }), { "content-security-policy": "default-src 'none'" });

describe("the console's files", () => {
  test("a route of the console gets index.html, revalidated each time, with the caller's security headers", async () => {
    for (const path of ["/", "/index.html", "/console/channel", "/pricing/gpt-4.1", "/console/token?page=2"]) {
      const answer = get(path);
      // spec: D-07
      expect(await answer.text()).toBe(PAGE);
      expect(answer.headers.get("cache-control")).toBe("no-cache");
      expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'");
    }
  });

  test("a missing asset or file is 404, never the page", async () => {
    for (const path of ["/assets/gone-9z.js", "/assets/gone", "/wp-login.php", "/.env", "/favicon.ico"]) {
      const answer = get(path);
      expect(answer.status).toBe(404);
      expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'");
      expect(await answer.text()).not.toContain("<");
    }
  });

  test("a path cannot leave the folder", () => {
    for (const path of [
      "/../../etc/passwd",
      "/assets/..%2f..%2fetc/passwd",
      "/assets/%2e%2e/%2e%2e/etc/hostname.txt",
    ]) {
      const answer = get(path);
      expect(answer.status === 404 || answer.headers.get("content-type") === "text/html; charset=utf-8").toBe(true);
    }
  });

  test("brotli is preferred, gzip is next, and a refused or unknown encoding is not used", async () => {
    const encodingFor = (accept: string) =>
      get("/assets/app-1a2b.js", { "accept-encoding": accept }).headers.get("content-encoding");
    expect(encodingFor("gzip, deflate, br, zstd")).toBe("br");
    expect(encodingFor("gzip;q=1.0, br;q=0")).toBe("gzip");
    expect(encodingFor("gzip;q=0")).toBeNull();
    expect(encodingFor("")).toBeNull();
    const answer = get("/assets/app-1a2b.js", { "accept-encoding": "br" });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get("vary")).toBe("accept-encoding");
    expect(brotliDecompressSync(bytes).toString()).toBe(SCRIPT);
  });

  test("a hashed asset may be kept for ever", () => {
    expect(get("/assets/app-1a2b.js").headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  });

  test("a known tag answers 304 without a body, and each encoding has its own tag", async () => {
    const plain = get("/assets/app-1a2b.js").headers.get("etag") ?? "";
    const brotli = get("/assets/app-1a2b.js", { "accept-encoding": "br" }).headers.get("etag") ?? "";
    expect(plain).toMatch(/^"[\w-]{22}"$/);
    expect(brotli).not.toBe(plain);
    const answer = get("/assets/app-1a2b.js", { "if-none-match": `"other", W/${plain}` });
    expect(answer.status).toBe(304);
    expect(await answer.text()).toBe("");
    expect(get("/assets/app-1a2b.js", { "if-none-match": brotli }).status).toBe(200);
  });

  test("HEAD over a real connection has the length of GET and no body", async () => {
    const app = new Elysia().head("/*", ({ request }) => files(request, {})).listen({ port: 0, hostname: "127.0.0.1" });
    const answer = await fetch(`http://127.0.0.1:${app.server?.port}/`, { method: "HEAD" });
    expect(answer.headers.get("content-length")).toBe(String(PAGE.length));
    expect(await answer.text()).toBe("");
    await app.stop(true);
  });

  test("without a built console a page says how to build it, with an error status", async () => {
    const none = createClientFiles(join(root, "nothing"));
    const answer = none(new Request("http://localhost/console"), {});
    expect(answer.status).toBe(503);
    expect(await answer.text()).toContain("npm start");
  });
});

test("a page is for those who ask for HTML or navigate; the first page and files are for all", () => {
  const asks = (path: string, headers: Record<string, string> = {}): boolean =>
    isForConsole(new Request(`http://localhost${path}`, { headers }));
  const html = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  expect([asks("/console/token", html), asks("/console/token", { "sec-fetch-mode": "navigate" })]).toEqual([
    true,
    true,
  ]);
  expect([asks("/"), asks("/favicon.ico"), asks("/assets/app-1a2b.js")]).toEqual([true, true, true]);
  for (const accept of ["*/*", "application/json", ""])
    expect([accept, asks("/chat/completions", accept ? { accept } : {})]).toEqual([accept, false]);
});
