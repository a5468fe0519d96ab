/** The language of Zhipu's API of generation 3, assembled. */
import { ChatLikeDecoder } from "../shared/chat-like";
import type { VendorDialect } from "../vendor-dialect";
import { chunkOf, decodeAnswer, readError, readEventError } from "./answer";
import { zhipuFeatures } from "./features";
import { encodeRequest } from "./request-encode";
import { requestSupport } from "./support";

export const zhipuDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ChatLikeDecoder(id, { readError: readEventError, chunkOf }),
  readError,
  requestSupport,
  features: zhipuFeatures,
};
