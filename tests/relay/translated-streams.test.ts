/**
 * Recorded streams through the whole relay to callers of every other dialect, in virtual time: however the network
 * splits them, the same answer at the same charge; wherever they break, a clear end; and no open hold or timer.
 */
import { describe, expect, test } from "bun:test";
import { type ChannelType, channelType } from "../../src/shared/channel-types";
import { type DialectKey, dialectKeys } from "../../src/server/protocol/chat-events";
import { type Fixture, fixtures as recordings } from "../translation/streams";
import { type Bench, makeBench, makeChannel, VirtualTime } from "./kit";

/** The caller dialects; vendors' own are tested in tests/translation. */
const isForCallers = (fixture: Fixture): fixture is Fixture & { dialect: DialectKey } =>
  dialectKeys.some((key) => key === fixture.dialect);
const fixtures = recordings.filter(isForCallers);

const registered = (id: number): ChannelType => {
  const type = channelType(id);
  if (!type) throw new Error(`no channel type ${id}`);
  return type;
};
const types: Readonly<Record<DialectKey, ChannelType>> = {
  "openai-chat": registered(1),
  "openai-responses": { ...registered(1), dialect: "openai-responses", paths: { chat: "/v1/responses" } },
  anthropic: registered(14),
  gemini: registered(24),
};

/** A streamed call in each caller's dialect. */
const calls: Readonly<Record<DialectKey, { path: string; body: Record<string, unknown> }>> = {
  "openai-chat": {
    path: "/v1/chat/completions",
    body: {
      model: "m",
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: "user", content: "q" }],
    },
  },
  "openai-responses": { path: "/v1/responses", body: { model: "m", stream: true, input: "q" } },
  anthropic: {
    path: "/v1/messages",
    body: { model: "m", stream: true, max_tokens: 500, messages: [{ role: "user", content: "q" }] },
  },
  gemini: {
    path: "/v1beta/models/m:streamGenerateContent?alt=sse",
    body: { contents: [{ role: "user", parts: [{ text: "q" }] }] },
  },
};

/** How a stream may end: with the final frame of its dialect, or with its error. */
const ends: Readonly<Record<DialectKey, RegExp>> = {
  "openai-chat": /data: (\[DONE\]|\{"error":\{[^\n]+)\n\n$/,
  "openai-responses": /event: (response\.(completed|incomplete|failed)|error)\ndata: [^\n]+\n\n$/,
  anthropic: /event: (message_stop|error)\ndata: [^\n]+\n\n$/,
  gemini: /data: [^\n]*("finishReason"|"blockReason"|"error":\{)[^\n]*\n\n$/,
};

const BALANCE = 1_000_000;

interface Outcome {
  status: number;
  text: string;
  quota: number;
  end_reason: string;
  bench: Bench;
}

/** One call whose upstream sends these chunks and then ends, or loses its connection. */
async function run(from: DialectKey, caller: DialectKey, pieces: Iterable<Uint8Array>, cut = false): Promise<Outcome> {
  const time = new VirtualTime();
  const fetch = async (): Promise<Response> => {
    const left = [...pieces][Symbol.iterator]();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        const { done, value } = left.next();
        if (!done) controller.enqueue(value);
        else if (cut) controller.error(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
        else controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const bench = makeBench([makeChannel(1, "http://upstream.test", { type: types[from] })], {
    now: time.now,
    timers: time.timers,
    fetch,
  });
  const { path, body } = calls[caller];
  const response = await bench.send(path, body);
  const text = await response.text();
  await bench.quiet();
  // Nothing is left open: no hold, no timer, every unit accounted for, one row.
  expect([bench.ledger.holds.size, time.waiting, bench.relay.stats.open_streams]).toEqual([0, 0, 0]);
  expect(bench.ledger.balance + bench.ledger.charged).toBe(BALANCE);
  expect(bench.ledger.settlements.length + bench.failures.length).toBe(1);
  const row = bench.ledger.settlements[0]?.log ?? bench.failures[0];
  if (response.status === 200) expect(text).toMatch(ends[caller]);
  else expect([response.status >= 400, bench.ledger.charged, JSON.parse(text)]).toMatchObject([true, 0, { error: {} }]);
  return { status: response.status, text, quota: bench.ledger.charged, end_reason: row?.end_reason ?? "", bench };
}

const foreign = (dialect: DialectKey): DialectKey[] => dialectKeys.filter((key) => key !== dialect);

/** A small seeded random generator. */
function* cutAtRandom(bytes: Uint8Array, seed: number): Generator<Uint8Array> {
  let state = seed;
  for (let at = 0; at < bytes.length;) {
    state = (state * 48_271) % 2_147_483_647;
    const end = at + 1 + (state % 300);
    yield bytes.subarray(at, end);
    at = end;
  }
}

function* singly(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1);
}

describe("however the network splits a stream, the caller reads and pays the same", () => {
  for (const { dialect, name, bytes } of fixtures) {
    test(`${dialect} ${name}`, async () => {
      for (const caller of foreign(dialect)) {
        const whole = await run(dialect, caller, [bytes]);
        const same = async (pieces: Iterable<Uint8Array>): Promise<void> => {
          const { status, text, quota, end_reason } = await run(dialect, caller, pieces);
          expect({ status, text, quota, end_reason }).toEqual({
            status: whole.status,
            text: whole.text,
            quota: whole.quota,
            end_reason: whole.end_reason,
          });
        };
        await same(singly(bytes));
        // With three callers for each recording: 201 splits.
        for (let seed = 1; seed <= 67; seed++) await same(cutAtRandom(bytes, seed));
      }
    }, 60_000);
  }
});

/** The shortest complete recording of each dialect. */
const short = dialectKeys.flatMap((dialect) =>
  fixtures.filter((fixture) => fixture.dialect === dialect && fixture.name === "text"),
);

/** The end of the last frame with usage in these recordings. */
const LAST_USAGE: Readonly<Record<DialectKey, string>> = {
  "openai-chat": "data: [DONE]",
  "openai-responses": "\n\n",
  anthropic: "event: message_stop",
  gemini: "\n\n",
};

describe("a stream that breaks anywhere has a clear end and the right bill", () => {
  for (const { dialect, bytes } of short) {
    for (const cut of [false, true]) {
      test(`${dialect}, ${cut ? "connection lost" : "closed"} after every byte`, async () => {
        const callers = foreign(dialect);
        const complete = await Promise.all(callers.map((caller) => run(dialect, caller, [bytes])));
        const seen = new Set<string>();
        for (let at = 0; at < bytes.length; at++) {
          const which = at % callers.length;
          const { status, end_reason, quota } = await run(
            dialect,
            callers[which] ?? "gemini",
            [bytes.subarray(0, at)],
            cut,
          );
          seen.add(end_reason);
          if (status !== 200) expect(quota).toBe(0);
          // Reported usage is billed; a stream that ended before its usage is estimated.
          const bill = complete[which]?.quota ?? -1;
          if (end_reason === "complete" && at > bytes.lastIndexOf(Buffer.from(LAST_USAGE[dialect])))
            expect(quota).toBe(bill);
          else if (end_reason === "complete") expect(quota).toBeGreaterThan(0);
        }
        expect([...seen]).toContain("upstream_cut");
      }, 60_000);
    }
  }
});

describe("odd streams, to every caller of another dialect", () => {
  const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  const delta = (part: object): string => frame({ choices: [{ index: 0, delta: part, finish_reason: null }] });
  const finish = (reason: string): string => frame({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
  const usage = frame({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } });
  const good = `${delta({ role: "assistant", content: "héllo 你好 🙂" })}${delta({ content: " world" })}${finish("stop")}${usage}data: [DONE]\n\n`;
  const callers = foreign("openai-chat");
  const each = async (
    stream: string | Uint8Array[],
    check: (outcome: Outcome, caller: DialectKey) => void | Promise<void>,
  ): Promise<void> => {
    for (const caller of callers) {
      await check(
        await run("openai-chat", caller, typeof stream === "string" ? [Buffer.from(stream)] : stream),
        caller,
      );
    }
  };

  test("CRLF, CR, comments, empty data, event names and several lines of data are the same stream", async () => {
    const spread = good.replace('"delta":{"content":" world"', '"delta":\ndata: {"content":" world"');
    expect(spread).not.toBe(good);
    const same = [
      good.replaceAll("\n", "\r\n"),
      good.replaceAll("\n", "\r"),
      good.replaceAll("data: ", ": ping\n\ndata:\n\nevent: message\nid: 7\nretry: 10\ndata: "),
      good.replaceAll("data: ", "data:"),
      spread,
      `\uFEFF${good}`,
    ];
    for (const caller of callers) {
      const plain = await run("openai-chat", caller, [Buffer.from(good)]);
      expect([plain.quota, plain.end_reason]).toEqual([200, "complete"]);
      for (const stream of same) {
        const { text, quota, end_reason } = await run("openai-chat", caller, [Buffer.from(stream)]);
        expect({ text, quota, end_reason }).toEqual({ text: plain.text, quota: 200, end_reason: "complete" });
      }
    }
  });

  test("half a character at the end of a broken stream is not part of the answer", async () => {
    const bytes = Buffer.from(good);
    const at = bytes.indexOf(Buffer.from("🙂"));
    for (const end of [at + 1, at + 2, at + 3]) {
      for (const caller of callers) {
        const { text, end_reason } = await run("openai-chat", caller, [bytes.subarray(0, end)]);
        expect(text).not.toContain("\uFFFD");
        expect(end_reason).toMatch(/^upstream_(cut|error)$/);
      }
    }
    const started = Buffer.concat([Buffer.from(delta({ role: "assistant", content: "a" })), bytes.subarray(0, at + 2)]);
    await each([started], ({ text, quota }) => {
      expect(text).not.toContain("\uFFFD");
      expect(quota).toBeGreaterThan(0);
    });
  });

  test("a line of 16 MB is refused long before it is read, before the content and after it", async () => {
    const line = (): Uint8Array[] => Array.from({ length: 256 }, () => Buffer.alloc(64 << 10, "x"));
    await each([Buffer.from("data: "), ...line()], ({ status, end_reason }) => {
      expect([status, end_reason]).toEqual([502, "upstream_error"]);
    });
    await each(
      [Buffer.from(delta({ role: "assistant", content: "hello there" })), Buffer.from("data: "), ...line()],
      ({ status, quota, text }) => {
        expect(status).toBe(200);
        expect(text.length).toBeLessThan(20_000);
        expect(quota).toBeGreaterThan(0);
      },
    );
  });

  test("an error inside a 200, an HTML page and malformed frames are errors, and cost nothing before the content", async () => {
    const error = { error: { message: "the engine is overloaded", type: "overloaded_error", code: "overloaded" } };
    for (const stream of [
      frame(error),
      `event: error\n${frame(error)}`,
      "<!doctype html><html><body>502</body></html>",
      "data: <html>\n\n",
      "data: 5\n\n",
      "",
    ]) {
      await each(stream, ({ status, quota }) => expect([status >= 500, quota]).toEqual([true, 0]));
    }
    const begun = delta({ role: "assistant", content: "hello there my friend" });
    for (const tail of [frame(error), "data: <html>\n\n", ""]) {
      await each(begun + tail, ({ status, quota, end_reason }) => {
        expect(status).toBe(200);
        expect(quota).toBeGreaterThan(0);
        expect(end_reason).not.toBe("complete");
      });
      // Usage received before the break is billed.
      await each(begun + usage + tail, ({ quota }) => expect(quota).toBe(200));
    }
  });

  test("a tool call whose JSON never closes ends as its upstream ended it, at the price of its usage", async () => {
    const call = (args: string): string =>
      delta({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: { name: "f", arguments: args } }] });
    const open = `${call('{"city":"Par')}${finish("tool_calls")}${usage}data: [DONE]\n\n`;
    await each(open, ({ status, quota, end_reason }) =>
      expect([status, quota, end_reason]).toEqual([200, 200, "complete"]),
    );
    await each(call('{"city":"Par'), ({ quota, end_reason }) => {
      expect(end_reason).toBe("upstream_cut");
      expect(quota).toBeGreaterThan(0);
    });
  });
});
