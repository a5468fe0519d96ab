/** The Gemini dialect for translations, assembled. */
import type { ChatDialect } from "../translation";
import { decodeAnswer, encodeAnswer } from "./answer";
import { readError, writeError } from "./error";
import { geminiFeatures } from "./features";
import { withVideos } from "./from-others";
import { decodeRequest } from "./request-decode";
import { encodeRequest } from "./request-encode";
import { GeminiStreamDecoder } from "./stream-decode";
import { GeminiStreamEncoder } from "./stream-encode";
import { answerSupport, requestSupport } from "./support";

export const geminiDialect: ChatDialect = {
  key: "gemini",
  decodeRequest,
  encodeRequest,
  fromOthers: withVideos,
  decodeAnswer,
  encodeAnswer: (answer, context, warn) =>
    encodeAnswer({ ...answer, id: answer.id || context.id, model: context.model ?? answer.model }, warn),
  streamDecoder: (id) => new GeminiStreamDecoder(id),
  streamEncoder: (context, warn) => new GeminiStreamEncoder(context, warn),
  readError,
  writeError,
  features: geminiFeatures,
  requestSupport,
  answerSupport,
};
