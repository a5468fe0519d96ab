import { describe, expect, test } from "bun:test";
import { errors } from "./errors";
import { EVENTS, type EventName } from "./events";
import { FAILURES, failureCode, type FailureKind } from "./failures";
import { LOG_TYPE } from "./log";
import { codesContaining, logText, readParams, textColumns, textOfRow, toldText } from "./log-text";
import { rowText } from "./row-text";

const names = (template: string): string[] =>
  [...template.matchAll(/\{(\w+(?::units)?)\}/g)].map(([, name]) => name ?? "").sort();
const dollars = (amount: number): string => `$${amount / 500_000}`;

describe("texts of the log", () => {
  test("no event is called like an error, so a code has one text", () => {
    for (const name of Object.keys(EVENTS)) expect(Object.hasOwn(errors, name)).toBe(false);
  });

  test("both languages of an event and of a failure say the same values", () => {
    for (const text of [...Object.values(EVENTS), ...Object.values(FAILURES)])
      expect(names(text.zh)).toEqual(names(text.en));
  });

  test("a stored event reads in either language, with its amounts as the reader sees amounts", () => {
    const row = textColumns({ code: "redeemed" satisfies EventName, params: { quota: 500_000, redemption_id: 7 } });
    const text = textOfRow(row);
    expect(text && logText(text, "zh", dollars)).toBe("通过兑换码充值 $1，兑换码 ID 7");
    expect(text && logText(text, "en", dollars)).toBe("Redemption code 7 redeemed: $1");
  });

  test("a text inside a text is read in the same language", () => {
    const reason = { code: "channel_call_refused", params: { status: 401, detail: "bad key" } };
    const text = { code: "channel_auto_disabled", params: { name: "a", id: 3, reason } };
    expect(logText(text, "zh")).toBe("渠道「a」（#3）已被自动禁用：上游拒绝服务（状态码 401）：bad key");
    expect(logText(text, "en")).toBe(
      "Channel “a” (#3) was disabled automatically: The upstream refused service (status 401): bad key",
    );
  });

  test("what has no value is left out with its brackets, and retries are told after the text", () => {
    const failed = (params: object) => logText({ code: failureCode("overloaded"), params: { ...params } }, "en");
    expect(failed({})).toBe("The upstream is overloaded");
    expect(failed({ status: 529, detail: "busy", retries: 1 })).toBe(
      "The upstream is overloaded (status 529): busy (retried 1 time)",
    );
  });

  test("the owner of a call reads what the caller was told, never the cause on the channel's side", () => {
    for (const kind of Object.keys(FAILURES) as FailureKind[]) {
      const params = { status: 401, phase: "connect", retry_after_s: 9 };
      const told = toldText({ code: failureCode(kind), params });
      expect(told.code).toBe(FAILURES[kind].told);
      expect(logText(told, "en")).not.toMatch(/\{|key|account/);
      const quoted = toldText({ code: failureCode(kind), params: { ...params, detail: "as the upstream said" } });
      expect(logText(quoted, "en")).toBe("as the upstream said");
    }
    expect(toldText({ code: "model_not_found", params: { model: "x" } }).code).toBe("model_not_found");
  });

  test("a search finds codes by the words that the reader sees", () => {
    expect(codesContaining("密钥", "operator")).toContain(failureCode("bad_credentials"));
    expect(codesContaining("ACCEPT THE CHANNEL", "operator")).toEqual([failureCode("bad_credentials")]);
    expect(codesContaining("accept the channel", "owner")).toEqual([]);
    expect(codesContaining("{status}", "operator")).toEqual([]);
  });

  test("stored parameters are bounded and hold no NUL; what is no object has no members", () => {
    const { params } = textColumns({ code: "x", params: { detail: `a\0${"b".repeat(5_000)}` } });
    expect(params.length).toBeLessThan(2_100);
    expect(readParams(params).detail).toStartWith("ab");
    expect(textColumns({ code: "x", params: {} }).params).toBe("");
    expect(textColumns(undefined)).toEqual({ code: "", params: "" });
    for (const json of ["", "{", "null", "[1]", "7"]) expect(readParams(json)).toEqual({});
  });
});

describe("the text of a row", () => {
  const row = { type: LOG_TYPE.error as number, content: "", code: "", params: "", other: "" };

  test("is that of its code, before what was written", () => {
    expect(rowText({ ...row, content: "old", code: "token_expired" }, "en", String)).toBe("This API key has expired");
  });

  test("is as written where there is no code, or where a later release wrote one", () => {
    expect(rowText({ ...row, content: "as written" }, "en", String)).toBe("as written");
    expect(rowText({ ...row, content: "as written", code: "of_the_future" }, "en", String)).toBe("as written");
    expect(rowText({ ...row, code: "of_the_future" }, "en", String)).toBe("of_the_future");
  });

  test("of a charge is its price, in the reader's language whatever its caller spoke", () => {
    const facts = { model_price: -1, model_ratio: 1.25, completion_ratio: 4, group_ratio: 1, user_group_ratio: 0.5 };
    const charge = { ...row, type: LOG_TYPE.consume as number, content: "模型倍率 …", other: JSON.stringify(facts) };
    expect(rowText(charge, "en", String)).toBe("Model ratio 1.25, completion ratio 4, group ratio 0.5");
    expect(rowText(charge, "zh", String)).toBe("模型倍率 1.25，补全倍率 4，分组倍率 0.5");
    const once = { ...charge, other: JSON.stringify({ ...facts, model_price: 0.02, user_group_ratio: -1 }) };
    expect(rowText(once, "en", String)).toBe("Model price $0.02, group ratio 1");
    expect(rowText({ ...charge, other: "{}" }, "en", String)).toBe("模型倍率 …");
  });
});
