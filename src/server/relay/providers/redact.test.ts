import { expect, test } from "bun:test";
import { channelType } from "../../../shared/channel-types";
import { unsavedChannel } from "../../features/channel/upstream";
import { RedactedEvents, redact, redactErrors } from "./redact";

const KEY = "Zq7/w+2=abc";
const type = channelType(1);
if (!type) throw new Error("no such type");
const channel = unsavedChannel(type, "https://x.example", KEY);

/** The output of a stream that arrives in chunks of `size` bytes. */
function passed(text: string, size: number): string {
  const events = new RedactedEvents(channel);
  const bytes = Buffer.from(text);
  const out: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += size)
    out.push(Buffer.from(events.push(bytes.subarray(from, from + size))));
  return Buffer.concat([...out, events.end()]).toString();
}

test("events pass byte for byte wherever they are split; those with an error lose the secret", () => {
  const picture = `data: {"b64":"${"A".repeat(200_000)}"}`;
  for (const end of ["\n\n", "\r\n\r\n"]) {
    const harmless = [
      `data: {"text":"你好 ${KEY}","error":null}`,
      picture,
      "event: ping",
      picture,
      `data: {"text":"the end"}`,
    ]
      .map((event) => event + end)
      .join("");
    const failed = `event: error${end.slice(0, end.length / 2)}data: {"type":"error","error":{"message":"no ${KEY}"}}${end}`;
    for (const size of [1000, 4097, 65_536, 1_000_000]) {
      expect(passed(harmless, size) === harmless).toBe(true);
      expect(passed(harmless + failed, size) === harmless + failed.replace(KEY, "[key]")).toBe(true);
    }
    for (const size of [1, 2, 3, 7])
      expect(passed(failed + failed, size)).toBe((failed + failed).replaceAll(KEY, "[key]"));
    expect(passed(failed.trimEnd(), 5)).toBe(failed.trimEnd().replace(KEY, "[key]"));
  }
});

test("a whole answer is changed only if it contains an error", () => {
  const answer = Buffer.from(
    JSON.stringify({ error: null, choices: [{ message: { content: `it is ${KEY}, an "error"` } }] }),
  );
  expect(redactErrors(channel, answer)).toBe(answer);
  expect(redactErrors(channel, Buffer.from(JSON.stringify({ error: { message: KEY } }))).toString()).toBe(
    '{"error":{"message":"[key]"}}',
  );
});

test("a secret is found however it is escaped, and short values are not secrets", () => {
  const once = JSON.stringify({ key: KEY });
  for (const text of [
    KEY,
    encodeURIComponent(KEY),
    encodeURIComponent(encodeURIComponent(KEY)),
    once,
    JSON.stringify(once),
    JSON.stringify(JSON.stringify(once)),
    KEY.replaceAll("/", "\\/"),
    KEY.replaceAll("+", "\\u002B"),
  ]) {
    expect(redact(channel, `said: ${text}`)).toContain("[key]");
    expect(redact(channel, `said: ${text}`)).not.toContain("Zq7");
  }
  expect(redact(unsavedChannel(type, "", "secret"), "a secret")).toBe("a secret");
});
