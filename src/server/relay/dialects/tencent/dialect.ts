/** The language of Tencent Hunyuan (ChatCompletions, version 2023-09-01), assembled. */
import type { ChatDialect } from "../translation";
import { decodeAnswer, readError, TencentStreamDecoder } from "./answer";
import { tencentFeatures } from "./features";
import { encodeRequest } from "./request-encode";

export const tencentDialect: Pick<ChatDialect, "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features"> = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new TencentStreamDecoder(id),
  readError,
  features: tencentFeatures,
};
