/** The language of iFlytek Spark, assembled. */
import { ChatLikeDecoder } from "../shared/chat-like";
import type { VendorDialect } from "../vendor-dialect";
import { chunkOf, decodeAnswer, readError } from "./answer";
import { sparkFeatures } from "./features";
import { encodeRequest } from "./request-encode";
import { requestSupport } from "./support";

export const sparkDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ChatLikeDecoder(id, { readError, chunkOf }),
  readError,
  requestSupport,
  features: sparkFeatures,
};
