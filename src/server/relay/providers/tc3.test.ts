import { expect, test } from "bun:test";
import { tc3Authorization } from "./tc3";

// The worked example of cloud.tencent.com/document/api/213/30654 (signature v3): the page prints the secrets as 32
// asterisks and computes with them.
const stars = "*".repeat(32);

test("signs as the worked example of Tencent Cloud's documentation", () => {
  const authorization = tc3Authorization({
    secret_id: `AKID${stars}`,
    secret_key: stars,
    service: "cvm",
    host: "cvm.tencentcloudapi.com",
    action: "DescribeInstances",
    content_type: "application/json; charset=utf-8",
    body: String.raw`{"Limit": 1, "Filters": [{"Values": ["\u672a\u547d\u540d"], "Name": "instance-name"}]}`,
    timestamp: 1_551_113_065,
  });
  expect(authorization).toBe(
    `TC3-HMAC-SHA256 Credential=AKID${stars}/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host;x-tc-action, ` +
      "Signature=10b1a37a7301a02ca19a647ad722d5e43b4b3cff309d421d85b46093f6ab6c4f",
  );
});
