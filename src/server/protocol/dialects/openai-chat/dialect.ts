/** The OpenAI chat dialect, assembled. Completions and embeddings share its errors, usage and framing. */
import { PING, writeFrame } from "../../../lib/sse";
import type { Dialect } from "../dialect";
import { errorFrame, readError, writeError } from "./error";
import { readResult } from "./response";
import { contentBytes, decodeFrame, notable } from "./stream";

export const openaiChat: Dialect = {
  key: "openai-chat",
  ping: PING,
  terminal: writeFrame("[DONE]"),
  decodeFrame,
  notable,
  contentBytes,
  readResult,
  readError,
  writeError,
  errorFrame,
};
