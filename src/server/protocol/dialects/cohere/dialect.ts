/** The language of Cohere's v2 chat, assembled. */
import type { VendorDialect } from "../vendor-dialect";
import { decodeAnswer, readError } from "./answer";
import { cohereFeatures } from "./features";
import { encodeRequest } from "./request-encode";
import { CohereStreamDecoder } from "./stream-decode";
import { requestSupport } from "./support";

export const cohereDialect: VendorDialect = {
  encodeRequest,
  decodeAnswer,
  streamDecoder: (id) => new CohereStreamDecoder(id),
  readError,
  requestSupport,
  features: cohereFeatures,
};
