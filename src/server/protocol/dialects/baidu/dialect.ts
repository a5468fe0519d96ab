/** The language of Baidu Wenxin, generation 1, assembled. */
import { ChatLikeDecoder } from "../shared/chat-like";
import type { VendorDialect } from "../vendor-dialect";
import { chunkOf, decodeAnswer, readError } from "./answer";
import { baiduFeatures } from "./features";
import { encodeRequest } from "./request-encode";
import { requestSupport } from "./support";

export const baiduDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ChatLikeDecoder(id, { readError, chunkOf }),
  readError,
  requestSupport,
  features: baiduFeatures,
};
