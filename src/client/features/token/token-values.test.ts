import { i18n } from "@lingui/core";
import { beforeAll, describe, expect, test } from "bun:test";
import { tokenBatch, type TokenView } from "../../../shared/token";
import {
  addressComplaint,
  changedFields,
  complaintsAbout,
  emptyToken,
  expiryText,
  fieldsOf,
  parseExpiry,
  refusedField,
  valuesOf,
} from "./token-values";

beforeAll(() => i18n.loadAndActivate({ locale: "zh", messages: {} }));

const named = { ...emptyToken, name: "script" };
const stored: TokenView = {
  id: 7,
  user_id: 1,
  name: "site",
  key_hint: "AbCdEfGh…wxyz",
  status: 1,
  remain_quota: 250_000,
  used_quota: 3,
  unlimited_quota: false,
  expired_time: 1_900_000_000,
  created_time: 1,
  accessed_time: 0,
  model_limits_enabled: true,
  model_limits: "gpt-4o,echo",
  allow_ips: "10.0.0.0/8",
  deny_ips: "",
  group: "vip",
  rpm: 60,
  tpm: 0,
  concurrency: 2,
  budget_day: 0,
  budget_month: 5_000_000,
  mj_mode: "relax",
};

describe("expiry", () => {
  test("-1 is never and a local time is epoch seconds", () => {
    // spec: C-426
    expect(parseExpiry("-1")).toBe(-1);
    // spec: C-426, C-428
    expect(parseExpiry(" 2030-01-31 23:59:58 ")).toBe(Math.floor(new Date(2030, 0, 31, 23, 59, 58).getTime() / 1000));
  });

  test.each(["", "tomorrow", "2030-02-30 00:00:00", "2030-01-01", "2030-01-01 24:00:00", "2030-1-1 00:00:00", "-2"])(
    "%p is refused with the specified message",
    (text) => {
      expect(parseExpiry(text)).toBeNull();
      // spec: C-427
      expect(complaintsAbout({ ...named, expired_time: text }).expired_time).toBe("过期时间格式错误！");
    },
  );

  test("what the field shows reads back as the same moment", () => {
    for (const seconds of [-1, 1_900_000_000, 1]) expect(parseExpiry(expiryText(seconds))).toBe(seconds);
  });
});

describe("complaints", () => {
  test("the form as it opens lacks a name and nothing else", () => {
    // spec: C-423
    expect(complaintsAbout(emptyToken)).toEqual({ name: "请输入令牌名称！" });
    expect(complaintsAbout(named)).toEqual({});
  });

  test("a name of 50 characters is good, one of 51 is too long", () => {
    // spec: C-425
    expect(complaintsAbout({ ...named, name: "名".repeat(50) })).toEqual({});
    // spec: C-424
    expect(complaintsAbout({ ...named, name: "名".repeat(51) }).name).toBe("令牌名称过长，最多 50 个字符");
  });

  test.each([[null], [-1], [1.5]])("a quota of %p is refused", (remain_quota) => {
    // spec: C-429, C-430
    expect(complaintsAbout({ ...named, remain_quota })).toEqual({ remain_quota: "额度必须是非负整数！" });
  });

  test.each([[null], [0], [-1], [1.5], [101]])("a count of %p is refused", (count) => {
    // spec: C-431
    expect(complaintsAbout({ ...named, count })).toEqual({ count: "数量必须是 1 到 100 的整数！" });
  });

  test("an unlimited token is made once, whatever the disabled fields contain", () => {
    const values = { ...named, unlimited_quota: true, remain_quota: -3, count: 30 };
    expect(complaintsAbout(values)).toEqual({});
    expect(fieldsOf(values)).toMatchObject({ count: 1, remain_quota: 0 });
  });

  test("every bad line of an address list is named with its number", () => {
    const text = "10.0.0.1\nnonsense\n2001:db8::/32, 10.0.0.0/8\n1.2.3.4/99";
    // spec: C-258
    expect(addressComplaint(text)).toBe(
      "第 2 行不是合法的 IP 或网段：nonsense\n第 4 行不是合法的 IP 或网段：1.2.3.4/99",
    );
    expect(complaintsAbout({ ...named, deny_ips: text }).deny_ips).toBe(addressComplaint(text));
    expect(addressComplaint("10.0.0.1, 10.0.0.2\n\n::1")).toBe("");
  });

  test("limits without a model are refused only while they are on", () => {
    // spec: C-256
    expect(complaintsAbout({ ...named, model_limits_enabled: true })).toEqual({
      model_limits: "启用模型限制时请至少选择一个模型",
    });
    expect(complaintsAbout({ ...named, model_limits_enabled: true, model_limits: ["gpt-4o"] })).toEqual({});
  });

  test("an empty limit is no limit, a negative or broken one is refused", () => {
    expect(complaintsAbout({ ...named, rpm: null })).toEqual({});
    expect(fieldsOf({ ...named, rpm: null }).rpm).toBe(0);
    expect(fieldsOf({ ...named, budget_day: null }).budget_day).toBe(0);
    expect(complaintsAbout({ ...named, tpm: -1, concurrency: 0.5, budget_month: -3 })).toEqual({
      budget_month: "请输入不小于 0 的整数",
      tpm: "请输入不小于 0 的整数",
      concurrency: "请输入不小于 0 的整数",
    });
  });
});

test("a stored token that is opened and saved unchanged has no changes and the same fields", () => {
  const values = valuesOf(stored);
  expect(changedFields(values, { ...values, model_limits: [...values.model_limits] })).toEqual([]);
  expect(tokenBatch.parse(fieldsOf(values))).toMatchObject({
    name: "site",
    remain_quota: 250_000,
    expired_time: 1_900_000_000,
    model_limits: "gpt-4o,echo",
    allow_ips: "10.0.0.0/8",
    group: "vip",
    rpm: 60,
    tpm: 0,
    concurrency: 2,
    budget_day: 0,
    budget_month: 5_000_000,
    mj_mode: "relax",
  });
});

test("only what differs counts as a change", () => {
  const values = valuesOf(stored);
  expect(changedFields(values, { ...values, name: "other", model_limits: ["echo"] })).toEqual(["name", "model_limits"]);
});

test("a refusal of the server leads to the field that it is about", () => {
  expect(refusedField({ app: "token_group_forbidden", values: { group: "vip" } }, named)).toBe("group");
  expect(refusedField({ app: "token_ip_invalid" }, { ...named, allow_ips: "x" })).toBe("allow_ips");
  expect(refusedField({ app: "token_ip_invalid" }, { ...named, deny_ips: "x" })).toBe("deny_ips");
  expect(refusedField({ app: "internal" }, named)).toBeNull();
  expect(refusedField(null, named)).toBeNull();
});
