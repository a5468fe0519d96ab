/** The Responses dialect for translations, assembled. */
import { toWire } from "../openai-chat/error-body";
import type { ChatDialect } from "../translation";
import { decodeAnswer } from "./answer-decode";
import { encodeAnswer } from "./answer-encode";
import { responsesFeatures } from "./features";
import { withoutNamespaces } from "./namespaces";
import { decodeRequest } from "./request-decode";
import { encodeRequest } from "./request-encode";
import { readError, ResponsesStreamDecoder } from "./stream-decode";
import { ResponsesStreamEncoder } from "./stream-encode";
import { answerSupport, requestSupport } from "./support";

export const responsesDialect: ChatDialect = {
  key: "openai-responses",
  decodeRequest,
  forOthers: withoutNamespaces,
  encodeRequest,
  decodeAnswer,
  encodeAnswer,
  streamDecoder: () => new ResponsesStreamDecoder(),
  streamEncoder: (context, warn) => new ResponsesStreamEncoder(context, warn),
  readError,
  writeError: toWire,
  features: responsesFeatures,
  requestSupport,
  answerSupport,
};
