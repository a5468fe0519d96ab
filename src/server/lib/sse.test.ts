import { describe, expect, test } from "bun:test";
import {
  FRAME_LIMIT,
  firstFrameEnd,
  FrameMemory,
  FrameSplitter,
  FrameTooLarge,
  lastFrameEnd,
  readFrame,
  TAIL_LIMIT,
  writeFrame,
} from "./sse";

const frames = ['data: {"a":"你好，世界🌏"}', ": ping", "event: x\ndata: one\ndata: two", "data: [DONE]"];
const wire = (eol: string): Buffer =>
  Buffer.from(frames.map((frame) => frame.replaceAll("\n", eol) + eol + eol).join(""));

/** Feeds the pieces and reads every frame that comes out. */
function readAll(pieces: Uint8Array[]): ReturnType<typeof readFrame>[] {
  const splitter = new FrameSplitter();
  const regions = pieces.map((piece) => splitter.push(piece)).filter((region) => region !== undefined);
  regions.push(splitter.end());
  const found = [];
  for (const region of regions) {
    for (let from = 0; from < region.length;) {
      const next = firstFrameEnd(region, from, region.length);
      const end = next < 0 ? region.length : next;
      found.push(readFrame(region.subarray(from, end)));
      from = end;
    }
  }
  return found.filter((frame) => frame.data !== undefined);
}

const expected = [
  { event: "", data: '{"a":"你好，世界🌏"}' },
  { event: "x", data: "one\ntwo" },
  { event: "", data: "[DONE]" },
];

describe("SSE framing", () => {
  for (const [name, eol] of [
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ] as const) {
    test(`a stream with ${name} line ends reads the same wherever it is cut`, () => {
      const bytes = wire(eol);
      for (let cut = 0; cut <= bytes.length; cut++) {
        expect(readAll([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected);
      }
    });

    test(`a stream with ${name} line ends reads the same byte by byte, and no byte is lost`, () => {
      const bytes = wire(eol);
      const splitter = new FrameSplitter();
      const out: Uint8Array[] = [];
      for (const byte of bytes) {
        const region = splitter.push(Uint8Array.of(byte));
        if (region) out.push(Buffer.from(region));
      }
      out.push(splitter.end());
      expect(Buffer.concat(out).equals(bytes)).toBe(true);
      expect(readAll([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected);
    });
  }

  test("whole frames leave at once and the tail waits", () => {
    const splitter = new FrameSplitter();
    expect(splitter.push(Buffer.from("data: 1\n\ndata: 2"))?.toString()).toBe("data: 1\n\n");
    expect(splitter.push(Buffer.from("\n"))).toBeUndefined();
    expect(splitter.push(Buffer.from("\ndata: 3\n\n"))?.toString()).toBe("data: 2\n\ndata: 3\n\n");
    expect(splitter.end().length).toBe(0);
  });

  test("a frame that never ends is refused at 1 MB, however small its pieces are", () => {
    const splitter = new FrameSplitter();
    const piece = Buffer.alloc(16_384, 97);
    expect(() => {
      for (let sent = 0; sent <= TAIL_LIMIT; sent += piece.length) splitter.push(piece);
    }).toThrow(FrameTooLarge);
  });

  test("large frames of all streams share one memory, and what a stream took comes back with its frame, its end or its refusal", () => {
    const memory = new FrameMemory(3 * TAIL_LIMIT);
    const begin = (bytes: number): FrameSplitter => {
      const splitter = new FrameSplitter(FRAME_LIMIT, memory);
      for (let sent = 0; sent < bytes; sent += 65_536) splitter.push(Buffer.alloc(65_536, 97));
      return splitter;
    };
    begin(TAIL_LIMIT);
    expect(memory.left).toBe(3 * TAIL_LIMIT);
    const first = begin(3 * TAIL_LIMIT);
    expect(memory.left).toBe(TAIL_LIMIT);
    const second = begin(2 * TAIL_LIMIT);
    expect(memory.left).toBe(0);
    expect(() => second.push(Buffer.from("a"))).toThrow(FrameTooLarge);
    second.end();
    expect(memory.left).toBe(TAIL_LIMIT);
    expect(first.push(Buffer.from("\n\ndata: 1"))?.length).toBe(3 * TAIL_LIMIT + 2);
    expect(memory.left).toBe(3 * TAIL_LIMIT);
    expect(first.end().toString()).toBe("data: 1");
    expect(memory.left).toBe(3 * TAIL_LIMIT);
  });

  test("a frame without data, or with nothing in it, is no event", () => {
    for (const frame of ["data:\n\n", "data: \n\n", ": ping\n\n", "event: message\nid: 1\n\n"])
      expect(readFrame(Buffer.from(frame)).data).toBeUndefined();
    expect(readFrame(Buffer.from("data:\ndata: {}\n\n")).data).toBe("\n{}");
  });

  test("a frame's data keeps what is written in it", () => {
    expect(readFrame(Buffer.from("data:no space\n\n")).data).toBe("no space");
    expect(readFrame(Buffer.from("data:  two spaces\n\n")).data).toBe(" two spaces");
    expect(readFrame(Buffer.from("\uFEFFdata: after a BOM\n\n")).data).toBe("after a BOM");
    expect(readFrame(Buffer.from("data\n\n")).data).toBeUndefined();
    expect(readFrame(writeFrame("{}", "error"))).toEqual({ event: "error", data: "{}" });
  });

  test("the last frame end before a given place is found", () => {
    const bytes = Buffer.from("data: 1\n\ndata: 2\n\ndata: 3\n\n");
    expect(lastFrameEnd(bytes, 0, 15)).toBe(9);
    expect(lastFrameEnd(bytes, 0, 5)).toBe(-1);
    expect(lastFrameEnd(bytes, 0, bytes.length)).toBe(bytes.length);
  });
});
