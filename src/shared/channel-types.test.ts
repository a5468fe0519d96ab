import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  baseUrlOf,
  baseUrlProblem,
  canonicalModel,
  channelTemplates,
  channelType,
  channelTypes,
  codingPlans,
  keyProblem,
  knownModels,
  operationPath,
  otherFor,
  otherOrDefault,
  otherProblem,
  planModels,
  splitKey,
} from "./channel-types";

const unused = [28, 29, 30, 32];
const specified = Array.from({ length: 57 }, (_, index) => index + 1).filter((id) => !unused.includes(id));
const icons = join(import.meta.dir, "../../node_modules/@lobehub/icons-static-svg/icons");

describe("channel types", () => {
  test("the specification's numbers come first, in order; what follows has numbers of its own, above them", () => {
    const ids = channelTypes.map((type) => Number(type.id));
    expect(ids.slice(0, specified.length)).toEqual(specified);
    expect(ids.slice(specified.length).filter((id) => id <= 57)).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("keys are unique kebab-case names", () => {
    const keys = channelTypes.map((type) => String(type.key));
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(key).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  test.each(channelTypes.map((type) => [type.key, type.id] as const))("%s is complete and consistent", (_, id) => {
    const type = channelType(id);
    if (!type) throw new Error("missing");
    expect(type.name.zh).not.toBe("");
    expect(type.name.en).toMatch(/^[\x20-\x7e]+$/);
    expect(new Set(type.models).size).toBe(type.models.length);
    for (const model of type.models) expect(model).toMatch(/^[^\s,]+$/);
    expect(type.base_url).toMatch(/^$|^(https?|wss):\/\/[^/].*[^/]$/);
    if (type.base_url_field.required) expect(type.base_url).toBe("");
    if (type.base_url === "" && !type.base_url_field.required) expect(type.custom).toBe(true);
    expect(type.operations.length).toBeGreaterThan(0);
    for (const operation of Object.keys(type.paths)) expect(type.operations).toContain(operation as never);
    if (type.custom === false) {
      expect(["openai-chat", "anthropic", "jina"]).toContain(type.dialect);
      for (const operation of type.operations) expect(operationPath(type, operation)).toStartWith("/");
    }
    if (type.logo !== "") expect(existsSync(join(icons, `${type.logo}.svg`))).toBe(true);
  });

  test("types without a synchronous answer cannot be tested", () => {
    const untestable = channelTypes.filter((type) => !type.test).map((type) => Number(type.id));
    expect(untestable).toEqual([2, 5, 36, 50, 51, 52, 54, 55, 56]);
  });

  test("the Midjourney and Suno action lists are those of the specification", () => {
    const two = "mj_imagine mj_variation mj_reroll mj_blend mj_upscale mj_describe mj_upload".split(" ");
    const five =
      "swap_face mj_zoom mj_shorten mj_modal mj_inpaint mj_custom_zoom mj_high_variation mj_low_variation mj_pan";
    // spec: A-543, C-232, C-234, D-86
    expect([...(channelType(2)?.models ?? [])].toSorted()).toEqual(two.toSorted());
    // spec: A-544, C-233, C-234, D-86
    expect([...(channelType(5)?.models ?? [])].toSorted()).toEqual([...two, ...five.split(" ")].toSorted());
    // spec: A-545, C-244
    expect(channelType(36)?.models).toEqual(["suno_music", "suno_lyrics"]);
  });

  test("streams request usage for the OpenAI-compatible types of the specification's list", () => {
    for (const id of [1, 3, 4, 39, 45, 48]) expect(channelType(id)?.include_usage).toBe(true);
    expect(channelTypes.filter((type) => type.include_usage && type.dialect !== "openai-chat")).toEqual([]);
  });

  test("operation paths are the OpenAI ones unless the vendor has others", () => {
    const path = (id: number, operation: Parameters<typeof operationPath>[1]) => {
      const type = channelType(id);
      return type && operationPath(type, operation);
    };
    expect(path(1, "chat")).toBe("/v1/chat/completions");
    expect(path(17, "chat")).toBe("/compatible-mode/v1/chat/completions");
    expect(path(26, "chat")).toBe("/api/paas/v4/chat/completions");
    expect(path(27, "chat")).toBe("/chat/completions");
    expect(path(35, "chat")).toBe("/v1/text/chatcompletion_v2");
    expect(path(43, "completions")).toBe("/beta/completions");
    expect(path(45, "chat")).toBe("/api/v3/chat/completions");
    expect(path(46, "chat")).toBe("/v2/chat/completions");
    expect(path(43, "images")).toBeUndefined();
  });

  test("an unknown number is no type, and its key is used as it is", () => {
    for (const id of [0, 28, 9999, -1, Number.NaN]) expect(channelType(id)).toBeUndefined();
    expect(splitKey(0, " sk-1 ")).toEqual({ api_key: "sk-1" });
  });
});

describe("channel keys", () => {
  const vertex = { type: "service_account", project_id: "p", client_email: "a@b", private_key: "k", universe: 1 };

  test.each([
    [1, " sk-abc|def\n", { api_key: "sk-abc|def" }],
    [4, "", {}],
    [15, "ak|sk", { api_key: "ak", secret_key: "sk" }],
    [16, "id.secret", { id: "id", secret: "secret" }],
    [18, "app|secret|key", { app_id: "app", api_secret: "secret", api_key: "key" }],
    [22, "fastgpt-abc-64f0", { api_key: "fastgpt-abc", app_id: "64f0" }],
    [23, "1|2|3", { app_id: "1", secret_id: "2", secret_key: "3" }],
    [33, "ak|sk|us-east-1", { access_key: "ak", secret_key: "sk", region: "us-east-1" }],
    [33, "bedrock-key|us-east-1", { api_key: "bedrock-key", region: "us-east-1" }],
    [41, JSON.stringify(vertex), { type: "service_account", project_id: "p", client_email: "a@b", private_key: "k" }],
    [46, "bce-v3/x", { api_key: "bce-v3/x" }],
    [46, "bce-v3/x|app-1", { api_key: "bce-v3/x", app_id: "app-1" }],
    [50, "ak|sk", { access_key: "ak", secret_key: "sk" }],
    [50, "sk-1", { api_key: "sk-1" }],
    [51, "ak|sk", { access_key: "ak", secret_key: "sk" }],
    [57, '{"access_token":"t","account_id":"a"}', { access_token: "t", account_id: "a" }],
  ])("type %i splits its key", (type, key, parts) => {
    expect(splitKey(type, key)).toEqual(parts);
    expect(keyProblem(type, key)).toBeUndefined();
  });

  test.each([
    [1, "  "],
    [15, "only-one"],
    [15, "a|b|c"],
    [15, "a|"],
    [16, "no-dot"],
    [18, "a|b"],
    [22, "nohyphen"],
    [23, "a||c"],
    [33, "ak"],
    [41, "not json"],
    [41, "[]"],
    [41, '{"project_id":"p"}'],
    [51, "sk-1"],
    [57, '{"access_token":"t","account_id":""}'],
  ])("type %i refuses a key of another form and does not repeat it", (type, key) => {
    expect(splitKey(type, key)).toBeUndefined();
    const problem = keyProblem(type, key);
    expect(problem?.zh).toBeString();
    expect(problem?.en).toBeString();
    if (key.trim().length > 4) expect(JSON.stringify(problem)).not.toContain(key);
  });

  test.each([
    // spec: A-538
    [15, "APIKey|SecretKey"],
    // spec: A-539
    [18, "APPID|APISecret|APIKey"],
    // spec: A-540
    [22, "APIKey-AppId"],
    // spec: A-541
    [23, "AppId|SecretId|SecretKey"],
    // spec: A-542
    [33, "Ak|Sk|Region"],
  ])("the hint of type %i is %s, as specified", (type, hint) => {
    // spec
    expect(channelType(type)?.key_format.hint).toEqual({ zh: hint, en: hint });
    expect(keyProblem(type, "wrong")?.zh).toContain(hint);
  });
});

describe("channel extra fields", () => {
  test("an empty `other` becomes the default of types 3 and 18", () => {
    // spec: C-237
    expect(otherOrDefault(3, " ")).toBe("2023-06-01-preview");
    // spec: C-240
    expect(otherOrDefault(18, "")).toBe("v2.1");
    expect(otherOrDefault(3, "2024-10-21")).toBe("2024-10-21");
    expect(otherOrDefault(1, "")).toBe("");
  });

  test("`other` is required where a call is impossible without it", () => {
    for (const type of [21, 39, 41]) expect(otherProblem(type, " ")?.zh).toStartWith("请填写");
    for (const type of [1, 3, 18, 49]) expect(otherProblem(type, "")).toBeUndefined();
  });

  test("the Vertex region is a name, or a map with a default", () => {
    expect(otherProblem(41, "us-central1")).toBeUndefined();
    expect(otherProblem(41, channelTemplates.region)).toBeUndefined();
    // spec: C-246
    for (const bad of ['{"claude":"europe-west1"}', "{", '{"default":1}']) expect(otherProblem(41, bad)).toBeDefined();
    // spec: A-536
    expect(otherFor(41, channelTemplates.region, "gemini-2.5-pro")).toBe("us-central1");
    // spec: A-537, C-246, D-82
    expect(otherFor(41, channelTemplates.region, "claude-3-5-sonnet-20240620")).toBe("europe-west1");
    expect(otherFor(41, "global", "any")).toBe("global");
  });

  test("base_url loses trailing slashes, falls back to the default and is required where there is none", () => {
    expect(baseUrlOf(1, " https://x.example// ")).toBe("https://x.example");
    expect(baseUrlOf(1, "")).toBe("https://api.openai.com");
    for (const type of [3, 8, 36, 47]) expect(baseUrlProblem(type, "")?.en).toStartWith("Please enter");
    for (const type of [1, 33, 41]) expect(baseUrlProblem(type, "")).toBeUndefined();
    expect(baseUrlProblem(8, "https://x.example/{model}/chat")).toBeUndefined();
    expect(baseUrlProblem(1, "x.example")).toBeDefined();
    expect(baseUrlProblem(1, "javascript:alert(1)")).toBeDefined();
  });

  test("the templates of the mappings are the specified ones", () => {
    // spec: A-534
    expect(JSON.parse(channelTemplates.model_mapping)).toEqual({ "gpt-3.5-turbo": "gpt-3.5-turbo-0125" });
    // spec: A-535
    expect(JSON.parse(channelTemplates.status_code_mapping)).toEqual({ "400": "500" });
    // spec, D-82
    expect(JSON.parse(channelTemplates.region)).toEqual({
      default: "us-central1",
      "claude-3-5-sonnet-20240620": "europe-west1",
    });
  });

  test("known models are listed once, with their first owner", () => {
    const known = knownModels();
    expect(new Set(known.map((model) => model.id)).size).toBe(known.length);
    expect(known).toContainEqual({ id: "gpt-4o-mini", owned_by: "openai" });
    expect(known).toContainEqual({ id: "suno_music", owned_by: "suno" });
  });
});

describe("coding plans", () => {
  test.each(Object.keys(codingPlans))("%s is an address that can be saved, and lists its models", (plan) => {
    for (const type of [14, 25, 26, 45])
      expect([baseUrlOf(type, ` ${plan}/`), baseUrlProblem(type, plan)]).toEqual([plan, undefined]);
    expect(planModels(plan)).toMatch(/^https:.*\/models$/);
  });

  test("other words are no addresses", () => {
    for (const word of ["coding-plan", "glm-coding-plan-2", "constructor", "toString"])
      expect(baseUrlProblem(26, word)).toBeDefined();
    expect(planModels("https://api.example.com")).toBeUndefined();
  });
});

test("another name of a model resolves to the one that it is priced and routed by; inherited property names do not", () => {
  // spec: C-234, D-86
  expect(["mj_uploads", "mj_upload", "gpt-4o", "constructor", "__proto__", ""].map(canonicalModel)).toEqual([
    "mj_upload",
    "mj_upload",
    "gpt-4o",
    "constructor",
    "__proto__",
    "",
  ]);
});
