/** OpenAI's chat dialect for translations, assembled. */
import type { ChatDialect } from "../translation";
import { decodeAnswer } from "./answer-decode";
import { encodeAnswer } from "./answer-encode";
import { readError } from "./error";
import { toWire } from "./error-body";
import { chatFeatures } from "./features";
import { forModel } from "./likeness";
import { decodeRequest } from "./request-decode";
import { encodeRequest } from "./request-encode";
import { ChatStreamDecoder } from "./stream-decode";
import { ChatStreamEncoder } from "./stream-encode";
import { answerSupport, requestSupport } from "./support";

export const openaiChatDialect: ChatDialect = {
  key: "openai-chat",
  decodeRequest,
  encodeRequest,
  fromOthers: forModel,
  decodeAnswer,
  encodeAnswer: (answer, context, warn) =>
    encodeAnswer({ ...answer, created: answer.created ?? context.created, model: context.model ?? answer.model }, warn),
  streamDecoder: (id) => new ChatStreamDecoder(id),
  streamEncoder: (context, warn) => new ChatStreamEncoder(context, warn),
  readError,
  writeError: toWire,
  features: chatFeatures,
  requestSupport,
  answerSupport,
};
