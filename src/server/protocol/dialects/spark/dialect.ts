/** The language of iFlytek Spark, assembled. */
import { ChatLikeDecoder } from "../shared/chat-like";
import type { ChatDialect } from "../translation";
import { chunkOf, decodeAnswer, readError } from "./answer";
import { sparkFeatures } from "./features";
import { encodeRequest } from "./request-encode";

export const sparkDialect: Pick<
  ChatDialect,
  "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features"
> = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ChatLikeDecoder(id, { readError, chunkOf }),
  readError,
  features: sparkFeatures,
};
