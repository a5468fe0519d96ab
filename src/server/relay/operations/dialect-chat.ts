/**
 * Conversations of callers that do not speak OpenAI's chat dialect. Channels are selected by the operation `chat`,
 * whatever their dialect. Only what the relay needs is read here; translation, or the vendor in passthrough, checks the
 * rest.
 */
import { fail } from "../../../shared/errors";
import { isObject } from "../../lib/json-bytes";
import { type Operation, readCount, readFlag, readModel } from "./operation";

const limit = (most: number | undefined): { max_output?: number } => (most === undefined ? {} : { max_output: most });

/** POST /v1/messages (Anthropic). */
export const messages: Operation = {
  key: "chat",
  native: { operation: "messages", dialect: "anthropic" },
  streams: true,
  read(body) {
    const model = readModel(body);
    if (!Array.isArray(body.messages)) fail("invalid_request", { detail: "messages" });
    return { model, stream: readFlag(body, "stream"), include_usage: true, ...limit(readCount(body, "max_tokens")) };
  },
};

/** POST /v1/responses (OpenAI). Its responses repeat the request. */
export const responses: Operation = {
  key: "chat",
  native: { operation: "responses", dialect: "openai-responses" },
  refers: "responses",
  streams: true,
  read(body) {
    // A call that continues an answer may leave its model to that answer (endpoints/stored/conversation.ts).
    const continued = typeof body.previous_response_id === "string" && body.previous_response_id !== "";
    const model = continued && (body.model ?? "") === "" ? "" : readModel(body);
    const { input } = body;
    // A prompt template stored by the vendor, or an answer that is continued, may be the whole input.
    const said =
      typeof input === "string" ||
      Array.isArray(input) ||
      ((input ?? undefined) === undefined && (isObject(body.prompt) || typeof body.previous_response_id === "string"));
    if (!said) fail("invalid_request", { detail: "input" });
    const most = limit(readCount(body, "max_output_tokens"));
    return { model, stream: readFlag(body, "stream"), include_usage: true, wire: body, ...most };
  },
};

/**
 * POST /v1beta/models/{model}:generateContent and :streamGenerateContent (Gemini): the path names the model and whether
 * to stream.
 */
export const generateContent = (model: string, stream: boolean): Operation => ({
  key: "chat",
  streams: true,
  read(body) {
    if (!Array.isArray(body.contents)) fail("invalid_request", { detail: "contents" });
    const config = body.generationConfig ?? body.generation_config;
    const settings = isObject(config) ? config : {};
    const most = readCount(settings, "maxOutputTokens") ?? readCount(settings, "max_output_tokens");
    const choices = Math.max(1, readCount(settings, "candidateCount") ?? readCount(settings, "candidate_count") ?? 1);
    return {
      model,
      stream,
      include_usage: true,
      ...limit(most === undefined ? undefined : most * choices),
      ...(choices > 1 && { choices }),
    };
  },
});
