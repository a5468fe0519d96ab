import { expect, test } from "bun:test";
import { consoleHeaders, frameOrigins } from "./headers";

const policy = (frames: readonly string[] = []) => consoleHeaders(frames)["content-security-policy"] ?? "";

test("nothing may be framed unless the operator's text is an address", () => {
  for (const text of ["", "# About", "see https://example.com", "https://example.com and more", "http://example.com", "javascript:alert(1)"]) {
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
  const odd = ["https://example.com;script-src*", "https://*.example.com", "https://a,b", "https://ex%3Bample.com", "https://it's.example"];
  expect(frameOrigins([...odd, "https://example.com/;script-src *"])).toEqual([]);
  expect(frameOrigins(["https://example.com/;script-src'unsafe-inline'"])).toEqual(["https://example.com"]);
  expect(frameOrigins(["https://user:secret@example.com/"])).toEqual([]);
});

test("chat links open exactly their own origins, and a program's link opens none", () => {
  const chats: Record<string, string>[] = [{ Web: "https://chat.example/#/?k={key}&a={address}" }, { Desk: "cherrystudio://x?k={key}" }, { Local: "http://127.0.0.1:8080/" }];
  expect(frameOrigins(["https://about.example/"], chats)).toEqual(["https://about.example", "https://chat.example", "http://127.0.0.1:8080"]);
});
