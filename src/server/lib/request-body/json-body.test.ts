import { describe, expect, test } from "bun:test";
import { AppError } from "../../../shared/errors";
import { inputTokenBound, parseBody } from "./json-body";
import { outline, topLevelMembers, withMembers } from "../json-bytes";

const bytes = (text: string): Buffer<ArrayBuffer> => Buffer.from(text);

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
    return "";
  } catch (error) {
    return error instanceof AppError ? error.code : String(error);
  }
}

describe("reading a request body", () => {
  test("only a JSON object is a body", async () => {
    for (const text of ["", "{", "[]", "null", "1", '"x"', '{"a":1,}', "<html>"]) {
      expect(await codeOf(() => parseBody(bytes(text)))).toBe("bad_json");
    }
    expect(parseBody(bytes(' {"model":"m"} '))).toEqual({ model: "m" });
  });

  test("a model named twice is refused, however it is spelled; nested ones are fine", async () => {
    expect(await codeOf(() => parseBody(bytes(`{"model":"cheap","model":"dear"}`)))).toBe("invalid_request");
    expect(await codeOf(() => parseBody(bytes(`{"mod\\u0065l":"dear","model":"cheap"}`)))).toBe("invalid_request");
    expect(await codeOf(() => parseBody(bytes(`{"\\u006Dodel":"dear","model":"cheap"}`)))).toBe("invalid_request");
    expect(await codeOf(() => parseBody(bytes(`{"model":"m","tools":[{"properties":{"model":{}}}]}`)))).toBe("");
  });
});

describe("changing a body", () => {
  test("every byte but the changed values stays as the caller wrote it", () => {
    const body = `{ "n" : 1.0, "model" :  "old" , "big":12345678901234567890, "messages":[{"model":"\\"model\\":"}] }`;
    expect(withMembers(bytes(body), { model: "new" }).toString()).toBe(body.replace(`"old"`, `"new"`));
  });

  test("a missing member is inserted at the front", () => {
    expect(withMembers(bytes(`{"a":1}`), { b: { c: true } }).toString()).toBe(`{"b":{"c":true},"a":1}`);
    expect(withMembers(bytes("{ }"), { b: 1 }).toString()).toBe(`{"b":1 }`);
  });

  test("a present member is replaced whatever kind of value it has", () => {
    for (const value of ["null", "12", "true", '"a\\"b"', '{"x":[1,{"y":"}"}]}', '[[],["]"]]']) {
      for (const body of [`{"k":${value}}`, `{"k": ${value} ,"z":0}`, `{"a":[{}],"k":${value}\n}`]) {
        expect(JSON.parse(withMembers(bytes(body), { k: "new" }).toString())).toEqual({
          ...JSON.parse(body),
          k: "new",
        });
      }
    }
  });

  test("the walk over the outermost members agrees with JSON.parse", () => {
    const body = ` {"a":{"b":[1,2,{"c":"\\\\"}]},"é\\n":"你好","d":[],"e":-1.5e3,"f":"x\\\\\\"y"} `;
    const found = [...topLevelMembers(bytes(body))].map(({ key, start, end }) => [
      key,
      JSON.parse(bytes(body).toString("utf8", start, end)),
    ]);
    expect(Object.fromEntries(found)).toEqual(JSON.parse(body));
  });
});

test("a byte counts as a token at most, an embedded file as some thousands", () => {
  expect(inputTokenBound(bytes("12345"))).toBe(5);
  const image = `{"url":"data:image/png;base64,${"A".repeat(1_000_000)}"}`;
  expect(inputTokenBound(bytes(image))).toBeLessThan(9_000);
  expect(inputTokenBound(bytes(image + image))).toBeLessThan(18_000);
});

test("an outline has short values and the shape of long ones, and only of one whole object", () => {
  const long = `[${"0.123456,".repeat(3000)}1]`;
  const text = ` {"object":"list","data":${long},"usage":{"prompt_tokens":8},"n":1 } \n`;
  expect(outline(bytes(text))).toEqual({ object: "list", data: [], usage: { prompt_tokens: 8 }, n: 1 });
  for (let cut = 1; cut < text.trim().length; cut += 97)
    expect(outline(bytes(text.trim().slice(0, -cut)))).toBeUndefined();
  for (const broken of [`[${long}]`, `{"a":${long}}}`, `{"a":1,"b":${long},}`, `{"a" ${long}}`])
    expect(outline(bytes(broken))).toBeUndefined();
});
