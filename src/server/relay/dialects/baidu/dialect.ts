/** The language of Baidu Wenxin, generation 1, assembled. */
import type { ChatDialect } from "../translation";
import { decodeAnswer, readError, BaiduStreamDecoder } from "./answer";
import { baiduFeatures } from "./features";
import { encodeRequest } from "./request-encode";

export const baiduDialect: Pick<ChatDialect, "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features"> = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new BaiduStreamDecoder(id),
  readError,
  features: baiduFeatures,
};
