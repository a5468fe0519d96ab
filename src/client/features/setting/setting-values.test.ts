import { describe, expect, test } from "bun:test";
import * as checks from "../../../shared/options";
import {
  cardKeys,
  cardNeeds,
  cardsOf,
  changedKeys,
  foundCards,
  isChanged,
  needsOf,
  problemOf,
  startText,
  type Stored,
} from "./setting-values";
import {
  chatRows,
  chatText,
  groupRows,
  groupTexts,
  newQuietRow,
  payMethodRows,
  payMethodText,
  quietRows,
  quietText,
  repeatedName,
} from "./table-values";

const { defaultText, option, optionKeys, SETTING_TABS } = checks;

const stored: Stored = {
  values: Object.fromEntries(optionKeys.filter((key) => !option(key).secret).map((key) => [key, defaultText(key)])),
  set: [],
};

describe("the settings pages", () => {
  test("every option is on exactly one card of one tab", () => {
    const shown = SETTING_TABS.flatMap(cardsOf).flatMap(cardKeys);
    // spec: D-17
    expect(shown.toSorted()).toEqual(optionKeys.toSorted());
  });

  test("laying out JSON, blanks around a number and another writing of it are no change; another value is one", () => {
    expect(startText("GroupRatio", stored)).toContain("\n");
    for (const [key, text] of [
      ["GroupRatio", startText("GroupRatio", stored)],
      ["RetryTimes", " 3 "],
      ["Price", "7.30"],
      ["ServerAddress", ""],
    ] as const) {
      expect([key, isChanged(key, stored, { [key]: text }, checks)]).toEqual([key, false]);
    }
    expect(isChanged("RetryTimes", stored, { RetryTimes: "1" }, checks)).toBe(true);
    expect(isChanged("RetryTimes", stored, { RetryTimes: "x" }, checks)).toBe(true);
    expect(isChanged("RetryTimes", stored, {})).toBe(false);
  });

  test("a secret is changed by typing one, and by clearing one that is set", () => {
    expect(isChanged("SMTPToken", stored, { SMTPToken: "x" }, checks)).toBe(true);
    // spec: D-28
    expect(isChanged("SMTPToken", stored, { SMTPToken: "" }, checks)).toBe(false);
    // spec: D-28
    expect(isChanged("SMTPToken", { ...stored, set: ["SMTPToken"] }, { SMTPToken: "" }, checks)).toBe(true);
  });

  test("turning something on needs what it needs, stored or saved before it by the same press", () => {
    const drafts = { GitHubOAuthEnabled: "true", GitHubClientId: "id", GitHubClientSecret: "s" };
    expect(needsOf("GitHubOAuthEnabled", "true", stored)).toEqual(["GitHubClientId", "GitHubClientSecret"]);
    expect(needsOf("GitHubOAuthEnabled", "false", stored)).toEqual([]);
    const keys = changedKeys(["GitHubOAuthEnabled", "GitHubClientId", "GitHubClientSecret"], stored, drafts);
    expect(keys.at(-1)).toBe("GitHubOAuthEnabled");
    expect(needsOf("GitHubOAuthEnabled", "true", stored, drafts, keys)).toEqual([]);
    expect(cardNeeds("payment", stored)).toEqual(["ServerAddress"]);
    expect(
      cardNeeds("payment", { ...stored, values: { ...stored.values, ServerAddress: "https://x.example" } }),
    ).toEqual([]);
  });

  test.each([
    "ModelPrice",
    "ModelRatio",
    "CompletionRatio",
    "GroupRatio",
    "UserUsableGroups",
    "GroupGroupRatio",
    "AutoGroups",
    "Chats",
    "TopupGroupRatio",
    "PayMethods",
  ] as const)("%s that is no JSON is refused before it is sent, in the words of the specification", (key) => {
    for (const text of ["{", "", "nope"]) {
      // spec, D-48
      expect([text, problemOf(key, text, "zh", checks)]).toEqual([text, "不是合法的 JSON 字符串"]);
    }
  });

  test("an invalid text is refused with the server's message, with the line inside JSON", () => {
    expect(problemOf("GroupRatio", "{", "zh", checks)).toBe("不是合法的 JSON 字符串");
    expect(problemOf("GroupRatio", '{\n"a": "x"}', "zh", checks)).toStartWith("第 2 行“a”");
    // spec: A-393
    expect(problemOf("DataExportInterval", "0", "zh", checks)).toBe("不能小于 1");
    expect(problemOf("RetryTimes", "3", "zh", checks)).toBeUndefined();
  });

  test("searching finds cards by title, label and key, in the language shown", () => {
    expect(foundCards("system", "smtp", "zh")).toEqual(["smtp", ...foundCards("system", "smtp", "zh").slice(1)]);
    expect(foundCards("system", "EpayKey", "en")).toEqual(["payment"]);
    expect(foundCards("other", "公告", "zh")).toEqual(["content"]);
    expect(foundCards("other", "nothing like it", "zh")).toEqual([]);
  });
});

describe("tables of JSON options", () => {
  test("groups go to rows and back, also those without a ratio or with a name of JavaScript's own", () => {
    const ratio = '{"default":1,"constructor":2.5}';
    const usable = '{"default":"默认","free":"免费"}';
    const routing = '{"free":"score","vip":"score"}';
    const rows = groupRows({ ratio, usable, routing });
    expect(rows?.map((row) => row["name"])).toEqual(["default", "constructor", "free", "vip"]);
    const texts = groupTexts(rows ?? []);
    expect(Object.values(texts).map((text) => JSON.parse(text))).toEqual(
      [ratio, usable, routing].map((text) => JSON.parse(text)),
    );
    expect(groupRows({ ratio: "{", usable, routing })).toBeNull();
  });

  test("quiet hours go to rows with a box a day and back; a half typed time reaches the option's own check", () => {
    const windows = [
      { zone: "Asia/Shanghai", from: "22:00", to: "08:00" },
      { zone: "UTC", days: [6, 7], from: "00:00", to: "24:00", except: ["2026-12-24", "2026-12-31"] },
    ];
    const rows = quietRows(JSON.stringify(windows)) ?? [];
    expect(rows[1]).toMatchObject({ day5: false, day6: true, except: "2026-12-24 2026-12-31" });
    expect(JSON.parse(quietText(rows))).toEqual(windows);
    expect(problemOf("AlertQuietHours", quietText([newQuietRow("Europe/Berlin")]), "en", checks)).toBeUndefined();
    expect(
      problemOf("AlertQuietHours", quietText([{ ...newQuietRow("UTC"), from: "22:" }]), "en", checks),
    ).toBeDefined();
    expect(quietRows("{")).toBeNull();
  });

  test("a ratio that is no number reaches the option's own check, and a repeated name is noticed", () => {
    const { ratio } = groupTexts([{ name: "a", ratio: "abc", usable: false, description: "" }]);
    expect(problemOf("GroupRatio", ratio, "zh", checks)).toBeDefined();
    expect(repeatedName([{ name: "a" }, { name: "b" }, { name: "a" }])).toBe("a");
    expect(repeatedName([{ name: "a" }, { name: "b" }])).toBeUndefined();
  });

  test("chat links keep their order; a repeated name stays two links", () => {
    const text = '[{"B":"https://b.example"},{"A":"https://a.example"},{"B":"https://c.example"}]';
    expect(JSON.parse(chatText(chatRows(text) ?? []))).toEqual(JSON.parse(text));
    expect(chatRows('[{"A":"javascript:alert(1)"}]')).toBeNull();
  });

  test("payment methods keep their order, their colour and their least amount; a wrong one reaches the option's own check", () => {
    const methods = [
      { name: "支付宝", type: "alipay", color: "#1677ff" },
      { name: "大额", type: "bank", color: "", min_topup: 50 },
    ];
    expect(JSON.parse(payMethodText(payMethodRows(JSON.stringify(methods)) ?? []))).toEqual(methods);
    for (const text of ["{", "{}", '[{"name":"a"}]', ""]) expect([text, payMethodRows(text)]).toEqual([text, null]);
    const row = { name: " a ", type: "a", color: "", min_topup: "" };
    expect(problemOf("PayMethods", payMethodText([row]), "zh", checks)).toBeUndefined();
    for (const wrong of [{ name: " " }, { type: "" }, { min_topup: "0" }, { min_topup: "x" }, { min_topup: "-3" }]) {
      expect([wrong, problemOf("PayMethods", payMethodText([{ ...row, ...wrong }]), "zh", checks)]).not.toEqual([
        wrong,
        undefined,
      ]);
    }
    expect(problemOf("PayMethods", payMethodText([row, row]), "zh", checks)).toContain("重复");
  });
});

test("the first card begins with what decides whether calls fail over, and ends with what older front-ends need", () => {
  const keys = cardKeys("general");
  expect(keys[0]).toBe("RetryTimes");
  expect(keys.slice(-2)).toEqual(["ChatLink", "ChatLink2"]);
  expect([...keys].sort()).toEqual(optionKeys.filter((key) => option(key).card === "general").sort());
});
