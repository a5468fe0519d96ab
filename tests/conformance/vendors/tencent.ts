/**
 * Tencent Hunyuan (cloud.tencent.com/document/product/1729/105701; types of tencentcloud-sdk-nodejs, hunyuan v20230901;
 * November 2026).
 */
import { expect } from "bun:test";
import { tc3Authorization } from "../../../src/server/relay/providers/tc3";
import { sse, type VendorFake } from "../vendor-fake";

const says = "你好！很高兴见到你。";
const Usage = { PromptTokens: 16, CompletionTokens: 14, TotalTokens: 30 };
const base = {
  Note: "以上内容为AI生成，不代表开发者立场，请勿删除或修改本标记",
  Created: 1_763_700_000,
  Id: "e38948cb",
};
const wrapped = (Response_: object): Response => Response.json({ Response: { RequestId: "e38948cb", ...Response_ } });

export const vendor: VendorFake = {
  types: ["tencent"],
  source: "cloud.tencent.com/document/product/1729/105701, November 2026",
  key: "1300000000|AKIDexample|secretexample",
  model: "hunyuan-turbos-latest",
  chat: { says, prompt: 16, completion: 14 },
  refusal: { model: "hunyuan-none", kind: "model_missing", message: "model not exist" },
  answer({ method, path, url, headers, json, text }) {
    expect([method, path]).toEqual(["POST", "/"]);
    expect(headers.get("x-tc-action")).toBe("ChatCompletions");
    expect(headers.get("x-tc-version")).toBe("2023-09-01");
    const timestamp = Number(headers.get("x-tc-timestamp"));
    expect(Math.abs(Date.now() / 1000 - timestamp)).toBeLessThan(60);
    // The signature itself is checked against Tencent's worked example in providers/tc3.test.ts.
    expect(headers.get("authorization")).toBe(
      tc3Authorization({
        secret_id: "AKIDexample",
        secret_key: "secretexample",
        service: "hunyuan",
        host: url.host,
        action: "ChatCompletions",
        content_type: String(headers.get("content-type")),
        body: text,
        timestamp,
      }),
    );
    if (json.Model === "hunyuan-none")
      return wrapped({ Error: { Code: "InvalidParameterValue.Model", Message: "model not exist" } });
    expect(json).toMatchObject({ Model: "hunyuan-turbos-latest", Messages: [{ Role: "user", Content: "hello" }] });
    if (json.Stream !== true) {
      return wrapped({
        ...base,
        Choices: [{ Index: 0, Message: { Role: "assistant", Content: says }, FinishReason: "stop" }],
        Usage,
      });
    }
    const piece = (Content: string, FinishReason = "") => ({
      ...base,
      Choices: [{ Index: 0, Delta: { Role: "assistant", Content }, FinishReason }],
      Usage,
    });
    return sse(piece(says.slice(0, 3)), piece(says.slice(3)), piece("", "stop"));
  },
};
