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
} from "../../../tests/relay/kit";

const path = "/v1/chat/completions";
const body = chatBody("gpt-4o", { stream: true });

interface Stage {
  bench: Bench;
  time: VirtualTime;
  upstream: ScriptedStream;
  answer: ReturnType<typeof pieces>;
}

/** A stream whose first frames have come and were read. */
async function begun(first: string, setting = {}): Promise<Stage> {
  const time = new VirtualTime();
  let opened: ScriptedStream | undefined;
  const fetch = scripted((stream) => void (opened = stream));
  const bench = makeBench([makeChannel(1, "http://up.test", { setting })], {
    now: time.now,
    timers: time.timers,
    fetch,
    reachable: async () => true,
  });
  const sent = bench.send(path, body);
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

  test("when his channel does not drain, the upstream is cut at once and what came is charged", async () => {
    const { bench, time, upstream, answer } = await begun(frames.text("abcdef"), { on_disconnect: "cut" });
    await answer.leave();
    await time.settle();
    expect(upstream.aborted).toBe(true);
    expect(bench.ledger.settlements[0]?.log).toMatchObject({ end_reason: "caller_left", completion_tokens: 2 });
  });
});

describe("a process that ends", () => {
  test("ends a stream with what it has said so far: charged, with an error event and without the last word", async () => {
    const stage = await begun(frames.text("abcdef"));
    const rest = stage.answer.rest();
    await stage.time.settle();
    const stopped = stage.bench.relay.stop(0);
    await stage.time.advance(0);
    await stopped;
    expect(await rest).toContain(`"code":"draining"`);
    expect(stage.upstream.aborted).toBe(true);
    expect(stage.bench.ledger.settlements[0]?.log).toMatchObject({ end_reason: "gateway_restart" });
    expect(stage.bench.ledger.holds.size).toBe(0);
  });
});
