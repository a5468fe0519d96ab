import { expect, test } from "bun:test";
import { UsageScan } from "./usage-scan";

const stream = Buffer.from(
  [
    `data: {"type":"usage","text":"he said \\"usage\\":{\\"a\\":1}","b64_json":"${"A".repeat(50_000)}"}`,
    `data: {"usage":null,"error":null}`,
    `data: {"usage": {"input_tokens":1,"note":"}{\\"","deep":{"a":[1]}},"b64_json":"${"B".repeat(5_000)}"}`,
    `data: {"usage" : {"input_tokens":7},"error":{"message":"late"}}`,
    "",
  ].join("\n\n"),
);

test("the last usage and the first error are found in any split of the bytes, and never inside a text", () => {
  for (const size of [stream.length, 1, 7, 4096]) {
    const scan = new UsageScan();
    for (let at = 0; at < stream.length; at += size) scan.push(stream.subarray(at, at + size));
    expect(scan.usage).toEqual({ input_tokens: 7 });
    expect(scan.error).toEqual({ message: "late" });
  }
});

test("an object that never ends is dropped", () => {
  const scan = new UsageScan();
  scan.push(Buffer.from('"usage":{"a":"'));
  for (let i = 0; i < 100; i++) scan.push(Buffer.alloc(1024, 65));
  scan.push(Buffer.from('"} "usage":{"b":1}'));
  expect(scan.usage).toEqual({ b: 1 });
});
