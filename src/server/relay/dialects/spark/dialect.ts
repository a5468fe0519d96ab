/** The language of iFlytek Spark, assembled. */
import type { ChatDialect } from "../translation";
import { decodeAnswer, readError, SparkStreamDecoder } from "./answer";
import { sparkFeatures } from "./features";
import { encodeRequest } from "./request-encode";

export const sparkDialect: Pick<ChatDialect, "encodeRequest" | "decodeAnswer" | "streamDecoder" | "readError" | "features"> = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new SparkStreamDecoder(id),
  readError,
  features: sparkFeatures,
};
