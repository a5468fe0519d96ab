import { expect, test } from "bun:test";
import { parseYaml } from "./yaml";

test("a key that stands twice in one place is refused with its line, at every depth", () => {
  expect(() => parseYaml("a: 1\nb: 2\na: 3\n", "f.yaml")).toThrow(/f\.yaml[^]*line 3: the key a stands twice/);
  const nested = "list:\n  - name: x\n    params:\n      api_key: one\n      api_key: two\n";
  expect(() => parseYaml(nested, "f.yaml")).toThrow(/line 5: the key api_key stands twice/);
  expect(() => parseYaml('{"a": 1, "a": 2}', "f.json")).toThrow(/line 1: the key a stands twice/);
  expect(parseYaml("a: {k: 1}\nb: {k: 1}\n", "f.yaml")).toEqual({ a: { k: 1 }, b: { k: 1 } });
});

test("merge keys are joined, and a key beside one may say otherwise", () => {
  expect(parseYaml("base: &b {x: 1, y: 2}\nown:\n  <<: *b\n  y: 3\n", "f.yaml")).toMatchObject({
    own: { x: 1, y: 3 },
  });
});

test("what is no YAML is refused with its line and without its text", () => {
  const broken = "ok: 1\nkey: [sk-secret\nnext: 2\n";
  expect(() => parseYaml(broken, "f.yaml")).toThrow(/line \d/);
  try {
    parseYaml(broken, "f.yaml");
  } catch (error) {
    expect(String(error)).not.toContain("sk-secret");
  }
});

test("aliases that multiply each other are refused", () => {
  const bomb = ["a: &a [1,1,1,1,1,1,1,1,1,1]"];
  for (let i = 1; i < 9; i++) {
    const [name, of] = [String.fromCharCode(97 + i), String.fromCharCode(96 + i)];
    bomb.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${of}`).join(",")}]`);
  }
  expect(() => parseYaml(bomb.join("\n"), "f.yaml")).toThrow(/too many aliases/);
});
