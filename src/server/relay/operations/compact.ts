/**
 * POST /v1/responses/compact (types of the `openai` SDK 7.55, CompactedResponse): the result is encrypted and only its
 * vendor can read it, so the call goes to channels that serve the Responses API and is never translated.
 */
import { usageOf } from "../../protocol/dialects/openai-chat/usage";
import { type Operation, readModel } from "./operation";

export const compact: Operation = {
  key: "responses",
  native: { operation: "responses", dialect: "openai-responses" },
  refers: "responses",
  streams: false,
  read: (body) => ({ model: readModel(body), stream: false, include_usage: false }),
  direct: {
    json: true,
    path: ["/responses", "/responses/compact"],
    plain: "never",
    isAnswer: (body) => body.object === "response.compaction",
    usageOf,
    contentBytes: ({ output }) => Buffer.byteLength(JSON.stringify(output ?? [])),
  },
};
