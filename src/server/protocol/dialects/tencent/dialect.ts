/** The language of Tencent Hunyuan (ChatCompletions, version 2023-09-01), assembled. */
import { ChatLikeDecoder } from "../shared/chat-like";
import type { VendorDialect } from "../vendor-dialect";
import { chatOf, decodeAnswer, readError } from "./answer";
import { tencentFeatures } from "./features";
import { encodeRequest } from "./request-encode";
import { requestSupport } from "./support";

export const tencentDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ChatLikeDecoder(id, { readError, chunkOf: chatOf }),
  readError,
  requestSupport,
  features: tencentFeatures,
};
