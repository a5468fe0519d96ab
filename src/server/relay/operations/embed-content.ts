/**
 * POST /v1beta/models/{model}:embedContent and :batchEmbedContents (ai.google.dev/api/embeddings, November 2026):
 * embeddings for Google's callers, on any channel. Members that only Google knows travel under `google`, one entry per
 * text, for Google's channels.
 */
import { fail } from "../../../shared/errors";
import { isObject, type JsonObject } from "../../lib/json-bytes";
import { embeddings } from "./embeddings";
import { type Operation, readCount } from "./operation";

/** The text of a content. */
function textOf(request: JsonObject): string {
  const parts = isObject(request.content) ? request.content.parts : undefined;
  if (!Array.isArray(parts) || parts.length === 0) fail("invalid_request", { detail: "content" });
  return parts
    .map((part: unknown) =>
      isObject(part) && typeof part.text === "string"
        ? part.text
        : fail("invalid_request", { detail: "content.parts" }),
    )
    .join("");
}

const hint = (request: JsonObject): JsonObject => ({
  taskType: request.taskType ?? request.task_type,
  title: request.title,
});

function dimensionsOf(requests: readonly JsonObject[]): number | undefined {
  const found = new Set(
    requests.map(
      (request) => readCount(request, "outputDimensionality") ?? readCount(request, "output_dimensionality"),
    ),
  );
  // OpenAI's call has one length for all texts.
  if (found.size > 1) fail("invalid_request", { detail: "outputDimensionality" });
  return [...found][0];
}

function requestsOf(body: JsonObject, batch: boolean): JsonObject[] {
  if (!batch) return [body];
  const { requests } = body;
  if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject))
    fail("invalid_request", { detail: "requests" });
  return requests;
}

function valuesOf(item: unknown): number[] {
  const { embedding } = isObject(item) ? item : {};
  return Array.isArray(embedding) ? embedding.filter((value) => typeof value === "number") : [];
}

/** `batch`: several texts, and a list in the response. The path names the model. */
export const embedContent = (model: string, batch: boolean): Operation => ({
  ...embeddings,
  adapter: {
    toOpenAi(body) {
      const requests = requestsOf(body, batch);
      const dimensions = dimensionsOf(requests);
      return {
        model,
        input: requests.map(textOf),
        ...(dimensions !== undefined && { dimensions }),
        google: requests.map(hint),
      };
    },
    withoutHints(body) {
      const { google: _, ...rest } = body;
      return rest;
    },
    fromOpenAi({ data, usage }) {
      const found = (Array.isArray(data) ? data : []).map((item) => ({ values: valuesOf(item) }));
      const counted =
        isObject(usage) && typeof usage.prompt_tokens === "number"
          ? { usageMetadata: { promptTokenCount: usage.prompt_tokens } }
          : {};
      return { ...(batch ? { embeddings: found } : { embedding: found[0] ?? { values: [] } }), ...counted };
    },
  },
});
