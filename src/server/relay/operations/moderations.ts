/** POST /v1/moderations: input only; vendors report no usage. */
import { fail } from "../../../shared/errors";
import { readUsage } from "../../protocol/dialects/openai-chat/usage";
import { type Operation, readModelOr } from "./operation";

const DEFAULT_MODEL = "text-moderation-stable";

export const moderations: Operation = {
  key: "moderations",
  streams: false,
  read(body) {
    const model = readModelOr(body, DEFAULT_MODEL);
    const { input } = body;
    if (typeof input !== "string" && !Array.isArray(input)) fail("invalid_request", { detail: "input" });
    const usage = { input: Math.ceil(Buffer.byteLength(JSON.stringify(input)) / 3) };
    return { ...model, stream: false, include_usage: true, max_output: 0, terms: { usage, exact: false } };
  },
  direct: {
    json: true,
    plain: "never",
    isAnswer: (body) => Array.isArray(body.results),
    usageOf: (body) => readUsage(body.usage),
  },
};
