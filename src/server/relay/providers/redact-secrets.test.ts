/** What of a channel counts as secret, in which spellings it is found, and what stays as it was said. */
import { describe, expect, test } from "bun:test";
import { channelType } from "../../../shared/channel-types";
import { unsavedChannel } from "../../features/channel/upstream";
import type { PoolChannel } from "../../contracts/channel";
import {
  rememberToken,
  redact,
  RedactedEvents,
  redactedBody,
  redactError,
  redactErrors,
  redactJson,
  redactOf,
} from "./redact";

const channelOf = (more: Partial<PoolChannel> = {}, id = 1): PoolChannel => {
  const type = channelType(id) ?? expect.unreachable(`no type ${id}`);
  return { ...unsavedChannel(type, "https://x.example", "own-key-0123"), ...more };
};
const isHidden = (channel: PoolChannel, text: string): boolean => !redact(channel, `<${text}>`).includes(text);

describe("what is secret", () => {
  test("the key, the organization, and every part of a key of several", () => {
    const channel = channelOf({ key: "first-part|second-part|short", organization: "org-of-ours" });
    for (const secret of ["first-part|second-part|short", "first-part", "second-part", "org-of-ours"])
      expect([secret, redact(channel, `<${secret}>`)]).toEqual([secret, "<[key]>"]);
    // Seven letters are a word of every text.
    expect(redact(channelOf({ key: "1234567" }), "<1234567>")).toBe("<1234567>");
    expect(redact(channelOf({ key: "12345678" }), "<12345678>")).toBe("<[key]>");
    expect(redact(channelOf({ key: "12345678" }), "12345678")).toBe("[key]");
    expect(redact(channelOf({ key: " 12345678 " }), "<12345678>")).toBe("<[key]>");
  });

  test("both halves of a key of two, where both are long", () => {
    const half = "abcdefghijklmnop";
    expect(isHidden(channelOf({ key: `${half}.${half}x` }), `${half}x`)).toBe(true);
    expect(isHidden(channelOf({ key: `${half}.${half.slice(1)}` }), half)).toBe(false);
    expect(isHidden(channelOf({ key: `${half}.${half}.${half}` }), half)).toBe(false);
  });

  test("every member of a JSON credential, and every line of its private key; not its addresses and its kind", () => {
    const key = JSON.stringify({
      type: "service_account",
      project_id: "my-project-7",
      private_key: "-----BEGIN PRIVATE KEY-----\nFIRSTLINEOFKEY\nSECONDLINEOFKEY\n-----END PRIVATE KEY-----\n",
      client_email: "weir@my-project-7.example",
      token_uri: "https://oauth2.googleapis.com/token",
      universe_domain: "googleapis.com",
    });
    const channel = channelOf({ key }, 41);
    for (const secret of ["FIRSTLINEOFKEY", "SECONDLINEOFKEY", "weir@my-project-7.example"])
      expect([secret, isHidden(channel, secret)]).toEqual([secret, true]);
    const lines = channelOf({ key: "first line of it\nsecond line of it\r\nthird line of it" });
    for (const line of ["first line of it", "second line of it", "third line of it"])
      expect([line, redact(lines, `<${line}>`)]).toEqual([line, "<[key]>"]);
    const said =
      "service_account at https://oauth2.googleapis.com/token of googleapis.com: -----BEGIN PRIVATE KEY-----";
    expect(redact(channel, said)).toBe(said);
  });

  test("what its own headers hold, but for those that everybody may read", () => {
    const account = btoa("someone:pass-word-9");
    const headers = {
      "x-gateway": "gateway-secret",
      "x-signed": "Signature signed-secret",
      "x-account": `Basic ${account}`,
      "x-with-key": "Bearer {api_key}",
    };
    const channel = channelOf({ headers: new Map(Object.entries(headers)) });
    for (const secret of [
      "gateway-secret",
      "Signature signed-secret",
      "signed-secret",
      account,
      "someone:pass-word-9",
      "pass-word-9",
    ])
      expect([secret, redact(channel, `<${secret}>`)]).toEqual([secret, "<[key]>"]);
    expect(redact(channel, "<Bearer own-key-0123>")).toBe("<[key]>");
    const names =
      "accept accept-language user-agent referer http-referer origin x-title anthropic-version anthropic-beta openai-beta";
    for (const name of names.split(" ")) {
      const open = channelOf({ headers: new Map([[name, "everybody may read"]]) });
      expect([name, isHidden(open, "everybody may read")]).toEqual([name, false]);
    }
  });

  test("who signs in at a proxy or at its address, as written and as meant, and what the address' query says", () => {
    const proxy = "http://na%40me-long:pass%3Aword@proxy.example:8080";
    const channel = channelOf({
      setting: { proxy },
      base_url: "https://login-name:pass-word-2@x.example/v1?code=query-secret&api=2024-01-01",
    });
    const secrets = [proxy, "na%40me-long", "na@me-long", "pass%3Aword", "pass:word", "na@me-long:pass:word"];
    for (const secret of [
      ...secrets,
      "login-name",
      "pass-word-2",
      "login-name:pass-word-2",
      "query-secret",
      "2024-01-01",
    ])
      expect([secret, isHidden(channel, secret)]).toEqual([secret, true]);
    expect(redact(channel, "at x.example and proxy.example:8080")).toBe("at x.example and proxy.example:8080");
    // A name without a password is not told with an empty one.
    expect(redact(channelOf({ base_url: "https://only-name@x.example" }), "<only-name:>")).toBe("<[key]:>");
    const odd = channelOf({ base_url: "https://bad%zzname@x.example" });
    expect(isHidden(odd, "bad%zzname")).toBe(true);
    expect(redact(channelOf({ base_url: "no address at all" }), "no address at all")).toBe("no address at all");
  });

  test("tokens that were minted for it, the latest sixteen, from the moment on when they are noted", () => {
    const channel = channelOf();
    const token = (i: number): string => `minted-${String(i).padStart(3, "0")}`;
    expect(isHidden(channel, token(1))).toBe(false);
    rememberToken(channel, "short-7");
    expect(isHidden(channel, "short-7")).toBe(false);
    for (let i = 1; i <= 16; i++) rememberToken(channel, token(i));
    // Known already: it does not push another one out.
    rememberToken(channel, token(16));
    expect(isHidden(channel, token(1))).toBe(true);
    rememberToken(channel, token(17));
    expect([isHidden(channel, token(1)), isHidden(channel, token(2)), isHidden(channel, token(17))]).toEqual([
      false,
      true,
      true,
    ]);
    rememberToken(channel, "Bearer behind-a-scheme");
    expect(redact(channel, "<behind-a-scheme>")).toBe("<[key]>");
    rememberToken(channelOf(), "of-another-one");
    expect(isHidden(channel, "of-another-one")).toBe(false);
    rememberToken(channel, "12345678");
    expect(isHidden(channel, "12345678")).toBe(true);
  });
});

describe("how a secret is found", () => {
  test("inside the base64 of a longer text, wherever it begins in it, in both alphabets", () => {
    const key = "~~key??of>>many<<signs~~";
    const channel = channelOf({ key });
    for (const before of ["", "a", "ab", "abc", "user:"]) {
      const text = Buffer.from(`${before}${key}!`).toString("base64");
      const url = text.replaceAll("+", "-").replaceAll("/", "_");
      for (const spelt of [text, url]) {
        const said = redact(channel, spelt);
        expect([before, said.includes("[key]")]).toEqual([before, true]);
        // What is left holds nothing of it but the signs that it shares with its neighbours.
        expect(said.replace("[key]", "").length).toBeLessThanOrEqual(Math.ceil((before.length * 4) / 3) + 4);
      }
    }
    // The base64 of a short one is short: eight signs are the least.
    expect(redact(channelOf({ key: "12345678" }), Buffer.from("12345678").toString("base64"))).toContain("[key]");
  });

  test("the longest first: what is part of another leaves nothing of it behind", () => {
    const channel = channelOf({ key: "part-one|part-one-and-two" });
    expect(redact(channel, "<part-one-and-two>")).toBe("<[key]>");
    expect(redact(channel, "<part-one>")).toBe("<[key]>");
  });

  test("written in bytes of Latin-1", () => {
    const channel = channelOf({ key: "schlüssel-ähnlich" });
    expect(redact(channel, Buffer.from("schlüssel-ähnlich").toString("latin1"))).toBe("[key]");
  });

  test("escaped in every way that is known, several times in one text, beside what is not it", () => {
    const channel = channelOf({ key: `q"<a>&'/\\\tb` });
    const spellings = [
      `q\\"<a>&'/\\\\\\tb`,
      "q\\u0022\\u003Ca\\u003e\\u0026\\u0027\\u002f\\u005c\\u0009b",
      `q\\"<a>&\\'\\/\\\\\\tb`,
      "q%22%3Ca%3E%26%27%2F%5c%09b",
      "q&quot;&lt;a&gt;&amp;&#39;&#47;&#92;&#9;b",
      "q&#x22;&#x3c;a&#x3E;&amp;&#x27;&#x2f;&#x5c;&#x9;b",
    ];
    for (const spelt of spellings) {
      expect([spelt, redact(channel, spelt)]).toEqual([spelt, "[key]"]);
      expect(redact(channel, `1%20 ${spelt} 2 ${spelt}${spelt} &amp; 3`)).toBe("1%20 [key] 2 [key][key] &amp; 3");
    }
    const lines = channelOf({ key: "line one\r\nline two" });
    expect(redact(lines, "<line one\\r\\nline two>")).not.toContain("line");
    // Four times escaped is beyond what any answer does.
    const times = (count: number): string => {
      let text = "own/key/0123";
      for (let i = 0; i < count; i++) text = encodeURIComponent(text);
      return text;
    };
    const slashed = channelOf({ key: "own/key/0123" });
    expect([1, 2, 3, 4].map((count) => redact(slashed, times(count)) === "[key]")).toEqual([true, true, true, false]);
    const untouched = "100%25 of it &amp; \\n more &#1; \\u00e9";
    expect(redact(slashed, untouched)).toBe(untouched);
  });

  test("parts that overlap are one", () => {
    const channel = channelOf({ key: "aaaa/bbbb|bbbb/cccc" });
    expect(redact(channel, "<aaaa%2Fbbbb%2Fcccc>")).toBe("<[key]>");
  });
});

describe("where it is looked for", () => {
  const channel = channelOf();
  const KEY = "own-key-0123";

  test("in names and texts of a JSON value, at any depth, but not in what is too long to be words", () => {
    const long = `${KEY}${"x".repeat(256 << 10)}`;
    expect(
      redactJson<unknown>(channel, {
        [KEY]: [KEY, 1, null, true, { deep: [`a ${KEY}`] }],
        long,
        just: `${KEY}${"x".repeat(100)}`,
      }),
    ).toEqual({ "[key]": ["[key]", 1, null, true, { deep: ["a [key]"] }], long, just: `[key]${"x".repeat(100)}` });
    expect(redactJson(channel, undefined as unknown)).toBeUndefined();
    const most = `${KEY}${"x".repeat((256 << 10) - KEY.length)}`;
    expect(redactJson(channel, most)).toStartWith("[key]");
  });

  test("in what was thrown, its stack included", () => {
    class Odd extends Error {
      override readonly name = "Odd";
    }
    const clean = redactError(channel, new Odd(`no ${KEY}`));
    expect([clean.name, clean.message]).toEqual(["Odd", "no [key]"]);
    expect(clean.stack).not.toContain(KEY);
    expect(clean.stack).toContain("redact-secrets.test");
    expect(redactError(channel, `text ${KEY}`)).toMatchObject({ message: "text [key]" });
    expect(redactOf(channel)(`of ${KEY}`)).toBe("of [key]");
  });

  test("in events that tell of an error, by a member or by their type, and in no other", () => {
    const said = (text: string): string => redactErrors(channel, Buffer.from(text)).toString();
    for (const [start, end] of [
      ['{"error":{"message":"', '"}}'],
      ['{"error": "', '"}'],
      ['{"error" : ["', '"]}'],
      ['{"last_error":{"m":"', '"}}'],
      ['{"type":"error","message":"', '"}'],
      ['{"type" : "error","message":"', '"}'],
    ])
      expect(said(`${start}${KEY}${end}`)).toBe(`${start}[key]${end}`);
    for (const harmless of [
      `{"error":null,"text":"${KEY}"}`,
      `{"type":"errors","text":"${KEY}"}`,
      `{"text":"an error\\": ${KEY}"}`,
    ])
      expect(said(harmless)).toBe(harmless);
    const two = `data: {"text":"${KEY}"}\n\ndata: {"error":{"message":"${KEY}"}}\n\n`;
    expect(said(two)).toBe(`data: {"text":"${KEY}"}\n\ndata: {"error":{"message":"[key]"}}\n\n`);
  });

  test("in a body that passes through byte by byte, also where one byte is all that goes on", async () => {
    const long = Buffer.from(`data: ${"A".repeat(70_000)}`);
    const pieces = [long, ...Array.from("\n\nx", (sign) => Buffer.from(sign))];
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    expect(await new Response(redactedBody(channel, body)).text()).toBe(Buffer.concat(pieces).toString());
  });

  test("in a body that passes through, whatever its pieces are, and nothing is added to it", async () => {
    const text = `data: {"text":"${KEY}"}\n\ndata: {"error":{"message":"${KEY}"}}\n\ndata: x`;
    for (const size of [1, 5, 17, 1_000]) {
      const bytes = Buffer.from(text);
      const pieces: Uint8Array[] = [];
      for (let from = 0; from < bytes.length; from += size) pieces.push(bytes.subarray(from, from + size));
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          const next = pieces.shift();
          if (next) controller.enqueue(next);
          else controller.close();
        },
      });
      const out: Uint8Array[] = [];
      for await (const piece of redactedBody(channel, body)) out.push(piece);
      expect(Buffer.concat(out).toString()).toBe(text.replace(`message":"${KEY}`, 'message":"[key]'));
      expect(out.every((piece) => piece.length > 0)).toBe(true);
    }
  });

  test("an event of 64 KiB is held whole, a longer one is not", () => {
    const push = (bytes: number): number => new RedactedEvents(channel).push(Buffer.alloc(bytes, "A")).length;
    expect([push(65_536), push(65_537)]).toEqual([0, 65_533]);
  });

  test("an event that is too long to be held goes on as it comes, and the next one is looked at again", () => {
    const events = new RedactedEvents(channel);
    const push = (text: string): string => events.push(Buffer.from(text)).toString();
    const long = `data: {"b64":"${"A".repeat(70_000)}`;
    // The last bytes may be the beginning of a blank line.
    expect(push(long)).toBe(long.slice(0, -4));
    expect(push("BBBBBBBB")).toBe("AAAABBBB");
    expect(push("")).toBe("");
    expect(push("\n")).toBe("B");
    expect(push(`\ndata: {"error":{"m":"${KEY}"}}\n\ndata: {"er`)).toBe(`BBB\n\ndata: {"error":{"m":"[key]"}}\n\n`);
    expect(events.end().toString()).toBe('data: {"er');
  });
});
