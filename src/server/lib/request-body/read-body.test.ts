import { describe, expect, test } from "bun:test";
import { brotliCompressSync, constants, deflateSync } from "node:zlib";
import { AppError } from "../../../shared/errors";
import { bodyChunks, readBody } from "./read-body";
import { JSON_LIMITS, JsonScan, scanJson } from "./json-scan";

const MB = 1 << 20;

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return "";
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

const post = (body: BodyInit, headers: Record<string, string> = {}): Request =>
  new Request("http://weir.test/", { method: "POST", body, headers });

const chunked = (parts: string[]): ReadableStream =>
  new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(Buffer.from(part));
      controller.close();
    },
  });

describe("reading a request body", () => {
  test("a body beyond the limit is refused, with and without a declared length", async () => {
    expect(await codeOf(() => readBody(post("x".repeat(11), { "content-length": "11" }), 10))).toBe("body_too_large");
    expect(await codeOf(() => readBody(post(chunked(["123456", "7890a"])), 10))).toBe("body_too_large");
    expect((await readBody(post(chunked(["12345", "67890"])), 10)).toString()).toBe("1234567890");
  });

  test("a compressed body is unpacked, but never beyond the limit", async () => {
    const packed = Bun.gzipSync(new Uint8Array(1000).fill(97));
    expect((await readBody(post(packed, { "content-encoding": "gzip" }), 1000)).length).toBe(1000);
    expect(await codeOf(() => readBody(post(packed, { "content-encoding": "gzip" }), 999))).toBe("body_too_large");
    const tight = new Uint8Array(await Bun.zstdCompress(new Uint8Array(1000).fill(97)));
    expect((await readBody(post(tight, { "content-encoding": "zstd" }), 1000)).length).toBe(1000);
    expect(await codeOf(() => readBody(post(tight, { "content-encoding": "zstd" }), 999))).toBe("body_too_large");
    expect(await codeOf(() => readBody(post("plain", { "content-encoding": "gzip" }), 999))).toBe("invalid_request");
    expect(await codeOf(() => readBody(post("x", { "content-encoding": "lzma" }), 999))).toBe("invalid_request");
  });

  test("each known encoding is unpacked, and a body that unpacks too far is refused", async () => {
    const packers = {
      gzip: Bun.gzipSync,
      deflate: (bytes: Uint8Array<ArrayBuffer>) => deflateSync(bytes),
      br: (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
      zstd: (bytes: Uint8Array<ArrayBuffer>) => Bun.zstdCompressSync(bytes),
    };
    for (const [encoding, pack] of Object.entries(packers)) {
      const body = (size: number): Request =>
        post(new Uint8Array(pack(new Uint8Array(size).fill(32))), { "content-encoding": encoding });
      expect((await readBody(body(MB), 64 * MB)).length).toBe(MB);
      let seen = 0;
      const read = async (): Promise<void> => {
        for await (const chunk of bodyChunks(body(12 * MB), 64 * MB)) seen += chunk.length;
      };
      expect([encoding, await codeOf(read)]).toEqual([encoding, "body_unpacks_too_far"]);
      expect(seen).toBeLessThanOrEqual(2 * MB);
    }
  });

  test("a compressed body that is cut off is refused", async () => {
    const packed = Bun.gzipSync(crypto.getRandomValues(new Uint8Array(1000)));
    expect(await codeOf(() => readBody(post(packed.slice(0, 500), { "content-encoding": "gzip" }), MB))).toBe(
      "invalid_request",
    );
  });
});

describe("the size of what a parser would make of JSON", () => {
  /** Counts by parsing: the reference. */
  function truth(value: unknown, depth = 1): { containers: number; strings: number; depth: number } {
    if (typeof value === "string") return { containers: 0, strings: 1, depth: 0 };
    if (typeof value !== "object" || value === null) return { containers: 0, strings: 0, depth: 0 };
    const sum = { containers: 1, strings: Array.isArray(value) ? 0 : Object.keys(value).length, depth };
    for (const member of Object.values(value)) {
      const inner = truth(member, depth + 1);
      sum.containers += inner.containers;
      sum.strings += inner.strings;
      sum.depth = Math.max(sum.depth, inner.depth);
    }
    return sum;
  }
  const refused = (text: string): Promise<string> => codeOf(() => scanJson(Buffer.from(text)));
  const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

  test("objects, arrays, strings and depth are taken up to their limits and no further", async () => {
    const { containers, strings, depth } = JSON_LIMITS;
    expect(await refused(`[${"{},".repeat(containers - 2)}{}]`)).toBe("");
    expect(await refused(`[${"{},".repeat(containers - 1)}{}]`)).toBe("body_too_complex");
    expect(await refused(`[${'"",'.repeat(strings - 1)}""]`)).toBe("");
    expect(await refused(`[${'"",'.repeat(strings)}""]`)).toBe("body_too_complex");
    expect(await refused(nested(depth))).toBe("");
    expect(await refused(nested(depth + 1))).toBe("body_too_complex");
    expect(await refused(`{"a":`.repeat(depth + 1))).toBe("body_too_complex");
  });

  test("many different names are too much, many equal ones are not", async () => {
    const { names } = JSON_LIMITS;
    const named = (count: number, pad: string): string =>
      `[${Array.from({ length: count }, (_, i) => `{"${pad}${i.toString(36)}${pad}":0}`).join(",")}]`;
    // Few share a bit.
    for (const pad of ["", "n".repeat(40)]) {
      expect(await refused(named(names, pad))).toBe("");
      expect(await refused(named(names * 1.2, pad))).toBe("body_too_complex");
    }
    expect(await refused(`[${'{"role":"user","content":"x"},'.repeat(90_000)}{}]`)).toBe("");
  });

  test("numbers are not counted: an embedding call has millions of them", async () => {
    expect(await refused(`{"input":[${"12345,".repeat(4_000_000)}1]}`)).toBe("");
  });

  test("brackets and quotes inside strings count for nothing, wherever the text is cut", async () => {
    const tricky = [
      "[".repeat(200),
      '"{['.repeat(60),
      "\\".repeat(40),
      '\\"'.repeat(33),
      `${"x".repeat(15)}"[`,
      `${"x".repeat(16)}\\"{`,
      "\\",
      '"',
      "é[中{",
      "",
    ];
    const value = { [tricky[1] ?? ""]: tricky, deep: [[{ a: tricky[3] }]], list: tricky.map((text) => ({ text })) };
    for (const text of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
      const bytes = Buffer.from(text);
      const { containers, strings } = truth(value);
      // As much as fits exactly, and one more of each.
      for (let cut = 0; cut <= bytes.length; cut++) {
        const scan = new JsonScan();
        scan.push(bytes.subarray(0, cut));
        scan.push(bytes.subarray(cut));
        const rest = `${"[]".repeat(JSON_LIMITS.containers - containers)}${cut % 64 === 0 ? '""'.repeat(JSON_LIMITS.strings - strings) : ""}`;
        if (cut % 16 !== 0) continue;
        scan.push(Buffer.from(rest));
        expect(await codeOf(() => scan.push(Buffer.from(cut % 64 === 0 ? '""' : "[]")))).toBe("body_too_complex");
      }
    }
  });

  test("text in pieces of one byte is counted as text in one piece", async () => {
    const text = JSON.stringify({ a: ['\\"[', { b: "\\\\" }], c: "{".repeat(150) });
    const scan = new JsonScan();
    for (const byte of Buffer.from(text)) scan.push(Uint8Array.of(byte));
    // At the end it is outside of all: exactly the full depth fits.
    scan.push(Buffer.from("[".repeat(JSON_LIMITS.depth)));
    expect(await codeOf(() => scan.push(Buffer.from("[")))).toBe("body_too_complex");
  });
});
