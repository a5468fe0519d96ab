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

  const FIELD = 'Content-Disposition: form-data; name="junk"';
  const hidden = 'Content-Disposition: form-data; name="n"\r\n\r\n9';
  test.each([
    [
      "a name inside the value of another parameter, twice",
      'Content-Disposition: form-data; x="; name=junk"; name="n"; name=n',
    ],
    ["two names", 'Content-Disposition: form-data; name="junk"; name="n"'],
    ["two names of different case", 'Content-Disposition: form-data; name="junk"; NAME="n"'],
    ["a second form of its name", `${FIELD}; name*=UTF-8''n`],
    ["two file names", `${FIELD}; filename=""; filename="a"`],
    ["a quote that some do not take as escaped", 'Content-Disposition: form-data; name="a\\"; name=n; x=\\""'],
    ["text after its value", 'Content-Disposition: form-data; name="junk" name="n"'],
    ["two dispositions", `${FIELD}\r\nContent-Disposition: form-data; name="n"`],
    ["two dispositions, one with a blank before its colon", `${FIELD}\r\nContent-Disposition : form-data; name="n"`],
    ["a folded line", `${FIELD}\r\n ; name="n"`],
    ["a line feed within a header", `${FIELD}\nContent-Disposition: form-data; name="n"`],
    ["a carriage return within a header", `${FIELD}\rContent-Disposition: form-data; name="n"`],
    ["another line break within a header", `${FIELD}; x="\u2028Content-Disposition: form-data; name=n"`],
    ["NUL in its name", 'Content-Disposition: form-data; name="n\u0000junk"'],
    ["an encoding of its content", `${FIELD}\r\nContent-Transfer-Encoding: quoted-printable`],
    ["a line that is no header", `${FIELD}\r\njunk`],
  ])("whose part has %s is refused", (_, head) => {
    const form = (headers: string): Buffer => Buffer.from(`--b0und\r\n${headers}\r\n\r\n1\r\n--b0und--\r\n`);
    expect(scan(form(FIELD)).map(({ name }) => name)).toEqual(["junk"]);
    expect(refusal(() => scan(form(head)))).toBe("invalid_request");
  });

  test.each([
    ["after a line feed alone", `1\n--b0und\r\n${hidden}\r\n--b0und--`],
    ["after a carriage return alone", `1\r--b0und\r\n${hidden}\r\n--b0und--`],
    ["within a line", `1 --b0und\r\n${hidden}\r\n--b0und--`],
    ["as the beginning of a longer one", `1\r\n--b0und-inner\r\n${hidden}\r\n--b0und--`],
    ["after the end", `1\r\n--b0und--\r\n--b0und\r\n${hidden}\r\n--b0und--`],
    ["after an end with text behind it", `1\r\n--b0und--text\r\n--b0und\r\n${hidden}\r\n--b0und--`],
  ])("that has its boundary %s is refused, however its bytes arrive", (_, rest) => {
    const bytes = Buffer.from(`--b0und\r\n${FIELD}\r\n\r\n${rest}`);
    expect(refusal(() => scan(bytes))).toBe("invalid_request");
    expect(refusal(() => scan(bytes, () => 1))).toBe("invalid_request");
  });

  test("as SDKs, curl and browsers write it is taken", () => {
    const heads = [
      ['content-disposition: form-data; name="a"', "a", undefined],
      ["Content-Disposition: form-data; name=a; filename=b.png", "a", "b.png"],
      ['Content-Disposition: form-data; name="a"; filename="\\"b\\" c.png"', "a", '"b" c.png'],
      ['Content-Disposition: form-data; name="a"; filename="C:\\dir\\b;c.png";', "a", "C:\\dir\\b;c.png"],
      ["Content-Disposition: form-data; name=\"a\"; filename*=UTF-8''%E5%9B%BE.png", "a", "UTF-8''%E5%9B%BE.png"],
      ['Content-Disposition: form-data; name="图"; filename="图.png"\r\nContent-Length: 1', "图", "图.png"],
      ['Content-Transfer-Encoding: Binary\r\nContent-Disposition: form-data;name="a"', "a", undefined],
    ] as const;
    for (const [head, name, filename] of heads)
      expect(scan(Buffer.from(`--b0und\r\n${head}\r\n\r\n1\r\n--b0und--\r\n`))).toMatchObject([{ name, filename }]);
  });

  test("of the longest headers is read in a moment", () => {
    const parameters = Array.from({ length: 2000 }, (_, i) => `; p${i}=1`).join("");
    const blanks = " ".repeat(15_000);
    for (const head of [
      `form-data; name=a${parameters}`,
      `form-data; name=a${blanks};`,
      `form-data; name=a${blanks}x`,
      `form-data;${'"'.repeat(15_000)}`,
    ]) {
      const bytes = Buffer.from(`--b0und\r\nContent-Disposition: ${head}\r\n\r\n1\r\n--b0und--`);
      const before = performance.now();
      refusal(() => scan(bytes));
      expect(performance.now() - before).toBeLessThan(100);
    }
  });

  test("has its boundary from the content type, quoted or not", () => {
    expect(boundaryOf("multipart/form-data; boundary=abc")).toBe("abc");
    expect(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b"')).toBe("a b");
    expect(boundaryOf("application/json")).toBeUndefined();
    expect(refusal(() => boundaryOf("multipart/form-data"))).toBe("invalid_request");
  });
});
