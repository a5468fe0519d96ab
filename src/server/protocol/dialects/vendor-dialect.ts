/** A dialect that only upstreams speak. */
import type { ChatDialect } from "./translation";

/**
 * Values in, values out, as in translation.ts; streams are read from SSE data, whatever the vendor's own framing is.
 */
export type VendorDialect = Pick<
  ChatDialect,
  "encodeRequest" | "fromOthers" | "decodeAnswer" | "streamDecoder" | "readError" | "features" | "requestSupport"
>;
