import { describe, expect, test } from "bun:test";
import * as z from "zod";
import { buildInput } from "./coerce";

const schema = z.object({
  p: z.int().min(0).catch(0).default(0),
  group: z.string().optional(),
  id_sort: z.boolean().optional(),
  end_timestamp: z.number().optional(),
  name: z.string().optional(),
  ids: z.array(z.int()).optional(),
  value: z.union([z.string(), z.number(), z.boolean()]).optional(),
  allow_ips: z.string().nullish(),
});

const build = (query: string, body?: unknown, path: Record<string, string> = {}) =>
  buildInput(schema, { path, query: new URLSearchParams(query), body });

describe("the input of a REST call", () => {
  test("query text becomes the type in the schema", () => {
    expect(build("p=3&id_sort=true&end_timestamp=1.5&ids=1,2&name=12")).toEqual({
      p: 3,
      id_sort: true,
      end_timestamp: 1.5,
      ids: [1, 2],
      name: "12",
    });
    expect(build("id_sort=false&p=0")).toEqual({ id_sort: false, p: 0 });
  });

  test("'', null, undefined and NaN as text mean absent", () => {
    expect(build("group=null&end_timestamp=NaN&name=&p=undefined")).toEqual({});
  });

  test("text that is no number goes to the schema, which falls back or refuses", () => {
    expect(schema.parse(build("p=x"))).toEqual({ p: 0 });
    expect(schema.safeParse(build("end_timestamp=x")).success).toBe(false);
  });

  test("path wins over body, body over query, and unknown keys are dropped", () => {
    expect(build("p=1&name=q&evil=1", { p: 2, name: "b", __proto__: 1, constructor: 2 }, { p: "3" })).toEqual({
      p: 3,
      name: "b",
    });
  });

  test("in a body null is absent unless the field may be null, and '' is a text", () => {
    expect(build("", { name: "", group: null, allow_ips: null, p: "7", id_sort: "true", end_timestamp: "" })).toEqual({
      name: "",
      allow_ips: null,
      p: 7,
      id_sort: true,
    });
  });

  test("a number sent for a text becomes text; a union keeps the sent value", () => {
    expect(build("", { name: 42, value: false })).toEqual({ name: "42", value: false });
    expect(build("", { value: "007" })).toEqual({ value: "007" });
  });
});
