/** The language of Zhipu's API of generation 3, assembled. */
import { ChatLikeDecoder } from "../shared/chat-like";
import type { ChatDialect } from "../translation";
import { chunkOf, decodeAnswer, readError, readEventError } from "./answer";
import { zhipuFeatures } from "./features";
import { encodeRequest } from "./request-encode";

export const zhipuDialect: Pick<
  ChatDialect,
  "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features"
> = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ChatLikeDecoder(id, { readError: readEventError, chunkOf }),
  readError,
  features: zhipuFeatures,
};
