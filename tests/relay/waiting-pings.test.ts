/**
 * Pings for callers that wait for a JSON answer: whitespace before it, if the channel enables them (RFC 8259, section
 * 2).
 */
import { describe, expect, test } from "bun:test";
import type { ChannelSetting } from "../../src/shared/channel-setting";
import { makeBench, makeChannel, pieces, VirtualTime } from "./kit";

describe("pings before a JSON answer", () => {
  const IMAGES = "/v1/images/generations";
  const picture = { created: 1, data: [{ b64_json: "iVBORw0KGgo=" }] };
  function drawing(setting: ChannelSetting) {
    const time = new VirtualTime();
    const answers: ((response: Response) => void)[] = [];
    const signals: AbortSignal[] = [];
    const bench = makeBench([makeChannel(1, "http://up.test", { setting })], {
      now: time.now,
      timers: time.timers,
      reachable: async () => true,
      fetch: (_, init) =>
        new Promise((resolve, reject) => {
          answers.push(resolve);
          if (init.signal) signals.push(init.signal);
          init.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
        }),
    });
    return { bench, time, signals, answer: (response: Response) => answers[0]?.(response) };
  }
  const ask = { model: "percall-draw", prompt: "a cat" };

  test("are whitespace where the channel enables them: the answer stays JSON, and is charged once", async () => {
    const { bench, time, answer } = drawing({ ping_interval: 5 });
    const sent = bench.send(IMAGES, ask);
    await time.advance(5_000);
    const response = await sent;
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    const text = response.text();
    await time.advance(10_000);
    expect(bench.ledger.settlements).toEqual([]);
    answer(Response.json(picture));
    expect(await text).toBe(`\n\n\n${JSON.stringify(picture)}`);
    await bench.quiet();
    expect(bench.ledger.settlements).toMatchObject([{ quota: 100, log: { end_reason: "complete" } }]);
    expect(time.waiting).toBe(0);
  });

  test("an error after one is the dialect's error object, and costs nothing", async () => {
    const { bench, time, answer } = drawing({ ping_interval: 5 });
    const sent = bench.send(IMAGES, ask);
    await time.advance(5_000);
    const text = (await sent).text();
    answer(Response.json({ error: { message: "no such size", type: "invalid_request_error" } }, { status: 400 }));
    expect(JSON.parse(await text)).toMatchObject({ error: { message: expect.stringContaining("no such size") } });
    await bench.quiet();
    expect([bench.ledger.charged, bench.ledger.holds.size]).toEqual([0, 0]);
  });

  test("are not sent by the system's setting alone, before a fast answer, or before audio", async () => {
    for (const [setting, path, body] of [
      [{}, IMAGES, ask],
      [{ ping_interval: 0 }, IMAGES, ask],
      [{ ping_interval: 5 }, "/v1/audio/speech", { model: "percall-tts", input: "hello", voice: "alloy" }],
    ] as const) {
      const { bench, time, answer } = drawing(setting);
      let answered = false;
      const sent = bench.send(path, body).finally(() => (answered = true));
      await time.advance(40_000);
      expect([path, answered]).toEqual([path, false]);
      answer(Response.json({ error: { message: "x" } }, { status: 400 }));
      expect((await sent).status).toBe(400);
    }
    const { bench, time, answer } = drawing({ ping_interval: 5 });
    const sent = bench.send(IMAGES, ask);
    await time.advance(4_999);
    answer(Response.json(picture));
    expect(await (await sent).text()).toBe(JSON.stringify(picture));
  });

  test("are sent before a transcript in JSON, and before no other format, whatever else the form contains", async () => {
    const silence = Buffer.alloc(44 + 16_000);
    silence.write("RIFF", 0);
    silence.writeUInt32LE(36 + 16_000, 4);
    silence.write("WAVEfmt ", 8);
    silence.writeUInt32LE(16, 16);
    for (const [at, value] of [
      [20, 1],
      [22, 1],
      [32, 1],
      [34, 8],
    ] as const)
      silence.writeUInt16LE(value, at);
    silence.writeUInt32LE(8_000, 24);
    silence.writeUInt32LE(8_000, 28);
    silence.write("data", 36);
    silence.writeUInt32LE(16_000, 40);
    for (const [formats, pinged] of [
      [[], true],
      [["verbose_json"], true],
      [["text"], false],
      [["json", "srt"], false],
    ] as const) {
      const { bench, time, answer } = drawing({ ping_interval: 5 });
      const form = new FormData();
      form.append("model", "percall-whisper");
      form.append("file", new File([silence], "a.wav", { type: "audio/wav" }));
      for (const format of formats) form.append("response_format", format);
      let answered = false;
      const sent = bench
        .send("/v1/audio/transcriptions", undefined, { method: "POST", body: form })
        .finally(() => (answered = true));
      for (const end = Date.now() + 10_000; time.waiting === 0 && Date.now() < end;) await time.settle();
      await time.advance(6_000);
      expect([formats, answered]).toEqual([formats, pinged]);
      answer(Response.json({ text: "hello" }));
      expect((await (await sent).text()).trim()).toBe('{"text":"hello"}');
    }
  });

  test("a caller who disconnects meanwhile ends the call: the upstream is aborted, no hold is left", async () => {
    const { bench, time, signals } = drawing({ ping_interval: 5, on_disconnect: "cut" });
    const sent = bench.send(IMAGES, ask);
    await time.advance(5_000);
    await pieces(await sent).leave();
    await time.advance(0);
    expect(signals[0]?.aborted).toBe(true);
    await bench.quiet();
    expect([bench.ledger.charged, bench.ledger.holds.size, time.waiting]).toEqual([0, 0, 0]);
  });
});
