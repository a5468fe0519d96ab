/** POST /v1/chat/completions. */
import { fail } from "../../../shared/errors";
import { isObject, type JsonObject } from "../../lib/json-bytes";
import { type Operation, readCount, readFlag, readModel } from "./operation";

function includeUsage(body: JsonObject): boolean {
  const options = body.stream_options;
  if (options === undefined || options === null) return false;
  if (!isObject(options)) fail("invalid_request", { detail: "stream_options" });
  return options.include_usage === true;
}

export const chat: Operation = {
  key: "chat",
  refers: "files",
  streams: true,
  read(body) {
    const model = readModel(body);
    if (!Array.isArray(body.messages)) fail("invalid_request", { detail: "messages" });
    const most = readCount(body, "max_completion_tokens") ?? readCount(body, "max_tokens");
    const choices = Math.max(1, readCount(body, "n") ?? 1);
    return {
      model,
      stream: readFlag(body, "stream"),
      include_usage: includeUsage(body),
      ...(most !== undefined && { max_output: most * choices }),
      ...(choices > 1 && { choices }),
    };
  },
};

/** POST /v1/completions: the legacy call, with a prompt instead of messages. */
export const completions: Operation = {
  key: "completions",
  streams: true,
  read(body) {
    const model = readModel(body);
    const most = readCount(body, "max_tokens");
    const choices = Math.max(1, readCount(body, "n") ?? 1, readCount(body, "best_of") ?? 1);
    return {
      model,
      stream: readFlag(body, "stream"),
      include_usage: includeUsage(body),
      ...(most !== undefined && { max_output: most * choices }),
      ...(choices > 1 && { choices }),
    };
  },
};
