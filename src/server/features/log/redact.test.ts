import { expect, test } from "bun:test";
import { redact } from "./redact";

const KEY = "abcdefghij0123456789ABCDEFGHIJ";

test("keys by their vendors' prefixes, tokens in headers and JSON Web Tokens are blanked", () => {
  const secrets = [
    `sk-${KEY}`,
    `sk-ant-api03-${KEY}`,
    `sk-proj-${KEY}`,
    `gsk_${KEY}`,
    `xai-${KEY}`,
    `ghp_${KEY}`,
    `hf_${KEY}`,
    `AIza${KEY}12345`,
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${KEY}`,
    `xoxb-${KEY}`,
  ];
  // Of every vendor whose keys begin with a word of their own.
  const words =
    "sk pk rk tp ak gsk xai hf r8 ghp gho ghs github_pat glpat xoxa xoxb xoxp xoxr xoxs pplx nvapi fw csk tvly jina";
  for (const word of words.split(" ")) secrets.push(`${word}-${KEY}`, `${word}_${KEY}`);
  for (const secret of secrets) {
    const clean = redact(`my key is ${secret}, keep it`);
    expect(clean).not.toContain(secret.slice(-12));
    expect(clean).toStartWith("my key is ");
    expect(clean).toEndWith(", keep it");
  }
  expect(redact(`curl -H "Authorization: Bearer ${KEY}"`)).toBe(`curl -H "Authorization: Bearer ***"`);
  for (const scheme of ["Basic", "basic", "BEARER"]) {
    const account = btoa("weir:hunter22");
    expect(redact(`{"h":"${scheme} ${account}"}`)).toBe(`{"h":"${scheme} ***"}`);
    expect(redact(`curl -u x -H 'X-Forwarded: ${scheme}  ${account}'`)).toBe(
      `curl -u x -H 'X-Forwarded: ${scheme} ***'`,
    );
  }
  expect(redact("postgres://weir:hunter22@db/x")).toBe("postgres://weir:***@db/x");
  expect(redact(`-----BEGIN RSA PRIVATE KEY-----\\n${KEY}\\n-----END RSA PRIVATE KEY----- end`)).toBe(
    "[private key ***] end",
  );
  expect(redact(`-----BEGIN PRIVATE KEY-----\n${KEY}`)).toBe("[private key ***]");
});

test("members of JSON that are secrets by their name are blanked, also in JSON inside a text, and others are not", () => {
  const value = {
    api_key: "short",
    "x-api-key": 'a"b\\c',
    user: { password: "p", client_secret: "s" },
    max_tokens: 5,
    token: "Hello",
    model: "gpt-4o",
  };
  expect(JSON.parse(redact(JSON.stringify(value)))).toEqual({
    api_key: "***",
    "x-api-key": "***",
    user: { password: "***", client_secret: "***" },
    max_tokens: 5,
    token: "Hello",
    model: "gpt-4o",
  });
  const nested = redact(JSON.stringify({ arguments: JSON.stringify({ password: "hunter22", q: "weather" }) }));
  expect(nested).not.toContain("hunter22");
  expect(JSON.parse(JSON.parse(nested).arguments)).toEqual({ password: "***", q: "weather" });
});

test("media become their length, ordinary text stays as it is", () => {
  const data = "A".repeat(5000);
  expect(redact(`{"url":"data:image/png;base64,${data}"}`)).toBe('{"url":"data:image/png;base64,[5000 characters]"}');
  expect(redact(`{"data":"${data}"}`)).toBe('{"data":"[base64, 5000 characters]"}');
  for (const text of [
    "",
    "你好，世界",
    "a task-list of risk-free disk-space",
    "see https://example.com/a?b=c",
    '{"content":"The secret is out: \\"Bearer\\""}',
  ]) {
    expect(redact(text)).toBe(text);
  }
});

test("a text made to be slow to search is searched in linear time", () => {
  const hostile = [
    '"',
    '"password',
    "\\",
    '\\"password\\":\\"',
    "-----BEGIN PRIVATE KEY-----",
    "://a:",
    "sk-",
    '"password":"\\\\',
    "data:a/",
    "eyJaaaaaaaa.",
    "eyJaaaaaaaa",
    "a-b+c/",
    "Bearer ",
    "api_key",
    "data:a/b;base64,",
    `${"a".repeat(199)} `,
  ];
  for (const part of hostile) {
    const text = part.repeat(Math.floor(262_144 / part.length));
    const begun = performance.now();
    redact(text);
    // Quadratic would be half a minute.
    expect([part, performance.now() - begun < 3000]).toEqual([part, true]);
  }
}, 60_000);
