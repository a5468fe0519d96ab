/** The language of Tencent Hunyuan (ChatCompletions, version 2023-09-01), assembled. */
import { ChatLikeDecoder } from "../shared/chat-like";
import type { ChatDialect } from "../translation";
import { chatOf, decodeAnswer, readError } from "./answer";
import { tencentFeatures } from "./features";
import { encodeRequest } from "./request-encode";

export const tencentDialect: Pick<
  ChatDialect,
  "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features"
> = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ChatLikeDecoder(id, { readError, chunkOf: chatOf }),
  readError,
  features: tencentFeatures,
};
