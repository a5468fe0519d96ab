import { describe, expect, test } from "bun:test";
import { AppError } from "../../../shared/errors";
import { boundaryOf, MultipartScanner, type Part } from "./multipart";

const body = Buffer.from(
  [
    "preamble to be ignored",
    "--b0und",
    'Content-Disposition: form-data; name="file"; filename="a \\"b\\".wav"',
    "Content-Type: audio/wav",
    "",
    "bytes\r\n--b0un and \r\nnot the end",
    "--b0und",
    "content-disposition: form-data; name=model",
    "",
    "whisper-1",
    "--b0und  ",
    'Content-Disposition: form-data; name="empty"',
    "",
    "",
    "--b0und--",
    "epilogue",
  ].join("\r\n"),
);

function scan(
  bytes: Uint8Array,
  cuts: (i: number) => number = () => bytes.length,
  boundary = "b0und",
): readonly Part[] {
  const scanner = new MultipartScanner(boundary);
  for (let at = 0; at < bytes.length;) {
    const size = Math.max(1, cuts(at));
    scanner.push(bytes.subarray(at, at + size));
    at += size;
  }
  return scanner.end();
}

const whole = scan(body);
const refusal = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error instanceof AppError ? error.code : error;
  }
  return undefined;
};

describe("a form", () => {
  test("is read to its parts, with offsets that name exactly their bytes", () => {
    expect(whole.map(({ name, filename, value }) => [name, filename, value])).toEqual([
      ["file", 'a "b".wav', ""],
      ["model", undefined, "whisper-1"],
      ["empty", undefined, ""],
    ]);
    const at = (i: number): string => body.toString("utf8", whole[i]?.start, whole[i]?.end);
    expect([at(0), at(1), at(2)]).toEqual(["bytes\r\n--b0un and \r\nnot the end", "whisper-1", ""]);
    expect(whole[0]?.content_type).toBe("audio/wav");
  });

  test("is read alike however its bytes arrive", () => {
    expect(scan(body, () => 1)).toEqual(whole);
    for (let cut = 1; cut < body.length; cut++)
      expect(scan(body, (at) => (at === 0 ? cut : body.length))).toEqual(whole);
  });

  test("that is cut anywhere before its last delimiter is refused", () => {
    const end = body.indexOf("--b0und--") + "--b0und--".length;
    for (let cut = 0; cut < end; cut++) expect(refusal(() => scan(body.subarray(0, cut)))).toBe("invalid_request");
    expect(scan(body.subarray(0, end))).toEqual(whole);
  });

  test("with a wrong boundary, nameless parts, endless headers or fields is refused", () => {
    const part = (head: string, text = ""): Buffer => Buffer.from(`--b0und\r\n${head}\r\n\r\n${text}\r\n--b0und--`);
    expect(refusal(() => scan(body, undefined, "other"))).toBe("invalid_request");
    expect(refusal(() => scan(part("Content-Type: text/plain")))).toBe("invalid_request");
    expect(refusal(() => scan(part('Content-Disposition: attachment; name="a"')))).toBe("invalid_request");
    expect(refusal(() => scan(part(`x: ${"y".repeat(20_000)}`)))).toBe("invalid_request");
    expect(refusal(() => scan(part('Content-Disposition: form-data; name="a"', "z".repeat(1_100_000))))).toBe(
      "invalid_request",
    );
    const many = Buffer.concat([
      ...Array.from({ length: 201 }, () =>
        Buffer.from('--b0und\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'),
      ),
      Buffer.from("--b0und--"),
    ]);
    expect(refusal(() => scan(many))).toBe("invalid_request");
  });

  test("has its boundary from the content type, quoted or not", () => {
    expect(boundaryOf("multipart/form-data; boundary=abc")).toBe("abc");
    expect(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b"')).toBe("a b");
    expect(boundaryOf("application/json")).toBeUndefined();
    expect(refusal(() => boundaryOf("multipart/form-data"))).toBe("invalid_request");
  });
});
