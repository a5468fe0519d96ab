/** The language of Baidu Wenxin, generation 1, assembled. */
import { ChatLikeDecoder } from "../shared/chat-like";
import type { ChatDialect } from "../translation";
import { chunkOf, decodeAnswer, readError } from "./answer";
import { baiduFeatures } from "./features";
import { encodeRequest } from "./request-encode";

export const baiduDialect: Pick<
  ChatDialect,
  "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features"
> = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ChatLikeDecoder(id, { readError, chunkOf }),
  readError,
  features: baiduFeatures,
};
