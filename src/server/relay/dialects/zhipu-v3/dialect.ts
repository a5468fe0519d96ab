/** The language of Zhipu's API of generation 3, assembled. */
import type { ChatDialect } from "../translation";
import { decodeAnswer, readError, ZhipuStreamDecoder } from "./answer";
import { zhipuFeatures } from "./features";
import { encodeRequest } from "./request-encode";

export const zhipuDialect: Pick<ChatDialect, "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features"> = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ZhipuStreamDecoder(id),
  readError,
  features: zhipuFeatures,
};
