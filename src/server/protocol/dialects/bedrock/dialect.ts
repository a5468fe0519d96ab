/**
 * The language of Amazon Bedrock's Converse, assembled. Its errors come in Anthropic's words
 * (providers/amazon-events.ts).
 */
import { readError } from "../anthropic/error";
import type { VendorDialect } from "../vendor-dialect";
import { decodeAnswer } from "./answer";
import { converseFeatures } from "./features";
import { encodeRequest } from "./request-encode";
import { ConverseStreamDecoder } from "./stream-decode";
import { requestSupport } from "./support";

export const converseDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new ConverseStreamDecoder(id),
  readError,
  requestSupport,
  features: converseFeatures,
};
