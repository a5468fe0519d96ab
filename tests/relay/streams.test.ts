/** Streams in virtual time: retry boundaries, four timeouts, pings, the final frame, callers who disconnect. */
import { describe, expect, test } from "bun:test";
import {
  type Bench,
  chatBody,
  frames,
  makeBench,
  makeChannel,
  pieces,
  scripted,
  type ScriptedStream,
  VirtualTime,
} from "./kit";

const path = "/v1/chat/completions";
const body = chatBody("gpt-4o", { stream: true });

interface Stage {
  bench: Bench;
  time: VirtualTime;
  /** The streams that the relay has opened, in order. */
  opened: ScriptedStream[];
}

/** A relay with two channels whose upstream does nothing by default. */
function stage(kind: "stream" | "hang" = "stream", channels = 2): Stage {
  const time = new VirtualTime();
  const opened: ScriptedStream[] = [];
  const fetch = scripted((stream) => {
    opened.push(stream);
    return kind === "hang" ? "hang" : undefined;
  });
  const all = Array.from({ length: channels }, (_, index) =>
    makeChannel(index + 1, "http://up.test", { priority: -index }),
  );
  const bench = makeBench(all, { now: time.now, timers: time.timers, fetch, reachable: async () => true });
  return { bench, time, opened };
}

const stream = (staged: Stage, index = 0): ScriptedStream => {
  const found = staged.opened[index];
  if (!found) throw new Error(`no upstream request ${index}`);
  return found;
};

const lastLog = ({ bench }: Stage) => bench.ledger.settlements.at(-1)?.log;

/** Every hold ended once, nothing is held and no unit is lost. */
function booksBalance({ bench: { ledger } }: Stage): void {
  expect([...ledger.ends.values()].every((ends) => ends.length === 1)).toBe(true);
  expect(ledger.holds.size).toBe(0);
  expect(ledger.balance + ledger.charged).toBe(1_000_000);
}

describe("head and answer", () => {
  test("the head is sent with the first content and includes the preamble", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    let answered = false;
    void sent.then(() => (answered = true));
    await staged.time.settle();
    stream(staged).write(frames.role);
    await staged.time.settle();
    expect(answered).toBe(false);
    stream(staged).write(frames.text("a"));
    const answer = pieces(await sent);
    expect(await answer.next()).toBe(frames.role + frames.text("a"));
    stream(staged).write(frames.finish + frames.usage(3, 4) + frames.done);
    expect(await answer.rest()).toBe(frames.finish + frames.done);
    expect(lastLog(staged)).toMatchObject({
      end_reason: "complete",
      quota: 11,
      prompt_tokens: 3,
      completion_tokens: 4,
    });
    booksBalance(staged);
  });

  test("a failure before the first content is retried on another channel, unseen by the caller", async () => {
    const staged = stage();
    staged.bench.options.retryTimes = 1;
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.role);
    await staged.time.settle();
    stream(staged).cut();
    await staged.time.settle();
    stream(staged, 1).write(frames.text("b") + frames.finish + frames.done);
    expect(await pieces(await sent).rest()).toBe(frames.text("b") + frames.finish + frames.done);
    const other = JSON.parse(lastLog(staged)?.other ?? "{}");
    expect(other.admin_info.use_channel).toEqual(["1", "2"]);
    expect(other.admin_info.attempts.map((attempt: { failure: string }) => attempt.failure)).toEqual(["cut", ""]);
    booksBalance(staged);
  });

  test("after PingAfter the head is sent with a comment, and another channel may still answer", async () => {
    const staged = stage();
    staged.bench.options.retryTimes = 1;
    const sent = staged.bench.send(path, body);
    await staged.time.advance(15_000);
    const response = await sent;
    expect(response.status).toBe(200);
    const answer = pieces(response);
    expect(await answer.next()).toBe(": ping\n\n");
    const second = answer.next();
    await staged.time.advance(15_000);
    expect(await second).toBe(": ping\n\n");
    const third = answer.next();
    stream(staged).cut();
    await staged.time.settle();
    stream(staged, 1).write(frames.text("c") + frames.finish + frames.usage(1, 1) + frames.done);
    expect(await third).toBe(frames.text("c") + frames.finish);
    expect(await answer.rest()).toBe(frames.done);
    booksBalance(staged);
  });

  test("a final failure after the head is the dialect's error event, without [DONE], and nothing is charged", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.advance(15_000);
    const answer = pieces(await sent);
    stream(staged).cut();
    const text = await answer.rest();
    expect(text).toStartWith(": ping\n\n");
    expect(text).toContain(`"code":"upstream_cut"`);
    expect(text).not.toContain("[DONE]");
    expect(staged.bench.failures).toMatchObject([{ end_reason: "upstream_cut" }]);
    booksBalance(staged);
  });

  test("after the first content there is no retry: an upstream that breaks ends the answer with an error event", async () => {
    const staged = stage();
    staged.bench.options.retryTimes = 5;
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc"));
    const answer = pieces(await sent);
    expect(await answer.next()).toBe(frames.text("abc"));
    stream(staged).cut();
    const text = await answer.rest();
    expect(text).toContain(`"code":"upstream_cut"`);
    expect(text).not.toContain("[DONE]");
    expect(staged.opened.length).toBe(1);
    expect(lastLog(staged)?.end_reason).toBe("upstream_cut");
    expect(JSON.parse(lastLog(staged)?.other ?? "{}").estimated).toBe(true);
    booksBalance(staged);
  });

  test("usage received before the break is billed, not an estimate", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc") + frames.usage(7, 2));
    const answer = pieces(await sent);
    await answer.next();
    stream(staged).cut();
    await answer.rest();
    expect(lastLog(staged)).toMatchObject({ quota: 11, prompt_tokens: 7, completion_tokens: 2 });
    booksBalance(staged);
  });
});

describe("timeouts", () => {
  test("an upstream that hangs before the headers is left after the first-byte limit; another channel answers", async () => {
    const staged = stage("hang");
    Object.assign(staged.bench.options, { retryTimes: 1, attemptBudgetMs: 200_000, pingAfterMs: 0 });
    const sent = staged.bench.send(path, body);
    await staged.time.advance(120_000);
    expect(staged.opened.length).toBe(2);
    expect(stream(staged).aborted).toBe(true);
    await staged.time.advance(120_000);
    const response = await sent;
    expect(response.status).toBe(504);
    expect(staged.bench.failures[0]).toMatchObject({ end_reason: "idle_timeout" });
    booksBalance(staged);
    expect(staged.time.waiting).toBe(0);
  });

  test("an upstream that hangs after the headers is left after the first-byte limit", async () => {
    const staged = stage();
    staged.bench.options.pingAfterMs = 0;
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.role);
    await staged.time.advance(119_999);
    expect(stream(staged).aborted).toBe(false);
    await staged.time.advance(1);
    expect((await sent).status).toBe(504);
    booksBalance(staged);
  });

  test("an upstream that hangs inside a frame is left after the idle limit, with an error event", async () => {
    const staged = stage();
    staged.bench.options.pingAfterMs = 0;
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc") + 'data: {"cho');
    const answer = pieces(await sent);
    expect(await answer.next()).toBe(frames.text("abc"));
    const rest = answer.rest();
    await staged.time.advance(120_000);
    const text = await rest;
    expect(text).toStartWith('data: {"error"');
    expect(text).toContain(`"code":"upstream_timeout"`);
    expect(text).not.toContain("[DONE]");
    expect(lastLog(staged)?.end_reason).toBe("idle_timeout");
    booksBalance(staged);
    expect(staged.time.waiting).toBe(0);
  });

  test("an upstream that never closes after its final frame does not delay the caller", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc") + frames.finish + frames.usage(3, 4) + frames.done);
    expect(await pieces(await sent).rest()).toEndWith(frames.done);
    expect(stream(staged).aborted).toBe(false);
    await staged.time.advance(1_000);
    expect(stream(staged).aborted).toBe(true);
    expect(staged.time.waiting).toBe(0);
    booksBalance(staged);
  });

  test("an upstream that hangs after its finish reason gave a complete answer", async () => {
    const staged = stage();
    staged.bench.options.pingAfterMs = 0;
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc") + frames.finish);
    const rest = pieces(await sent).rest();
    await staged.time.advance(120_000);
    expect(await rest).toBe(frames.text("abc") + frames.finish + frames.done);
    expect(lastLog(staged)?.end_reason).toBe("complete");
    booksBalance(staged);
  });

  test("the total limit ends a stream that never pauses", async () => {
    const staged = stage();
    Object.assign(staged.bench.options, { totalTimeoutMs: 10_000, pingAfterMs: 0 });
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc"));
    const answer = pieces(await sent);
    await answer.next();
    const rest = answer.rest();
    for (let second = 0; second < 10; second++) {
      if (!stream(staged).aborted) stream(staged).write(frames.text("x"));
      await staged.time.advance(1_000);
    }
    expect(await rest).toContain(`"code":"upstream_timeout"`);
    booksBalance(staged);
  });

  test("a host that accepts no connection is abandoned after the connect limit", async () => {
    const staged = stage("hang", 1);
    const bench = makeBench(staged.bench.channels, {
      now: staged.time.now,
      timers: staged.time.timers,
      fetch: scripted(() => "hang"),
      reachable: async () => false,
    });
    const sent = bench.send(path, chatBody("gpt-4o"));
    await staged.time.advance(10_000);
    expect((await sent).status).toBe(502);
    expect(JSON.parse(bench.failures[0]?.other ?? "{}").admin_info.attempts[0].failure).toBe("unreachable");
  });

  test("a slow caller does not time out the upstream", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc"));
    const answer = pieces(await sent);
    expect(await answer.next()).toBe(frames.text("abc"));
    await staged.time.advance(600_000);
    expect(stream(staged).aborted).toBe(false);
    stream(staged).write(frames.finish + frames.done);
    expect(await answer.rest()).toBe(frames.finish + frames.done);
    booksBalance(staged);
  });

  test("pings fall between frames while the upstream is silent", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc") + 'data: {"choices"');
    const answer = pieces(await sent);
    expect(await answer.next()).toBe(frames.text("abc"));
    const ping = answer.next();
    await staged.time.advance(15_000);
    expect(await ping).toBe(": ping\n\n");
    stream(staged).write(':[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n' + frames.done);
    expect(await answer.rest()).toBe(frames.finish + frames.done);
    booksBalance(staged);
  });
});

describe("the final frame", () => {
  test("it is held back until the charge is committed", async () => {
    const staged = stage();
    let open: () => void = () => undefined;
    staged.bench.ledger.gate = new Promise((resolve) => (open = resolve));
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("a"));
    const answer = pieces(await sent);
    await answer.next();
    stream(staged).write(frames.finish + frames.usage(1, 1) + frames.done);
    expect(await answer.next()).toBe(frames.finish);
    let last: string | undefined;
    const rest = answer.rest().then((text) => (last = text));
    await staged.time.advance(4_999);
    expect(last).toBeUndefined();
    open();
    await rest;
    expect(last).toBe(frames.done);
    booksBalance(staged);
  });

  test("after five seconds the answer ends anyway; by then the settle is stored for a retry, and the hold has its final cost for a sweep", async () => {
    const staged = stage();
    staged.bench.ledger.gate = new Promise(() => undefined);
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("a"));
    const answer = pieces(await sent);
    await answer.next();
    stream(staged).write(frames.finish + frames.usage(3, 4) + frames.done);
    expect(await answer.next()).toBe(frames.finish);
    const rest = answer.rest();
    await staged.time.advance(5_000);
    expect(await rest).toBe(frames.done);
    expect(staged.bench.relay.stats.late_settles).toBe(1);
    expect(staged.bench.ledger.holds.get("req-1")?.running).toBe(11);
    expect(staged.bench.ledger.late).toMatchObject([{ settle: { request_id: "req-1", quota: 11 } }]);
  });

  test("where the settle fails, the final frame waits until it is stored", async () => {
    const staged = stage();
    staged.bench.ledger.gate = Promise.reject(new Error("away"));
    staged.bench.ledger.gate.catch(() => undefined);
    const kept = Promise.withResolvers<void>();
    staged.bench.ledger.keeping = kept.promise;
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("a"));
    const answer = pieces(await sent);
    await answer.next();
    stream(staged).write(frames.finish + frames.usage(3, 4) + frames.done);
    expect(await answer.next()).toBe(frames.finish);
    let last: string | undefined;
    const rest = answer.rest().then((text) => (last = text));
    await staged.time.settle();
    expect([last, staged.bench.ledger.late.length]).toEqual([undefined, 1]);
    kept.resolve();
    await rest;
    expect(last).toBe(frames.done);
    await staged.time.advance(10_000);
    expect([staged.time.waiting, staged.bench.relay.stats.late_settles]).toEqual([0, 1]);
  });

  test("the usage frame is sent only on request", async () => {
    for (const asked of [true, false]) {
      const staged = stage();
      const sent = staged.bench.send(path, { ...body, ...(asked && { stream_options: { include_usage: true } }) });
      await staged.time.settle();
      stream(staged).write(frames.text("a") + frames.finish + frames.usage(3, 4) + frames.done);
      const text = await pieces(await sent).rest();
      expect(text).toBe(frames.text("a") + frames.finish + (asked ? frames.usage(3, 4) : "") + frames.done);
      booksBalance(staged);
    }
  });
});

describe("a caller who disconnects", () => {
  test("the upstream is drained for its usage, and that is the bill", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc"));
    const answer = pieces(await sent);
    await answer.next();
    await answer.leave();
    stream(staged).write(frames.text("more") + frames.finish + frames.usage(3, 4) + frames.done);
    await staged.bench.quiet();
    expect(lastLog(staged)).toMatchObject({ quota: 11 });
    booksBalance(staged);
  });

  test("after five seconds of draining the upstream is cut, and what was generated is estimated", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abcdef"));
    const answer = pieces(await sent);
    await answer.next();
    await answer.leave();
    await staged.time.advance(4_999);
    expect(stream(staged).aborted).toBe(false);
    await staged.time.advance(1);
    expect(stream(staged).aborted).toBe(true);
    expect(lastLog(staged)).toMatchObject({ end_reason: "caller_left", completion_tokens: 2 });
    booksBalance(staged);
    expect(staged.time.waiting).toBe(0);
  });

  test("after two thousand tokens of draining the upstream is cut", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abcdef"));
    const answer = pieces(await sent);
    await answer.next();
    await answer.leave();
    for (let i = 0; i < 7; i++) {
      stream(staged).write(frames.text("x".repeat(1000)));
      await staged.time.settle();
    }
    expect(stream(staged).aborted).toBe(true);
    expect(lastLog(staged)?.end_reason).toBe("caller_left");
    booksBalance(staged);
  });

  test("after the finish reason the answer is complete", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("abc") + frames.finish);
    const answer = pieces(await sent);
    await answer.next();
    await answer.leave();
    stream(staged).write(frames.usage(3, 4) + frames.done);
    await staged.bench.quiet();
    expect(lastLog(staged)).toMatchObject({ end_reason: "complete", quota: 11 });
    booksBalance(staged);
  });

  test("before any content nothing is charged", async () => {
    const staged = stage();
    const abort = new AbortController();
    const sent = staged.bench.send(path, body, { signal: abort.signal });
    await staged.time.settle();
    abort.abort();
    await staged.time.advance(5_000);
    await sent;
    expect(stream(staged).aborted).toBe(true);
    expect(staged.bench.failures).toMatchObject([{ end_reason: "caller_left" }]);
    booksBalance(staged);
    expect(staged.time.waiting).toBe(0);
  });

  test("after the head but before any content nothing is charged either", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.advance(15_000);
    const answer = pieces(await sent);
    await answer.next();
    await answer.leave();
    await staged.time.advance(5_000);
    await staged.bench.quiet();
    expect(staged.bench.failures).toMatchObject([{ end_reason: "caller_left" }]);
    booksBalance(staged);
    expect(staged.time.waiting).toBe(0);
  });
});

describe("money while a stream runs", () => {
  test("the hold is extended at half use, in doubling steps, while frames continue", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("a"));
    const answer = pieces(await sent);
    await answer.next();
    for (let i = 0; i < 9; i++) {
      stream(staged).write(frames.text("x".repeat(300)));
      expect(await answer.next()).toBe(frames.text("x".repeat(300)));
    }
    await staged.time.settle();
    // 500 tokens are held; 250 used extend it by 1000 at 2 units each, 750 by 2000 more.
    expect(staged.bench.ledger.extends.map(({ amount, granted }) => [amount, granted])).toEqual([
      [2000, true],
      [4000, true],
    ]);
    stream(staged).write(frames.finish + frames.usage(10, 901) + frames.done);
    await answer.rest();
    expect(lastLog(staged)?.quota).toBe(10 + 2 * 901);
    booksBalance(staged);
  });

  test("a refused extend cuts the stream only when it is used up, between frames, with the quota error", async () => {
    const staged = stage();
    staged.bench.ledger.balance = 1_200;
    const sent = staged.bench.send(path, body);
    await staged.time.settle();
    stream(staged).write(frames.text("a"));
    const answer = pieces(await sent);
    let text = (await answer.next()) ?? "";
    let written = 0;
    while (!stream(staged).aborted && written < 20) {
      stream(staged).write(frames.text("x".repeat(300)));
      written++;
      text += (await answer.next()) ?? "";
    }
    text += await answer.rest();
    // 500 tokens of 3 bytes: the fifth frame of 300 bytes uses them up.
    expect(written).toBe(5);
    expect(text).toContain(`"code":"insufficient_quota"`);
    expect(text).not.toContain("[DONE]");
    expect(lastLog(staged)?.end_reason).toBe("out_of_quota");
    expect(staged.bench.ledger.balance).toBeGreaterThanOrEqual(0);
    expect(staged.bench.ledger.balance + staged.bench.ledger.charged).toBe(1_200);
  });

  test("what max_tokens allows is all that is ever held", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, { ...body, max_tokens: 100 });
    await staged.time.settle();
    stream(staged).write(frames.text("x".repeat(2_000)) + frames.finish + frames.usage(5, 100) + frames.done);
    await pieces(await sent).rest();
    expect(staged.bench.ledger.extends).toEqual([]);
    booksBalance(staged);
  });

  test("a price per call is what a sweep would charge before the head is sent, and the final charge", async () => {
    const staged = stage();
    const sent = staged.bench.send(path, { ...body, model: "percall" });
    await staged.time.settle();
    stream(staged).write(frames.text("a"));
    const answer = pieces(await sent);
    await answer.next();
    expect(staged.bench.ledger.holds.get("req-1")).toEqual({ amount: 100, running: 100 });
    stream(staged).write(frames.finish + frames.usage(5, 100) + frames.done);
    await answer.rest();
    expect(lastLog(staged)).toMatchObject({ quota: 100, prompt_tokens: 5, completion_tokens: 100 });
    booksBalance(staged);
  });
});
