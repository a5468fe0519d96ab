import { i18n } from "@lingui/core";
import { beforeEach, describe, expect, test } from "bun:test";
import { channelTypes } from "../../../shared/channel-types";
import {
  changedFields,
  complaintsAbout,
  emptyChannel,
  fieldsOf,
  changesDestination,
  refusedField,
  sortTyped,
  trimBaseUrl,
  valuesOf,
  type ChannelValues,
} from "./channel-values";

beforeEach(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));

const good: ChannelValues = { ...emptyChannel, type: 1, name: "主力", key: "sk-1", models: ["gpt-4o"] };

describe("addresses", () => {
  test("trailing slashes and /v1 are taken off where Weir adds the path itself", () => {
    expect(trimBaseUrl(1, " https://x.example/v1/ ")).toBe("https://x.example");
    expect(trimBaseUrl(1, "https://x.example///")).toBe("https://x.example");
    expect(trimBaseUrl(1, "https://x.example/proxy/v1")).toBe("https://x.example/proxy");
    expect(trimBaseUrl(1, "")).toBe("");
  });

  test("/v1 stays where it belongs to the operator's complete address or the vendor's paths do not begin with it", () => {
    expect(trimBaseUrl(8, "https://x.example/v1/chat/v1")).toBe("https://x.example/v1/chat/v1");
    expect(trimBaseUrl(26, "https://x.example/v1/")).toBe("https://x.example/v1");
  });
});

describe("what is sent", () => {
  test("a new channel sends every field, lists comma-joined, groups both ways, auto_ban as 1 or 0", () => {
    const sent = fieldsOf({ ...good, models: ["a", "b"], groups: ["default", "vip"], auto_ban: false });
    // spec: C-210, C-211, C-218
    // spec
    expect(sent).toMatchObject({ models: "a,b", groups: ["default", "vip"], group: "default,vip", auto_ban: 0 });
    expect(Object.keys(sent).sort()).toEqual([...Object.keys(emptyChannel), "group"].sort());
    const fields = {
      type: 3,
      key: "sk-2",
      openai_organization: "org-1",
      max_input_tokens: 4096,
      base_url: "https://x.example",
      other: "2023-06-01-preview",
      model_mapping: '{"a":"b"}',
      status_code_mapping: '{"400":"500"}',
      test_model: "a",
      priority: 7,
      weight: 3,
      tag: "fast",
    };
    // spec: A-300..A-312
    expect(fieldsOf({ ...good, ...fields })).toMatchObject({ ...fields, name: "主力" });
    // spec: A-314
    expect([fieldsOf(good).auto_ban, fieldsOf({ ...good, auto_ban: false }).auto_ban]).toEqual([1, 0]);
  });

  test("an update sends the changed fields only", () => {
    const after = { ...good, priority: 5, models: ["gpt-4o", "o3"] };
    const changed = changedFields(good, after);
    expect(changed).toEqual(["models", "priority"]);
    expect(fieldsOf(after, changed)).toEqual({ models: "gpt-4o,o3", priority: 5 });
  });

  test("a stored channel that is opened and not touched has no changes", () => {
    const stored = valuesOf({
      id: 7,
      type: 1,
      name: "a",
      key: "",
      base_url: "",
      other: "",
      models: "x,y",
      group: "default",
      model_mapping: "",
      status_code_mapping: "",
      setting: "",
      param_override: "",
      header_override: "",
      test_model: "",
      auto_ban: 1,
      tag: "",
      priority: 0,
      weight: 0,
      openai_organization: "",
      max_input_tokens: 0,
      status: 1,
      response_time: 0,
      used_quota: 0,
      balance: 0,
      balance_updated_time: 0,
      test_time: 0,
      created_time: 0,
      other_info: "",
      draining_since: 0,
      drain_deadline: 0,
      multi_key_mode: "",
      balance_currency: "",
    });
    expect(changedFields(stored, { ...stored, models: [...stored.models] })).toEqual([]);
  });
});

describe("complaints", () => {
  test("a good channel has none, and a stored one may leave its key empty", () => {
    expect(complaintsAbout(good, false)).toEqual({});
    expect(complaintsAbout({ ...good, key: "" }, true)).toEqual({});
  });

  test("type, name, key, model and group are required", () => {
    const complaints = complaintsAbout({ ...emptyChannel, groups: [] }, false);
    // spec, C-401..C-405
    expect(complaints).toEqual({
      type: "请选择渠道类型",
      name: "请填写名称和密钥",
      key: "请填写名称和密钥",
      models: "请至少选择一个模型",
      groups: "请至少选择一个分组！",
    });
  });

  test("invalid priority and weight are refused with the specified messages", () => {
    for (const priority of [1.5, null])
      // spec: C-409
      expect(complaintsAbout({ ...good, priority }, false).priority).toBe("优先级必须是整数！");
    expect(complaintsAbout({ ...good, priority: -999 }, false)).toEqual({});
    expect(complaintsAbout({ ...good, priority: -1000 }, false).priority).toContain("-999");
    for (const weight of [-1, 1.5, null])
      // spec: C-410
      expect(complaintsAbout({ ...good, weight }, false).weight).toBe("权重必须是非负整数！");
  });

  test("JSON fields must be JSON objects", () => {
    // spec, C-406
    expect(complaintsAbout({ ...good, model_mapping: "{" }, false).model_mapping).toBe(
      "模型映射必须是合法的 JSON 格式！",
    );
    for (const field of ["status_code_mapping", "setting", "param_override"] as const) {
      expect(complaintsAbout({ ...good, [field]: "[1]" }, false)[field]).toContain("JSON");
    }
  });

  test("a key that has not the form of its type is refused, for each type that has parts", () => {
    for (const type of channelTypes) {
      // One word fits where one of the accepted forms is one word.
      if (type.key_format.kind === "text" && type.key_format.shapes.some((shape) => Object.keys(shape).length === 1))
        continue;
      const complaints = complaintsAbout(
        { ...good, type: type.id, key: "oneword", other: "x", base_url: "https://x.example" },
        false,
      );
      // spec
      expect({ type: type.key, complained: complaints.key !== undefined }).toEqual({
        type: type.key,
        complained: true,
      });
    }
  });

  test("a stored channel takes one key, not several", () => {
    expect(complaintsAbout({ ...good, key: "a\nb" }, true).key).toBe("一个渠道只能有一个密钥");
    expect(complaintsAbout({ ...good, key: "a\nb" }, false)).toEqual({});
  });
});

test("another host, another proxy, and a type or region that decides the host lead elsewhere; another path does not", () => {
  const at = (fields: object) => ({
    ...good,
    type: 1,
    base_url: "https://a.example",
    other: "",
    setting: "",
    ...fields,
  });
  const moves = (fields: object, before: object = {}) => changesDestination(at(before), at({ ...before, ...fields }));
  for (const fields of [
    { base_url: "https://b.example" },
    { base_url: "" },
    { base_url: "http://a.example" },
    { setting: '{"proxy":"http://p"}' },
  ])
    expect(moves(fields)).toBe(true);
  for (const fields of [
    { base_url: "https://a.example/v2" },
    { base_url: "https://a.example/" },
    { setting: '{"idle_timeout":9}' },
    { other: "x" },
  ])
    expect(moves(fields)).toBe(false);
  expect(moves({ other: "europe-west1" }, { type: 41, base_url: "" })).toBe(true);
  expect(moves({ type: 33 }, { type: 41, base_url: "" })).toBe(true);
});

test("typed names are split at commas, trimmed, and parted from those that are chosen already", () => {
  // spec: C-407, C-408
  expect(sortTyped(" a , b ,, gpt-4o，c", ["gpt-4o"])).toEqual({ added: ["a", "b", "c"], doubles: ["gpt-4o"] });
});

test("a refusal of the server is shown at the field that its code names", () => {
  expect(refusedField({ app: "channel_key_invalid" }, good)).toBe("key");
  expect(refusedField({ app: "channel_key_required" }, good)).toBe("key");
  expect(refusedField({ app: "channel_name_and_key" }, { ...good, name: " " })).toBe("name");
  expect(refusedField({ app: "channel_json_invalid", values: { field: "setting" } }, good)).toBe("setting");
  expect(refusedField({ app: "internal" }, good)).toBeNull();
  expect(refusedField(null, good)).toBeNull();
});
