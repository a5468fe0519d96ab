import { describe, expect, test } from "bun:test";
import { headerProblem, compileHeaders, withHeaders } from "./header-override";
import { compileOverride, overrideModes, overrideProblem } from "./param-override";

const apply = (stored: Record<string, unknown>, body: Record<string, unknown>) =>
  (compileOverride(stored) ?? ((same) => same))(body);
const one = (operation: Record<string, unknown>, body: Record<string, unknown>) =>
  apply({ operations: [operation] }, body);

describe("a plain override", () => {
  test("lays its members over the body's and leaves the given body as it was", () => {
    const body = { model: "m", temperature: 1, messages: [{ role: "user", content: "x" }] };
    const before = structuredClone(body);
    expect(apply({ temperature: 0, top_p: 0.5 }, body)).toEqual({ ...before, temperature: 0, top_p: 0.5 });
    expect(body).toEqual(before);
  });

  test("never changes whether the answer is streamed, whatever it says", () => {
    expect(apply({ stream: true }, { model: "m" })).toEqual({ model: "m" });
    expect(apply({ stream: false }, { stream: true })).toEqual({ stream: true });
    expect(one({ mode: "delete", path: "stream" }, { stream: true })).toEqual({ stream: true });
  });

  test("an empty one changes nothing", () => {
    expect(compileOverride({})).toBeUndefined();
    expect(compileOverride({ operations: [] })).toBeUndefined();
  });

  test("two calls never share what the override put in", () => {
    const change = compileOverride({ metadata: { tags: ["a"] } });
    const first = change?.({}) as { metadata: { tags: string[] } };
    first.metadata.tags.push("b");
    expect(change?.({})).toEqual({ metadata: { tags: ["a"] } });
  });
});

describe("operations", () => {
  test("set creates the path to its place, and replaces what is there", () => {
    expect(one({ mode: "set", path: "a.b.c", value: 1 }, {})).toEqual({ a: { b: { c: 1 } } });
    expect(one({ mode: "set", path: "a", value: null }, { a: { b: 1 } })).toEqual({ a: null });
    expect(
      one({ mode: "set", path: "messages.-1.content", value: "z" }, { messages: [{ content: "x" }, { content: "y" }] }),
    ).toEqual({
      messages: [{ content: "x" }, { content: "z" }],
    });
  });

  test("set with keep_origin is a default: it fills only what is missing", () => {
    expect(one({ mode: "set", path: "temperature", value: 0, keep_origin: true }, {})).toEqual({ temperature: 0 });
    expect(one({ mode: "set", path: "temperature", value: 0, keep_origin: true }, { temperature: 1 })).toEqual({
      temperature: 1,
    });
    expect(one({ mode: "set", path: "a", value: 1, keep_origin: true }, { a: null })).toEqual({ a: null });
  });

  test("delete removes members and list items, and does nothing where there are none", () => {
    expect(one({ mode: "delete", path: "a.b" }, { a: { b: 1, c: 2 } })).toEqual({ a: { c: 2 } });
    expect(one({ mode: "delete", path: "list.0" }, { list: [1, 2] })).toEqual({ list: [2] });
    for (const path of ["x", "a.x.y", "list.5", "list.x", "text.0"]) {
      expect(one({ mode: "delete", path }, { a: {}, list: [1], text: "t" })).toEqual({ a: {}, list: [1], text: "t" });
    }
  });

  test("move renames, copy keeps both apart, and a missing source does nothing", () => {
    expect(one({ mode: "move", from: "max_tokens", to: "max_completion_tokens" }, { max_tokens: 5 })).toEqual({
      max_completion_tokens: 5,
    });
    expect(one({ mode: "copy", from: "a", to: "b.c" }, { a: [1] })).toEqual({ a: [1], b: { c: [1] } });
    expect(one({ mode: "move", from: "x", to: "y" }, { a: 1 })).toEqual({ a: 1 });
  });

  test("append and prepend join texts, lists and objects", () => {
    expect(one({ mode: "append", path: "t", value: "!" }, { t: "a" })).toEqual({ t: "a!" });
    expect(one({ mode: "prepend", path: "t", value: "!" }, { t: "a" })).toEqual({ t: "!a" });
    expect(one({ mode: "append", path: "l", value: [2, 3] }, { l: [1] })).toEqual({ l: [1, 2, 3] });
    expect(one({ mode: "prepend", path: "l", value: { x: 1 } }, { l: [1] })).toEqual({ l: [{ x: 1 }, 1] });
    expect(one({ mode: "append", path: "o", value: { a: 2, b: 2 } }, { o: { a: 1 } })).toEqual({ o: { a: 2, b: 2 } });
    expect(one({ mode: "append", path: "o", value: { a: 2, b: 2 }, keep_origin: true }, { o: { a: 1 } })).toEqual({
      o: { a: 1, b: 2 },
    });
    expect(one({ mode: "append", path: "new", value: [1] }, {})).toEqual({ new: [1] });
    expect(one({ mode: "append", path: "n", value: "x" }, { n: 3 })).toEqual({ n: 3 });
  });

  test("texts can be trimmed and replaced, other values stay", () => {
    expect(one({ mode: "trim_prefix", path: "model", value: "up/" }, { model: "up/m" })).toEqual({ model: "m" });
    expect(one({ mode: "trim_suffix", path: "model", value: "-x" }, { model: "m-x" })).toEqual({ model: "m" });
    expect(one({ mode: "trim_suffix", path: "model", value: "" }, { model: "m" })).toEqual({ model: "m" });
    expect(one({ mode: "trim_space", path: "model" }, { model: " m " })).toEqual({ model: "m" });
    expect(one({ mode: "replace", path: "model", from: ".", to: "$&" }, { model: "a.b.c" })).toEqual({
      model: "a$&b$&c",
    });
    expect(one({ mode: "replace", path: "model", from: "a", to: "b" }, { model: 7 })).toEqual({ model: 7 });
  });

  test("a dot in a name is written with a backslash", () => {
    expect(one({ mode: "set", path: "a\\.b.c", value: 1 }, {})).toEqual({ "a.b": { c: 1 } });
  });

  test("they run in order, each on the result of the one before", () => {
    const operations = [
      { mode: "move", from: "a", to: "b" },
      { mode: "append", path: "b", value: "2" },
    ];
    expect(apply({ operations }, { a: "1" })).toEqual({ b: "12" });
  });

  test("a list gets no holes and nothing becomes a member of a text", () => {
    expect(one({ mode: "set", path: "l.5", value: 1 }, { l: [] })).toEqual({ l: [] });
    expect(one({ mode: "set", path: "l.0", value: 1 }, { l: [] })).toEqual({ l: [1] });
    expect(one({ mode: "set", path: "t.x", value: 1 }, { t: "text" })).toEqual({ t: "text" });
  });

  test("no path reaches the prototype of anything", () => {
    for (const path of ["__proto__.polluted", "a.__proto__.polluted"]) {
      expect(overrideProblem({ operations: [{ mode: "set", path, value: 1 }] })).toBeDefined();
    }
    one({ mode: "set", path: "constructor.prototype.polluted", value: 1 }, {});
    apply(JSON.parse('{"__proto__":{"polluted":1}}'), {});
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("conditions", () => {
  const set = (conditions: unknown, logic?: string) => ({
    mode: "set",
    path: "hit",
    value: true,
    conditions,
    ...(logic && { logic }),
  });
  const hit = (conditions: unknown, body: Record<string, unknown>, logic?: string) =>
    one(set(conditions, logic), body).hit === true;

  test.each([
    ["full", "gpt-5", true],
    ["full", "gpt", false],
    ["prefix", "gpt", true],
    ["suffix", "-5", true],
    ["contains", "pt-", true],
    ["contains", "x", false],
  ])("%s %s", (mode, value, met) => {
    expect(hit([{ path: "model", mode, value }], { model: "gpt-5" })).toBe(met);
  });

  test.each([
    ["gt", 4, true],
    ["gt", 5, false],
    ["gte", 5, true],
    ["lt", 6, true],
    ["lte", 4, false],
  ])("a number %s %d", (mode, value, met) => {
    expect(hit([{ path: "n", mode, value }], { n: 5 })).toBe(met);
  });

  test("one of several is enough, unless logic is AND", () => {
    const both = [
      { path: "a", value: 1 },
      { path: "b", value: 1 },
    ];
    expect(hit(both, { a: 1, b: 2 })).toBe(true);
    expect(hit(both, { a: 1, b: 2 }, "AND")).toBe(false);
    expect(hit(both, { a: 1, b: 1 }, "and")).toBe(true);
    expect(hit({ a: 1 }, { a: 1 })).toBe(true);
  });

  test("invert negates one condition, and a missing place counts as pass_missing_key says", () => {
    expect(hit([{ path: "a", value: 1, invert: true }], { a: 2 })).toBe(true);
    expect(hit([{ path: "a", value: 1, invert: true }], {})).toBe(false);
    expect(hit([{ path: "a", value: 1, pass_missing_key: true }], {})).toBe(true);
  });
});

describe("an unusable override is refused with its place", () => {
  test.each([
    [{ operations: [{ path: "a", value: 1 }] }, "operations[0]"],
    [{ operations: [{ mode: "regex_replace", path: "a", from: "(a+)+$", to: "" }] }, "regex_replace"],
    [{ operations: [{ mode: "set", path: "", value: 1 }] }, "path"],
    [{ operations: [{ mode: "set", path: "a" }] }, "value"],
    [{ operations: [{ mode: "move", from: "a" }] }, "to"],
    [{ operations: ["x"] }, "operations[0]"],
    [{ operations: [{ mode: "set", path: "a", value: 1, conditions: [{ path: "b", mode: "like" }] }] }, "like"],
    [{ operations: [{ mode: "set", path: "a", value: 1, conditions: "x" }] }, "conditions"],
    [{ operations: Array.from({ length: 201 }, () => ({ mode: "delete", path: "a" })) }, "200"],
  ])("%j", (stored, place) => {
    expect(overrideProblem(stored)?.en).toContain(place);
    expect(overrideProblem(stored)?.zh).toContain(place);
    expect(() => compileOverride(stored)).toThrow();
  });

  test("every mode requires its members", () => {
    for (const mode of overrideModes) expect(overrideProblem({ operations: [{ mode }] })).toBeDefined();
  });
});

describe("header overrides", () => {
  test("replace a header whatever its case, fill in the key, and remove what is null", () => {
    const rules = compileHeaders({ Authorization: "Token {api_key}", "X-Team": 7, "anthropic-version": null });
    expect(withHeaders({ authorization: "Bearer k", "Anthropic-Version": "1", accept: "x" }, rules, "k$&")).toEqual({
      accept: "x",
      authorization: "Token k$&",
      "x-team": "7",
    });
  });

  test.each([
    { Host: "evil" },
    { "content-length": "1" },
    { "Transfer-Encoding": "chunked" },
    { "Proxy-Authorization": "x" },
    { "content-type": "a/b" },
    { "x-a": "b\r\nx-c: d" },
    { "x-a": "b\nc" },
    { "x a": "b" },
    { "": "b" },
    { "x:y": "b" },
    { "x-a": { b: 1 } },
    { "x-a": "名" },
    Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`x-${i}`, "1"])),
  ])("%j is refused, and never sent", (stored: Record<string, unknown>) => {
    expect(headerProblem(stored)).toBeDefined();
    if (Object.keys(stored).length === 1) expect(compileHeaders(stored).size).toBe(0);
  });
});
