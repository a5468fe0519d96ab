import { describe, expect, test } from "bun:test";
import { AppError } from "../../../shared/errors";
import { secondsOf } from "./audio-duration";
import { durationTokens } from "./transcription";

function wav(seconds: number, claimed = seconds): Buffer<ArrayBuffer> {
  const rate = 16_000;
  const size = Math.round(seconds * rate) * 2;
  const bytes = Buffer.alloc(44 + size);
  bytes.write("RIFF", 0);
  bytes.writeUInt32LE(36 + size, 4);
  bytes.write("WAVEfmt ", 8);
  for (const [at, value] of [
    [16, 16],
    [24, rate],
    [28, rate * 2],
    [40, Math.round(claimed * rate) * 2],
  ] as const)
    bytes.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    bytes.writeUInt16LE(value, at);
  bytes.write("data", 36);
  return bytes;
}

/** An MPEG-1 layer 3 frame of 128 kbit/s at 44.1 kHz, silent: 1152 samples. */
const mp3Frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(413)]);

const element = (id: number[], content: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(id),
    Buffer.from([0x10, 0, 0, 0].map((b, i) => b | ((content.length >>> (8 * (3 - i))) & 0xff))),
    content,
  ]);
/** What a browser records: a WebM header and track without a duration. */
const webm = Buffer.concat([
  element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], Buffer.from("webm"))),
  element(
    [0x18, 0x53, 0x80, 0x67],
    Buffer.concat([
      element([0x15, 0x49, 0xa9, 0x66], element([0x2a, 0xd7, 0xb1], Buffer.from([0x0f, 0x42, 0x40]))),
      element(
        [0x16, 0x54, 0xae, 0x6b],
        element(
          [0xae],
          Buffer.concat([
            element([0xd7], Buffer.from([1])),
            element([0x83], Buffer.from([2])),
            element([0x86], Buffer.from("A_OPUS")),
            element([0xe1], element([0x9f], Buffer.from([1]))),
          ]),
        ),
      ),
      element([0x1f, 0x43, 0xb6, 0x75], Buffer.alloc(40_000)),
    ]),
  ),
]);

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "read",
    (error: unknown) => (error instanceof AppError ? error.code : error),
  );

describe("the duration of an audio file", () => {
  test("is the one in the file's header, exactly", async () => {
    expect(await secondsOf(wav(2.5), "a.wav", "audio/wav")).toEqual({ seconds: 2.5, exact: true });
    const mp3 = await secondsOf(Buffer.concat(Array<Buffer>(1000).fill(mp3Frame)), "a.mp3", "audio/mpeg");
    expect(mp3.exact).toBe(true);
    expect(mp3.seconds).toBeCloseTo((1000 * 1152) / 44_100, 1);
  });

  test("does not need the right name or type", async () => {
    expect((await secondsOf(wav(2), "a.mp3", "application/octet-stream")).seconds).toBe(2);
    expect((await secondsOf(wav(2), "", "")).seconds).toBe(2);
  });

  test("is not shortened by a header that claims less than the samples last", async () => {
    expect((await secondsOf(wav(600, 1), "a.wav", "audio/wav")).seconds).toBeGreaterThanOrEqual(599);
  });

  test("is an estimate by size where the file does not say it", async () => {
    const { seconds, exact } = await secondsOf(webm, "a.webm", "audio/webm");
    expect(exact).toBe(false);
    expect(seconds).toBeGreaterThan(9);
    expect(seconds).toBeLessThan(12);
  });

  test("is refused for other data, and broken files end in a number or an error", async () => {
    for (const [bytes, name, type] of [
      [Buffer.from("no sound"), "a.mp3", "audio/mpeg"],
      [Buffer.alloc(5000), "a.wav", "audio/wav"],
      [Buffer.alloc(0), "", ""],
      [Buffer.from("<html></html>"), "a.webm", "audio/webm"],
    ] as const) {
      expect([name, await codeOf(secondsOf(bytes, name, type))]).toEqual([name, "invalid_request"]);
    }
    let seed = 7;
    const random = (most: number): number => (seed = (seed * 48_271) % 2_147_483_647) % most;
    for (const whole of [wav(1), webm, Buffer.concat(Array<Buffer>(20).fill(mp3Frame))]) {
      for (let i = 0; i < 60; i++) {
        const broken = Buffer.from(whole.subarray(0, 1 + random(whole.length)));
        for (let hits = 0; hits < 4; hits++) broken[random(Math.min(broken.length, 200))] = random(256);
        const result = await secondsOf(broken, "a", "").catch((error: unknown) => error);
        if (result instanceof AppError) expect(result.code).toBe("invalid_request");
        else expect((result as { seconds: number }).seconds).toBeGreaterThan(0);
      }
    }
  });

  test("is billed per started second, a thousand tokens a minute", () => {
    expect([0.1, 2.5, 60, 61].map(durationTokens)).toEqual([17, 50, 1000, 1017]);
  });
});
