import { describe, expect, test } from "bun:test";
import { sparkAddress, sparkVersion } from "./spark";

test("signs as the worked example of xfyun.cn/doc/spark/general_url_authentication.html", () => {
  const api_secret = "MjlmNzkzNmZkMDQ2OTc0ZDdmNGE2ZTZi";
  const api_key = "addd2272b6d8b7c8abdd79531420ca3b";
  const now = Date.parse("Fri, 05 May 2023 10:43:39 GMT");
  const address = sparkAddress("wss://spark-api.xf-yun.com/v1.1/chat", api_key, api_secret, now);
  const signature = "z5gHdu3pxVV4ADMyk467wOWDQ9q6BQzR3nfMTjc/DaQ=";
  const proof = `api_key="${api_key}", algorithm="hmac-sha256", headers="host date request-line", signature="${signature}"`;
  const authorization = Buffer.from(proof).toString("base64");
  expect(address).toBe(
    `wss://spark-api.xf-yun.com/v1.1/chat?authorization=${encodeURIComponent(authorization)}&date=Fri%2C+05+May+2023+10%3A43%3A39+GMT&host=spark-api.xf-yun.com`,
  );
});

describe("the version of Spark", () => {
  test.each([
    ["generalv3.5", "", "/v3.5/chat", "generalv3.5"],
    ["4.0Ultra", "v1.1", "/v4.0/chat", "4.0Ultra"],
    ["max-32k", "v2.1", "/chat/max-32k", "max-32k"],
    ["SparkDesk-v3.1", "v1.1", "/v3.1/chat", "generalv3"],
    ["SparkDesk", "v2.1", "/v2.1/chat", "generalv2"],
    ["SparkDesk", "lite", "/v1.1/chat", "lite"],
  ])("model %p on a channel of %p is at %p with domain %p", (model, other, path, domain) => {
    expect(sparkVersion(model, other)).toEqual({ path, domain });
  });

  test("is absent if neither model nor channel names one", () => {
    expect(sparkVersion("SparkDesk", "")).toBeUndefined();
    expect(sparkVersion("SparkDesk", "v9.9")).toBeUndefined();
  });
});
