/**
 * Streamed responses: cut, silent, abandoned, slow, failing before their head; over a control plane in memory that
 * counts every unit.
 */
import { describe, expect, test } from "bun:test";
import type { EndReason } from "../../src/shared/log";
import { makeBench, makeChannel, pieces, scripted, type ScriptedStream, VirtualTime } from "./kit";

const SPEECH = "/v1/audio/speech";
const say = { model: "tts-1", voice: "alloy", input: "hello" };
const picture = { model: "gpt-image-1", prompt: "a fox", stream: true };
const usageEvent =
  'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"AAAA","usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}\n\n';

/** A relay whose upstream gives the next of `answers` to each call. */
function benchOf(answers: ((stream: ScriptedStream) => void)[], type = "audio/mpeg", time?: VirtualTime) {
  const channels = answers.map((_, i) => makeChannel(i + 1, `http://up${i + 1}.test`, { priority: -i }));
  const streams: ScriptedStream[] = [];
  const fetch = scripted((stream, { url }) => {
    streams.push(stream);
    answers[Number(/up(\d)/.exec(url)?.[1]) - 1]?.(stream);
  });
  const typed = async (url: string, init: BunFetchRequestInit): Promise<Response> =>
    new Response((await fetch(url, init)).body, { headers: { "content-type": type } });
  const bench = makeBench(channels, { fetch: typed, ...(time && { now: time.now, timers: time.timers }) });
  bench.options.retryTimes = answers.length - 1;
  return { bench, streams };
}

type Bench = ReturnType<typeof benchOf>["bench"];

/** One settle of this many units, one end, nothing held. */
function expectBooks({ ledger }: Bench, end_reason: EndReason, quota: number): void {
  expect(ledger.settlements.map(({ log, quota: charged }) => [log.end_reason, charged])).toEqual([[end_reason, quota]]);
  expect([...ledger.ends.values()]).toEqual([["settle"]]);
  expect(ledger.holds.size).toBe(0);
  expect(ledger.balance).toBe(1_000_000 - quota);
}

describe("audio", () => {
  test("is streamed while it is generated, and its end waits for the charge", async () => {
    const { bench, streams } = benchOf([(stream) => stream.write("one")]);
    let open = (): void => undefined;
    bench.ledger.gate = new Promise((resolve) => (open = resolve));
    const answer = await bench.send(SPEECH, say);
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("content-length")]).toEqual([
      200,
      "audio/mpeg",
      null,
    ]);
    // Before the head: the charge of a sweep if this process died now.
    expect([...bench.ledger.holds.values()]).toEqual([{ amount: 5, running: 5 }]);
    const read = pieces(answer);
    streams[0]?.write("two");
    expect(await read.next()).toBe("one");
    streams[0]?.end();
    const rest = read.rest();
    expect(await Promise.race([rest, Bun.sleep(50).then(() => "held back")])).toBe("held back");
    open();
    expect(await rest).toBe("two");
    expectBooks(bench, "complete", 5);
    await bench.quiet();
  });

  test("that the upstream cuts breaks the caller's connection and is charged, because its start was sent", async () => {
    const { bench, streams } = benchOf([(stream) => stream.write("one")]);
    const read = pieces(await bench.send(SPEECH, say));
    streams[0]?.write("two");
    expect(await read.next()).toBe("one");
    streams[0]?.cut();
    expect(
      await read.rest().then(
        () => "whole",
        () => "broken",
      ),
    ).toBe("broken");
    expectBooks(bench, "upstream_cut", 5);
    await bench.quiet();
  });

  test("whose upstream goes silent ends by the idle limit, and the upstream is aborted", async () => {
    const time = new VirtualTime();
    const { bench, streams } = benchOf([(stream) => stream.write("one")], "audio/mpeg", time);
    const waiting = bench.send(SPEECH, say);
    await time.settle();
    const rest = pieces(await waiting)
      .rest()
      .then(
        () => "whole",
        () => "broken",
      );
    await time.advance(130_000);
    expect(await rest).toBe("broken");
    expect(streams[0]?.aborted).toBe(true);
    expectBooks(bench, "idle_timeout", 5);
    expect(time.waiting).toBe(0);
  });

  test("whose caller disconnects aborts the upstream at once and is charged", async () => {
    const { bench, streams } = benchOf([(stream) => stream.write("one")]);
    const read = pieces(await bench.send(SPEECH, say));
    streams[0]?.write("two");
    await read.next();
    await read.leave();
    await bench.quiet();
    expect(streams[0]?.aborted).toBe(true);
    expectBooks(bench, "caller_left", 5);
  });

  test("that never begins is not retried, because it may have been generated; nothing is charged", async () => {
    const { bench } = benchOf([(stream) => stream.end(), (stream) => (stream.write("sound"), stream.end())]);
    expect((await bench.send(SPEECH, say)).status).toBe(502);
    expect(bench.ledger).toMatchObject({ balance: 1_000_000, charged: 0 });
    expect(JSON.parse(bench.failures[0]?.other ?? "{}")).toMatchObject({
      admin_info: { use_channel: ["1"], attempts: [{ not_retried: "may_be_accepted" }] },
    });
  });

  test("in a media type other than audio is an invalid answer: the hold is released", async () => {
    const { bench } = benchOf([(stream) => (stream.write("<html>busy</html>"), stream.end())], "text/html");
    expect((await bench.send(SPEECH, say)).status).toBe(502);
    expect(bench.ledger).toMatchObject({ balance: 1_000_000, charged: 0 });
    expect(bench.failures).toMatchObject([{ end_reason: "upstream_error" }]);
  });
});

describe("events of images", () => {
  const path = "/v1/images/generations";
  const sse = "text/event-stream";

  test("of many megabytes pass in any chunks, and their usage is found", async () => {
    const big = usageEvent.replace("AAAA", "A".repeat(3 << 20));
    const { bench } = benchOf(
      [
        (stream) => {
          for (let at = 0; at < big.length; at += 65_521) stream.write(big.slice(at, at + 65_521));
          stream.end();
        },
      ],
      sse,
    );
    expect(await (await bench.send(path, picture)).text()).toBe(big);
    expectBooks(bench, "complete", 3 + 4 * 2);
  });

  test("that begin with a refusal are retried elsewhere, those that begin with another error are not; one in the middle is passed on, named in the row and not charged", async () => {
    const errorOf = (type: string): string =>
      `event: error\ndata: {"type":"error","error":{"type":"${type}","code":null,"message":"no"}}\n\n`;
    const first = benchOf(
      [
        (stream) => (stream.write(errorOf("rate_limit_error")), stream.end()),
        (stream) => (stream.write(usageEvent), stream.end()),
      ],
      sse,
    );
    expect(await (await first.bench.send(path, picture)).text()).toBe(usageEvent);
    expectBooks(first.bench, "complete", 11);

    const error = errorOf("image_generation_server_error");
    const fault = benchOf(
      [(stream) => (stream.write(error), stream.end()), (stream) => (stream.write(usageEvent), stream.end())],
      sse,
    );
    expect((await fault.bench.send(path, picture)).status).toBe(502);
    expect(fault.bench.ledger).toMatchObject({ balance: 1_000_000, charged: 0 });

    const partial =
      'event: image_generation.partial_image\ndata: {"type":"image_generation.partial_image","b64_json":"AA"}\n\n';
    const middle = benchOf([(stream) => stream.write(partial)], sse);
    const read = pieces(await middle.bench.send(path, picture));
    middle.streams[0]?.write(error);
    middle.streams[0]?.end();
    expect(await read.rest()).toBe(partial + error);
    // A failed call is not charged an estimate.
    expectBooks(middle.bench, "upstream_error", 0);
  });

  test("that are cut end with Weir's error event, and the bill is an estimate", async () => {
    const { bench, streams } = benchOf([(stream) => stream.write("data: {}\n\n")], sse);
    const read = pieces(await bench.send(path, { ...picture, quality: "low", size: "1024x1024" }));
    streams[0]?.write("data: {}\n\n");
    await read.next();
    streams[0]?.cut();
    expect(await read.rest()).toContain('"code":"upstream_cut"');
    const [settlement] = bench.ledger.settlements;
    expect(JSON.parse(settlement?.log.other ?? "{}")).toMatchObject({ estimated: true });
    expect(settlement?.quota).toBe(Math.ceil('"a fox"'.length / 3) + 272 * 2);
  });

  test("whose caller disconnects are read to their usage", async () => {
    const { bench, streams } = benchOf([(stream) => stream.write("data: {}\n\n")], sse);
    const read = pieces(await bench.send(path, picture));
    streams[0]?.write("data: {}\n\n");
    await read.next();
    await read.leave();
    streams[0]?.write(usageEvent);
    streams[0]?.end();
    await bench.quiet();
    expectBooks(bench, "complete", 11);
  });
});

test("an image whose price is above the balance is refused before any channel is called", async () => {
  const { bench, streams } = benchOf([() => undefined]);
  bench.ledger.balance = 10_000;
  const answer = await bench.send("/v1/images/generations", { model: "percall", prompt: "a fox", n: 101 });
  expect([answer.status, streams.length]).toEqual([429, 0]);
  expect(bench.ledger.holdRequests[0]?.amount).toBe(10_100);
});
