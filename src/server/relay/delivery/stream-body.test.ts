import { describe, expect, test } from "bun:test";
import { FRAME_LIMIT } from "../../lib/sse";
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
} from "../../../../tests/relay/kit";

const path = "/v1/chat/completions";
const body = chatBody("gpt-4o", { stream: true });

interface Stage {
  bench: Bench;
  time: VirtualTime;
  upstream: ScriptedStream;
  answer: ReturnType<typeof pieces>;
}

/** A stream whose first frames have arrived and were read. */
async function begun(first: string, setting = {}, [to, asked]: [string, object] = [path, body]): Promise<Stage> {
  const time = new VirtualTime();
  let opened: ScriptedStream | undefined;
  const fetch = scripted((stream) => void (opened = stream));
  const bench = makeBench([makeChannel(1, "http://up.test", { setting })], {
    now: time.now,
    timers: time.timers,
    fetch,
    reachable: async () => true,
  });
  const sent = bench.send(to, asked);
  await time.settle();
  if (!opened) throw new Error("the upstream was not asked");
  opened.write(first);
  const answer = pieces(await sent);
  expect(await answer.next()).toBeDefined();
  return { bench, time, upstream: opened, answer };
}

describe("a caller who leaves", () => {
  test("when usage and finish are known already, the upstream is cut at once", async () => {
    const { bench, time, upstream, answer } = await begun(frames.text("abc") + frames.finish + frames.usage(3, 4));
    await answer.leave();
    await time.settle();
    expect(upstream.aborted).toBe(true);
    expect(bench.ledger.settlements[0]?.log).toMatchObject({ end_reason: "complete", quota: 11 });
    expect(time.waiting).toBe(0);
  });

  test("when only one of the two is known, the upstream is drained for the other", async () => {
    for (const [first, then] of [
      [frames.finish, frames.usage(3, 4)],
      [frames.usage(3, 4), frames.finish],
    ] as const) {
      const { bench, time, upstream, answer } = await begun(frames.text("abc") + first);
      await answer.leave();
      await time.settle();
      expect(upstream.aborted).toBe(false);
      upstream.write(then + frames.done);
      await bench.quiet();
      expect(bench.ledger.settlements[0]?.log).toMatchObject({ end_reason: "complete", quota: 11 });
    }
  });

  test("when the channel does not drain, the upstream is cut at once and the content so far is charged", async () => {
    const { bench, time, upstream, answer } = await begun(frames.text("abcdef"), { on_disconnect: "cut" });
    await answer.leave();
    await time.settle();
    expect(upstream.aborted).toBe(true);
    expect(bench.ledger.settlements[0]?.log).toMatchObject({ end_reason: "caller_left", completion_tokens: 2 });
  });
});

const lastLog = ({ bench }: Stage) => bench.ledger.settlements[0]?.log;

describe("a process that ends", () => {
  test("ends a stream with its content so far: charged, with an error event and without the last event", async () => {
    const stage = await begun(frames.text("abcdef"));
    const rest = stage.answer.rest();
    await stage.time.settle();
    const stopped = stage.bench.relay.stop(0);
    await stage.time.advance(0);
    await stopped;
    expect(await rest).toContain(`"code":"draining"`);
    expect(stage.upstream.aborted).toBe(true);
    expect(lastLog(stage)).toMatchObject({ end_reason: "gateway_restart" });
    expect(stage.bench.ledger.holds.size).toBe(0);
  });

  test("lets a stream end normally within its grace time, and waits until it is charged", async () => {
    const stage = await begun(frames.text("abc"));
    let stopped = false;
    void stage.bench.relay.stop(30_000).then(() => (stopped = true));
    await stage.time.advance(20_000);
    expect([stopped, stage.upstream.aborted]).toEqual([false, false]);
    stage.upstream.write(frames.finish + frames.usage(3, 4) + frames.done);
    expect(await stage.answer.rest()).toEndWith(frames.done);
    await stage.time.settle();
    expect(stopped).toBe(true);
    expect(lastLog(stage)).toMatchObject({ end_reason: "complete", quota: 11 });
  });

  test("ends a stream without content for free; content that comes after is not read", async () => {
    const time = new VirtualTime();
    let opened: ScriptedStream | undefined;
    const bench = makeBench([makeChannel(1, "http://up.test")], {
      now: time.now,
      timers: time.timers,
      fetch: scripted((stream) => void (opened = stream)),
      reachable: async () => true,
    });
    const sent = bench.send(path, body);
    await time.advance(15_000);
    const answer = pieces(await sent);
    expect(await answer.next()).toBe(": ping\n\n");
    const rest = answer.rest();
    const stopped = bench.relay.stop(0);
    await time.advance(0);
    await stopped;
    expect(await rest).toContain(`"code":`);
    expect(bench.failures).toMatchObject([{ end_reason: "gateway_restart" }]);
    expect([bench.ledger.charged, bench.ledger.holds.size]).toEqual([0, 0]);
    opened?.write(frames.text("late"));
    await time.settle();
    expect(opened?.aborted).toBe(true);
  });
});

test("the outcome of the attempts does not wait for a caller who is not reading", async () => {
  const time = new VirtualTime();
  let opened: ScriptedStream | undefined;
  const bench = makeBench([makeChannel(1, "http://up.test")], {
    now: time.now,
    timers: time.timers,
    fetch: scripted((stream) => void (opened = stream)),
    reachable: async () => true,
  });
  const sent = bench.send(path, body);
  await time.advance(15_000);
  expect((await sent).status).toBe(200);
  opened?.cut();
  await time.settle();
  expect(bench.failures).toMatchObject([{ end_reason: "upstream_cut" }]);
  expect(bench.ledger.holds.size).toBe(0);
});

describe("while a stream runs", () => {
  test("each read restarts the wait for the next one", async () => {
    const stage = await begun(frames.text("a"));
    const rest = stage.answer.rest();
    for (let times = 0; times < 3; times++) {
      await stage.time.advance(100_000);
      expect(stage.upstream.aborted).toBe(false);
      stage.upstream.write(frames.text("b"));
      await stage.time.settle();
    }
    await stage.time.advance(120_000);
    expect(stage.upstream.aborted).toBe(true);
    expect(await rest).toContain(`"code":"upstream_timeout"`);
  });

  test("a read without anything for the caller does not count as a part of the response", async () => {
    const stage = await begun(frames.text("a"));
    const next = stage.answer.next();
    stage.upstream.write(frames.usage(3, 1));
    await stage.time.settle();
    stage.upstream.write(frames.text("b"));
    expect(await next).toBe(frames.text("b"));
  });

  test("a frame that never ends is an upstream's failure: an error event, a charge for the content so far, and the upstream is cut", async () => {
    const stage = await begun(frames.text("abcdef"));
    const rest = stage.answer.rest();
    stage.upstream.write(`data: "${"x".repeat(FRAME_LIMIT)}`);
    expect(await rest).toContain(`"code":"upstream_malformed"`);
    expect(lastLog(stage)).toMatchObject({ end_reason: "upstream_error", completion_tokens: 2 });
    expect(stage.upstream.aborted).toBe(true);
    expect(stage.time.waiting).toBe(0);
  });

  test("an upstream that ends its body without a last event counts as cut short", async () => {
    const stage = await begun(frames.text("abcdef"));
    const last = stage.answer.next();
    stage.upstream.end();
    expect(await last).toContain(`"code":"upstream_cut"`);
    expect(await stage.answer.next()).toBeUndefined();
    expect(lastLog(stage)).toMatchObject({ end_reason: "upstream_cut" });
  });

  test("an upstream that is silent after its last event is released after a second, not before", async () => {
    const stage = await begun(frames.text("abc"));
    stage.upstream.write(frames.finish + frames.usage(3, 4) + frames.done);
    expect(await stage.answer.rest()).toEndWith(frames.done);
    await stage.time.advance(999);
    expect(stage.upstream.aborted).toBe(false);
    await stage.time.advance(1);
    expect(stage.upstream.aborted).toBe(true);
  });

  test("an upstream that sends more after its last event is cut", async () => {
    const stage = await begun(frames.text("abc"));
    stage.upstream.write(frames.finish + frames.usage(3, 4) + frames.done);
    expect(await stage.answer.rest()).toEndWith(frames.done);
    stage.upstream.write(frames.text("more"));
    await stage.time.settle();
    expect([stage.upstream.aborted, stage.time.waiting]).toEqual([true, 0]);
  });

  test("an upstream that ends its body after its last event keeps its connection", async () => {
    const stage = await begun(frames.text("abc"));
    stage.upstream.write(frames.finish + frames.usage(3, 4) + frames.done);
    expect(await stage.answer.rest()).toEndWith(frames.done);
    stage.upstream.end();
    await stage.time.settle();
    expect(stage.time.waiting).toBe(0);
    await stage.time.advance(5_000);
    expect(stage.upstream.aborted).toBe(false);
  });

  test("the rest of a translation at the end of the body is sent before the last event", async () => {
    const asked = { model: "gpt-4o", max_tokens: 50, stream: true, messages: [{ role: "user", content: "hi" }] };
    const stage = await begun(frames.role + frames.text("abc"), {}, ["/v1/messages", asked]);
    const rest = stage.answer.rest();
    stage.upstream.write(frames.finish + frames.usage(3, 4));
    await stage.time.settle();
    stage.upstream.end();
    const text = await rest;
    expect(text).toContain("event: content_block_stop");
    expect(text).toContain("event: message_delta");
    expect(text.trimEnd()).toEndWith('data: {"type":"message_stop"}');
    expect(lastLog(stage)).toMatchObject({ end_reason: "complete", quota: 11 });
  });
});

test("pings come when the caller was sent nothing for the interval, counted from the last bytes", async () => {
  const { time, upstream, answer } = await begun(frames.text("a"), { ping_interval: 5 });
  const got: string[] = [];
  const wait = (): void => void answer.next().then((piece) => got.push(piece ?? ""));
  wait();
  await time.advance(3_000);
  upstream.write(frames.text("b"));
  await time.settle();
  expect(got).toEqual([frames.text("b")]);
  wait();
  await time.advance(4_000);
  expect(got).toHaveLength(1);
  await time.advance(1_500);
  expect(got[1]).toBe(": ping\n\n");
});

test("a frame that is none of the dialect's ends the answer as an error of the upstream, and the part before it is charged", async () => {
  const stage = await begun(frames.text("abcdef"));
  stage.upstream.write(`data: {"usage":{not json\n\n`);
  expect(await stage.answer.rest()).toContain(`"error"`);
  await stage.time.settle();
  expect(lastLog(stage)).toMatchObject({ end_reason: "upstream_error", completion_tokens: 2 });
});
