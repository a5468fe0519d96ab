import { expect, test } from "bun:test";
import { zhipuToken } from "./zhipu-v3";

// The result of generate_token of zhipuai 1.0.7 for this key at this time (PyJWT 2.15.1, a lifetime of 180 seconds).
const OF_THE_SDK =
  "eyJhbGciOiJIUzI1NiIsInNpZ25fdHlwZSI6IlNJR04iLCJ0eXAiOiJKV1QifQ.eyJhcGlfa2V5IjoiMDEyMzQ1Njc4OWFiY2RlZiIsImV4cCI6MTc2MzcwMDE4MDAwMCwidGltZXN0YW1wIjoxNzYzNzAwMDAwMDAwfQ.iU7o4mQP9t1mlQSLLgHzzNusjwvxd0E2GCze5DtX1fQ";

test("makes the token that the vendor's own SDK makes", async () => {
  expect(await zhipuToken("0123456789abcdef", "weir-test-secret", 1_763_700_000_000, 180)).toBe(OF_THE_SDK);
});
