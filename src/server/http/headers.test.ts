import { expect, test } from "bun:test";
import { policyOrigin } from "../../shared/content";
import { consoleHeaders, frameOrigins } from "./headers";

const directives = (headers: Record<string, string>) => (headers["content-security-policy"] ?? "").split("; ");
const policy = (frames: readonly string[] = []) => consoleHeaders({ frames })["content-security-policy"] ?? "";

test("nothing may be framed unless the operator's text is an address", () => {
  for (const text of [
    "",
    "# About",
    "see https://example.com",
    "https://example.com and more",
    "http://example.com",
    "javascript:alert(1)",
  ]) {
    expect(frameOrigins([text])).toEqual([]);
  }
  expect(policy()).not.toContain("frame-src");
});

test("an address opens exactly its own origin, once, port included", () => {
  const texts = ["https://Example.com/a?b#c", " https://example.com/other ", "https://docs.example.com:8443/"];
  expect(frameOrigins(texts)).toEqual(["https://example.com", "https://docs.example.com:8443"]);
  expect(policy(frameOrigins(texts))).toContain("; frame-src https://example.com https://docs.example.com:8443;");
});

test("no address can add a directive to the policy or carry a password into the page", () => {
  const odd = [
    "https://example.com;script-src*",
    "https://*.example.com",
    "https://a,b",
    "https://ex%3Bample.com",
    "https://it's.example",
  ];
  expect(frameOrigins([...odd, "https://example.com/;script-src *"])).toEqual([]);
  expect(frameOrigins(["https://example.com/;script-src'unsafe-inline'"])).toEqual(["https://example.com"]);
  expect(frameOrigins(["https://user:secret@example.com/"])).toEqual([]);
});

test("sounds and films come from this server alone", () => {
  expect(directives(consoleHeaders())).toContain("media-src 'self'");
});

test("chat links open exactly their own origins, and a program's link opens none", () => {
  const chats: Record<string, string>[] = [
    { Web: "https://chat.example/#/?k={key}&a={address}" },
    { Desk: "cherrystudio://x?k={key}" },
    { Local: "http://127.0.0.1:8080/" },
  ];
  expect(frameOrigins(["https://about.example/"], chats)).toEqual([
    "https://about.example",
    "https://chat.example",
    "http://127.0.0.1:8080",
  ]);
});

test("a form may be posted to this server and to exactly the origins that are named", () => {
  expect(directives(consoleHeaders())).toContain("form-action 'self'");
  expect(directives(consoleHeaders({ forms: ["https://pay.example:8443"] }))).toContain(
    "form-action 'self' https://pay.example:8443",
  );
  for (const odd of [
    "https://pay.example;script-src*",
    "https://*.example",
    "javascript:alert(1)",
    "ftp://pay.example",
    "",
    "pay.example",
    "https://it's.example",
  ]) {
    expect([odd, policyOrigin(odd)]).toEqual([odd, undefined]);
  }
  expect(policyOrigin(" https://Pay.Example:443/a?b;c ")).toBe("https://pay.example");
});

test("third-party scripts may run only from the origins that are named", () => {
  expect(directives(consoleHeaders())).toContain("script-src 'self'");
  expect(directives(consoleHeaders({ scripts: ["https://challenges.cloudflare.com"] }))).toContain(
    "script-src 'self' https://challenges.cloudflare.com",
  );
});
