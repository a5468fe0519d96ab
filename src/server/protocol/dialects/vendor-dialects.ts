/**
 * Languages that one vendor speaks and no caller: the upstream half of a dialect. What a channel of such a language
 * answers is always translated. The key is the vendor's `dialect` in shared/channel-types.
 */
import type { Dialect } from "../../../shared/channel-types";
import type { DialectKey } from "../chat-events";
import { aiproxyLibraryDialect } from "./aiproxy-library/dialect";
import { baiduDialect } from "./baidu/dialect";
import { converseDialect } from "./bedrock/dialect";
import { chatDialects } from "./chat-dialects";
import { cohereDialect } from "./cohere/dialect";
import { cozeDialect } from "./coze/dialect";
import { difyDialect } from "./dify/dialect";
import { mistralDialect } from "./mistral/dialect";
import { palmDialect } from "./palm/dialect";
import { sparkDialect } from "./spark/dialect";
import { tencentDialect } from "./tencent/dialect";
import { zhipuDialect } from "./zhipu-v3/dialect";
import type { VendorDialect } from "./vendor-dialect";

export const vendorDialects = {
  cohere: cohereDialect,
  dify: difyDialect,
  coze: cozeDialect,
  palm: palmDialect,
  mistral: mistralDialect,
  "aiproxy-library": aiproxyLibraryDialect,

  // Baidu, Zhipu v3, Spark, Tencent
  baidu: baiduDialect,
  "zhipu-v3": zhipuDialect,
  spark: sparkDialect,
  tencent: tencentDialect,

  // Amazon Bedrock: Converse
  bedrock: converseDialect,
} as const satisfies Partial<Record<Exclude<Dialect, DialectKey>, VendorDialect>>;

/** Every language that a channel may be spoken to in. */
export type UpstreamDialectKey = DialectKey | keyof typeof vendorDialects;

export const upstreamDialects: Readonly<Record<UpstreamDialectKey, VendorDialect>> = {
  ...chatDialects,
  ...vendorDialects,
};

export const isUpstreamDialect = (dialect: string): dialect is UpstreamDialectKey =>
  Object.hasOwn(upstreamDialects, dialect);
