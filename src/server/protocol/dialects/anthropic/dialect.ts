/** The Anthropic dialect for translations, assembled. */
import type { ChatDialect } from "../translation";
import { decodeAnswer, encodeAnswer } from "./answer";
import { readError, writeError } from "./error";
import { anthropicFeatures } from "./features";
import { inWords } from "./for-others";
import { decodeRequest } from "./request-decode";
import { encodeRequest } from "./request-encode";
import { AnthropicStreamDecoder } from "./stream-decode";
import { AnthropicStreamEncoder } from "./stream-encode";
import { answerSupport, requestSupport } from "./support";

export const anthropicDialect: ChatDialect = {
  key: "anthropic",
  decodeRequest,
  forOthers: inWords,
  encodeRequest,
  decodeAnswer,
  encodeAnswer: (answer, context, warn) =>
    encodeAnswer({ ...answer, id: answer.id || context.id, model: context.model ?? answer.model }, warn),
  streamDecoder: () => new AnthropicStreamDecoder(),
  streamEncoder: (context, warn) => new AnthropicStreamEncoder(context, warn),
  readError,
  writeError,
  features: anthropicFeatures,
  requestSupport,
  answerSupport,
};
