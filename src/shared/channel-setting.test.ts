import { describe, expect, test } from "bun:test";
import { channelIssues } from "./channel";
import { proxyAddress, readSetting, settingMembers, settingNames, settingProblem } from "./channel-setting";

const draft = { type: 1, name: "n", key: "k", models: "m" };
const codes = (more: object) => channelIssues({ ...draft, ...more }, "en").map(({ field, code }) => `${field} ${code}`);

describe("a channel's setting", () => {
  test.each(settingNames.map((name) => [name]))("%s refuses values of the wrong kind and takes none", (name) => {
    const { kind } = settingMembers[name];
    for (const value of [
      {},
      [],
      kind === "switch" ? "true" : true,
      kind === "number" ? 1.5 : 7,
      kind === "number" ? -1 : Number.NaN,
    ]) {
      expect(settingProblem(name, value)).toBeDefined();
    }
    expect(settingProblem(name, undefined)).toBeUndefined();
    expect(settingProblem(name, null)).toBeUndefined();
  });

  test("values that do not fit are refused by name when a channel is saved; unknown members are kept", () => {
    expect(codes({ setting: '{"idle_timeout":"30"}' })).toEqual(["setting channel_setting_invalid"]);
    expect(codes({ setting: '{"vendor_thing":{"a":1},"force_format":true,"proxy":""}' })).toEqual([]);
    expect(codes({ setting: '{"bill_by":"both"}' })).toEqual(["setting channel_setting_invalid"]);
  });

  test("stored values that do not fit count as not set and are reported, but a proxy is never dropped", () => {
    const reported: string[] = [];
    const read = readSetting(
      { idle_timeout: "x", proxy: 5, other: 1, system_prompt: "", force_format: true },
      (problem) => reported.push(problem),
    );
    expect(read).toEqual({ proxy: "5", other: 1, force_format: true });
    expect(reported).toHaveLength(2);
  });

  test.each([
    "http://h:1",
    "https://u:p@h",
    "socks5://h:1080",
    "socks5h://[::1]:1",
    "socks4://1.2.3.4:5",
    " http://h ",
  ])("%s is a proxy", (text) => {
    expect(proxyAddress(text)).toBeDefined();
  });
  test.each(["", "h:1", "ftp://h", "http://", "socks5://", "javascript:alert(1)", "file:///x"])(
    "%j is none",
    (text) => {
      expect(proxyAddress(text)).toBeUndefined();
    },
  );
});

describe("mappings and overrides of a form", () => {
  test("a circle in the model mapping is named; a chain and a name mapped to itself are accepted", () => {
    expect(codes({ model_mapping: '{"a":"b","b":"a"}' })).toEqual(["model_mapping channel_mapping_loop"]);
    expect(codes({ model_mapping: '{"a":"b","b":"c","d":"d"}' })).toEqual([]);
  });

  test("statuses are numbers from 100 to 599 on both sides, as texts or numbers", () => {
    expect(codes({ status_code_mapping: '{"400":"500","429":503}' })).toEqual([]);
    for (const wrong of ['{"x":"500"}', '{"400":99}', '{"400":null}', '{"400":true}', '{"400":{}}']) {
      expect(codes({ status_code_mapping: wrong })).toEqual(["status_code_mapping channel_status_mapping_invalid"]);
    }
  });

  test("unusable overrides are refused at their field", () => {
    expect(codes({ param_override: '{"operations":[{"mode":"fly"}]}' })).toEqual([
      "param_override channel_setting_invalid",
    ]);
    expect(codes({ header_override: '{"Host":"x"}' })).toEqual(["header_override channel_setting_invalid"]);
    expect(codes({ header_override: '{"X-A":"{api_key}"}', param_override: '{"a":1}' })).toEqual([]);
  });
});
