/**
 * Languages that one vendor speaks and no caller: the upstream half of a dialect. What a channel of such a language answers
 * is always translated. The key is the vendor's `dialect` in shared/channel-types.
 */
import type { Dialect } from "../../../shared/channel-types";
import type { DialectKey } from "../events";
import { chatDialects } from "./chat-dialects";
import type { ChatDialect } from "./translation";

/** Values in, values out, as in translation.ts; streams are read from SSE data, whatever the vendor's own framing is. */
export type VendorDialect = Pick<ChatDialect, "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features">;

export const vendorDialects = {
  // Cohere, Dify, Coze, PaLM, AI Proxy library

  // Baidu, Zhipu v3, Spark, Tencent

  // Amazon Bedrock Converse
} as const satisfies Partial<Record<Exclude<Dialect, DialectKey>, VendorDialect>>;

/** Every language that a channel may be spoken to in. */
export type UpstreamDialectKey = DialectKey | keyof typeof vendorDialects;

export const upstreamDialects: Readonly<Record<UpstreamDialectKey, VendorDialect>> = { ...chatDialects, ...vendorDialects };

export const isUpstreamDialect = (dialect: string): dialect is UpstreamDialectKey => Object.hasOwn(upstreamDialects, dialect);
