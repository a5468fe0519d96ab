import { describe, expect, test } from "bun:test";
import {
  cards,
  defaultText,
  defaultValue,
  isHidden,
  isOptionKey,
  missingNeeds,
  option,
  type OptionKey,
  optionKeys,
  parseOption,
  printOption,
  publicOptions,
  publicStatus,
} from "./options";

/** Every key of the specification with its default text ("json" = checked apart). */
const specified: Readonly<Record<string, string>> = {
  QuotaForNewUser: "0",
  PreConsumedQuota: "500",
  QuotaForInviter: "0",
  QuotaForInvitee: "0",
  QuotaRemindThreshold: "1000",
  QuotaPerUnit: "500000",
  ModelPrice: "json",
  ModelRatio: "json",
  CompletionRatio: "json",
  GroupRatio: '{"default":1,"vip":1,"svip":1}',
  UserUsableGroups: '{"default":"默认分组","vip":"VIP 分组"}',
  GroupGroupRatio: "{}",
  AutoGroups: '["default"]',
  DefaultUseAutoGroup: "false",
  Chats: "[]",
  TopUpLink: "",
  ChatLink: "",
  ChatLink2: "",
  RetryTimes: "3",
  DisplayInCurrencyEnabled: "true",
  DisplayTokenStatEnabled: "true",
  DefaultCollapseSidebar: "false",
  DrawingEnabled: "true",
  TaskEnabled: "true",
  MjNotifyEnabled: "false",
  MjAccountFilterEnabled: "false",
  MjForwardUrlEnabled: "true",
  MjModeClearEnabled: "false",
  MjActionCheckSuccessEnabled: "true",
  CheckSensitiveEnabled: "true",
  CheckSensitiveOnPromptEnabled: "true",
  SensitiveWords: "test_sensitive",
  LogConsumeEnabled: "true",
  DataExportEnabled: "true",
  DataExportInterval: "5",
  DataExportDefaultTime: "hour",
  ChannelDisableThreshold: "5",
  AutomaticDisableChannelEnabled: "false",
  AutomaticEnableChannelEnabled: "false",
  Notice: "",
  SystemName: "Weir",
  Logo: "",
  HomePageContent: "",
  About: "",
  Footer: "",
  ServerAddress: "",
  WorkerUrl: "",
  WorkerValidKey: "",
  PayAddress: "",
  EpayId: "",
  EpayKey: "",
  CustomCallbackAddress: "",
  Price: "7.3",
  MinTopUp: "1",
  TopupGroupRatio: '{"default":1,"vip":1,"svip":1}',
  PayMethods: "json",
  PasswordLoginEnabled: "true",
  PasswordRegisterEnabled: "true",
  EmailVerificationEnabled: "false",
  RegisterEnabled: "true",
  GitHubOAuthEnabled: "false",
  LinuxDOOAuthEnabled: "false",
  WeChatAuthEnabled: "false",
  TelegramOAuthEnabled: "false",
  TurnstileCheckEnabled: "false",
  EmailDomainRestrictionEnabled: "false",
  EmailAliasRestrictionEnabled: "false",
  EmailDomainWhitelist: "gmail.com,163.com,126.com,qq.com,outlook.com,hotmail.com,icloud.com,yahoo.com,foxmail.com",
  SMTPServer: "",
  SMTPPort: "587",
  SMTPAccount: "",
  SMTPFrom: "",
  SMTPToken: "",
  SMTPSSLEnabled: "false",
  GitHubClientId: "",
  GitHubClientSecret: "",
  LinuxDOClientId: "",
  LinuxDOClientSecret: "",
  WeChatServerAddress: "",
  WeChatServerToken: "",
  WeChatAccountQRCodeImageURL: "",
  TelegramBotToken: "",
  TelegramBotName: "",
  TurnstileSiteKey: "",
  TurnstileSecretKey: "",
};

describe("options", () => {
  test.each(Object.entries(specified))("%s is there with its specified default", (key, text) => {
    if (!isOptionKey(key)) throw new Error(`${key} is missing`);
    if (text === "json") expect(Object.keys(JSON.parse(defaultText(key))).length).toBeGreaterThan(0);
    // spec: A-183..A-188, A-192, A-195, A-199, A-200, A-202..A-212, A-214..A-217, A-218..A-221, A-223..A-226, A-228
    // spec: A-230..A-235, A-238..A-248, A-251, A-255, A-514, A-515, A-516, A-517, A-519, D-24, D-26, D-27, D-29, D-30
    else expect(defaultText(key)).toBe(text);
  });

  test("names of the prototype are no options", () => {
    for (const key of ["toString", "__proto__", "constructor", "ModelRatios", ""]) expect(isOptionKey(key)).toBe(false);
  });

  test.each(optionKeys.map((key) => [key]))("%s is declared completely and its default is valid", (key) => {
    const { card, label, min, max, needs, kind, choices } = option(key);
    expect(Object.keys(cards)).toContain(card);
    expect(label.zh).not.toBe("");
    expect(label.en).toMatch(/^[\x20-\x7e]+$/);
    for (const needed of needs) expect(isOptionKey(needed)).toBe(true);
    if (min !== undefined && max !== undefined) expect(min).toBeLessThan(max);
    if (kind === "choice") expect(choices).toContain(defaultText(key));
    expect(printOption(key, defaultValue(key))).toBe(defaultText(key));
  });

  test("every card of the operation tab holds the options that were decided for it", () => {
    const on = (card: string) => optionKeys.filter((key) => option(key).card === card);
    const decided: Record<string, string> = {
      general:
        "TopUpLink ChatLink ChatLink2 QuotaPerUnit RetryTimes DisplayInCurrencyEnabled DisplayTokenStatEnabled " +
        "DefaultCollapseSidebar",
      drawing:
        "DrawingEnabled TaskEnabled MjNotifyEnabled MjAccountFilterEnabled MjForwardUrlEnabled MjModeClearEnabled " +
        "MjActionCheckSuccessEnabled",
      sensitive: "CheckSensitiveEnabled CheckSensitiveOnPromptEnabled SensitiveWords",
      log: "LogConsumeEnabled",
      dashboard: "DataExportEnabled DataExportInterval DataExportDefaultTime",
      monitoring:
        "ChannelDisableThreshold QuotaRemindThreshold AutomaticDisableChannelEnabled AutomaticEnableChannelEnabled",
      quota: "PreConsumedQuota QuotaForNewUser QuotaForInviter QuotaForInvitee",
      chat: "Chats",
      group: "GroupRatio UserUsableGroups GroupGroupRatio AutoGroups DefaultUseAutoGroup",
    };
    for (const [card, keys] of Object.entries(decided)) {
      // spec: D-17, D-30
      expect(on(card).map(String)).toEqual(expect.arrayContaining(keys.split(" ")));
    }
  });

  test("JSON options never accept or return an empty text", () => {
    for (const key of optionKeys.filter((name) => option(name).kind === "json")) {
      expect(() => JSON.parse(defaultText(key))).not.toThrow();
      // spec: D-48
      expect(parseOption(key, "")).toEqual({
        ok: false,
        problem: { zh: "不是合法的 JSON 字符串", en: "Not a valid JSON string" },
      });
    }
  });

  const accepted: [OptionKey, string, unknown, string][] = [
    ["DrawingEnabled", "False", false, "false"],
    ["RetryTimes", " 3 ", 3, "3"],
    ["RetryTimes", "3.0", 3, "3"],
    ["Price", "7.30", 7.3, "7.3"],
    ["ChannelDisableThreshold", "0", 0, "0"],
    ["DataExportInterval", "1", 1, "1"],
    ["DataExportDefaultTime", "week", "week", "week"],
    ["ServerAddress", " https://x.example/// ", "https://x.example", "https://x.example"],
    ["Logo", "/logo.png", "/logo.png", "/logo.png"],
    ["ChatLink", "opencat://join?d={address}", "opencat://join?d={address}", "opencat://join?d={address}"],
    ["SensitiveWords", "one\r\n\n two \none", ["one", "two"], "one\ntwo"],
    ["EmailDomainWhitelist", "a.com, b.com\nc.com,,a.com", ["a.com", "b.com", "c.com"], "a.com,b.com,c.com"],
    ["GroupRatio", '{ "default": 1.5 }', { default: 1.5 }, '{"default":1.5}'],
    ["GroupGroupRatio", '{"vip":{"default":0.9}}', { vip: { default: 0.9 } }, '{"vip":{"default":0.9}}'],
    ["Chats", '[{"A":"https://a.example"}]', [{ A: "https://a.example" }], '[{"A":"https://a.example"}]'],
    ["AutoGroups", '["vip","default"]', ["vip", "default"], '["vip","default"]'],
    ["ModelRequestRateLimitGroup", '{"vip":[0,1000]}', { vip: [0, 1000] }, '{"vip":[0,1000]}'],
    [
      "PayMethods",
      '[{"name":"x","type":"t"}]',
      [{ name: "x", type: "t", color: "" }],
      '[{"name":"x","type":"t","color":""}]',
    ],
    ["SMTPToken", " secret ", "secret", "secret"],
    ["Notice", "  # Hello\n", "  # Hello\n", "  # Hello\n"],
  ];
  test.each(accepted)("%s accepts %j", (key, text, value, printed) => {
    const parsed = parseOption(key, text);
    if (!parsed.ok) throw new Error(parsed.problem.en);
    // spec
    expect(parsed.value).toEqual(value as never);
    expect(printOption(key, parsed.value)).toBe(printed);
    expect(parseOption(key, printed)).toEqual(parsed);
  });

  const refused: [OptionKey, string, string][] = [
    ["DrawingEnabled", "yes", "请输入 true 或 false"],
    ["DrawingEnabled", "", "请输入 true 或 false"],
    ["RetryTimes", "abc", "请输入整数"],
    ["RetryTimes", "1.5", "请输入整数"],
    ["RetryTimes", "", "请输入整数"],
    ["RetryTimes", "1e3", "请输入整数"],
    // spec: A-395
    ["PreConsumedQuota", "-1", "不能小于 0"],
    // spec: A-395
    ["QuotaForNewUser", "-1", "不能小于 0"],
    // spec: A-395
    ["QuotaForInviter", "-1", "不能小于 0"],
    // spec: A-395
    ["QuotaForInvitee", "-1", "不能小于 0"],
    // spec: A-394
    ["QuotaRemindThreshold", "-1", "不能小于 0"],
    // spec: A-394
    ["ChannelDisableThreshold", "-1", "不能小于 0"],
    // spec
    ["DataExportInterval", "0", "不能小于 1"],
    // spec: A-396
    ["MinTopUp", "0", "不能小于 1"],
    ["QuotaPerUnit", "0", "不能小于 1"],
    ["SMTPPort", "65536", "不能大于 65535"],
    ["Price", "NaN", "请输入数字"],
    ["Price", "0.1234567890123456", "数字位数过多"],
    // spec: A-520
    ["DataExportDefaultTime", "month", "可选值：hour、day、week"],
    ["SystemName", "  ", "不能为空"],
    ["ServerAddress", "example.com", "地址必须以 http:// 或 https:// 开头"],
    ["TopUpLink", "java\tscript:alert(1)", "请输入合法的链接"],
    ["TopUpLink", "data:text/html,<script>alert(1)</script>", "请输入合法的链接"],
    ["general_setting.docs_link", " VBScript:msgbox(1)", "请输入合法的链接"],
    ["ChatLink", "blob:https://a.example/1", "请输入合法的链接"],
    ["Logo", "data:text/html;base64,PHNjcmlwdD4=", "请输入合法的链接"],
    ["ModelRatio", "{", "不是合法的 JSON 字符串"],
    // spec: D-51
    ["ModelRatio", "[]", "必须是 JSON 对象"],
    // spec: D-51
    ["ModelRatio", '{\n  "a": 1,\n  "b": "2"\n}', "第 3 行“b”：必须是不小于 0 的数字"],
    // spec: D-51
    ["ModelRatio", '{"a":-1}', "第 1 行“a”：必须是不小于 0 的数字"],
    ["GroupRatio", "{}", "至少需要一项"],
    ["GroupGroupRatio", '{"vip":1}', "第 1 行“vip”：必须是 JSON 对象"],
    [
      "LongContextRatio",
      '{\n  "m": [{"over": 0, "input": 2, "output": 1}]\n}',
      "第 2 行“m”：每一档须为 {over, input, output}：over 是大于 0 的整数且互不相同，input 与 output 是大于 0 的倍数",
    ],
    [
      "LongContextRatio",
      '{"m":{"over":1}}',
      "第 1 行“m”：每一档须为 {over, input, output}：over 是大于 0 的整数且互不相同，input 与 output 是大于 0 的倍数",
    ],
    [
      "CurrencyRates",
      '{"cny":7}',
      "第 1 行“cny”：须为三个大写字母的货币代码（USD 除外）与大于 0 的数字，或 {rate, date, source}，日期如 2026-11-23",
    ],
    [
      "CurrencyRates",
      '{"CNY":0}',
      "第 1 行“CNY”：须为三个大写字母的货币代码（USD 除外）与大于 0 的数字，或 {rate, date, source}，日期如 2026-11-23",
    ],
    ["GroupGroupRatio", '{"vip":\n{"x":null}}', "第 2 行“x”：必须是不小于 0 的数字"],
    ["UserUsableGroups", '{"default":1}', "第 1 行“default”：必须是文本"],
    ["AutoGroups", '["a","a"]', "第 1 行“a”：重复"],
    ["Chats", '{"A":"https://a.example"}', "必须是 JSON 数组"],
    ["Chats", '[{"A":"javascript:alert(1)"}]', "第 1 行“A”：链接不合法"],
    ["Chats", '[{"A":"java\\nscript:alert(1)"}]', "第 1 行“A”：链接不合法"],
    ["Chats", '[{"A":"data:text/html,x"}]', "第 1 行“A”：链接不合法"],
    ["PayMethods", '[{"name":"x"}]', "第 1 行“x”：每一项须有 name、type、color"],
  ];
  test.each(refused)("%s refuses %j and says why", (key, text, zh) => {
    const parsed = parseOption(key, text);
    expect(parsed.ok).toBe(false);
    if (parsed.ok) return;
    // spec, D-51
    expect(parsed.problem.zh).toBe(zh);
    expect(parsed.problem.en).toMatch(/^[\x20-\x7e]+$/);
  });

  test("a model called __proto__ stays an entry and pollutes nothing", () => {
    const parsed = parseOption("ModelRatio", '{"__proto__":2,"a":1}');
    if (!parsed.ok) throw new Error(parsed.problem.en);
    expect(Object.keys(parsed.value)).toEqual(["__proto__", "a"]);
    expect(printOption("ModelRatio", parsed.value)).toBe('{"__proto__":2,"a":1}');
    expect(({} as Record<string, unknown>)["2"]).toBeUndefined();
  });

  test("public names are unique, cover the status of the specification and show no secret", () => {
    const names = publicOptions.map((entry) => entry.name);
    expect(new Set(names).size).toBe(names.length);
    const wanted =
      "system_name logo footer_html quota_per_unit display_in_currency enable_drawing enable_task enable_data_export " +
      "chats pay_methods data_export_default_time default_collapse_sidebar mj_notify_enabled chat_link chat_link2 " +
      "email_verification turnstile_check turnstile_site_key github_oauth github_client_id linuxdo_oauth " +
      "linuxdo_client_id wechat_login wechat_qrcode telegram_oauth telegram_bot_name server_address top_up_link " +
      "price min_topup default_use_auto_group docs_link demo_site_enabled self_use_mode_enabled password_login " +
      "password_register register_enabled";
    // spec: D-09
    expect(wanted.split(" ").filter((name) => !names.includes(name))).toEqual([]);
    expect(publicOptions.filter(({ key }) => option(key).secret)).toEqual([]);
    const status = publicStatus(defaultValue);
    expect(status).toMatchObject({ system_name: "Weir", quota_per_unit: 500000, chats: [], enable_task: true });
  });

  test("keys that end in Token, Secret or Key are hidden, and every secret is", () => {
    const hidden = optionKeys.filter(isHidden);
    // spec: D-28
    expect(hidden).toContain("TurnstileSiteKey");
    for (const key of optionKeys) {
      // spec: D-28
      if (/(Token|Secret|Key)$/.test(key) || option(key).secret) expect(hidden).toContain(key);
    }
    expect(hidden).not.toContain("TelegramBotName");
  });

  test("an integration cannot be switched on before it is configured, but always off", () => {
    const set = new Set<OptionKey>(["GitHubClientId"]);
    const isSet = (key: OptionKey) => set.has(key);
    // spec: A-400, D-49
    expect(missingNeeds(option("GitHubOAuthEnabled"), "true", isSet)).toEqual(["GitHubClientSecret"]);
    expect(missingNeeds(option("GitHubOAuthEnabled"), "false", isSet)).toEqual([]);
    // spec: A-382
    expect(missingNeeds(option("PayAddress"), "https://pay.example", isSet)).toEqual(["ServerAddress"]);
    expect(missingNeeds(option("PayAddress"), "", isSet)).toEqual([]);
    expect(missingNeeds(option("RetryTimes"), "3", isSet)).toEqual([]);
  });
});
