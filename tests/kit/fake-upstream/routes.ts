/**
 * Maps a path to an endpoint. Only the end of a path counts, so that any base path works (/v1, /api/paas/v4,
 * /compatible-mode/v1 …).
 */
import type { ModelListStyle } from "./dialects/operations";
import { anthropic } from "./dialects/anthropic";
import type { Dialect } from "./dialects/dialect";
import { gemini } from "./dialects/gemini";
import { openaiChat, openaiCompletions } from "./dialects/openai-chat";
import { openaiResponses } from "./dialects/openai-responses";
import { isKept } from "./vault";

export type Operation =
  | "generate"
  | "embeddings"
  | "images"
  | "speech"
  | "transcription"
  | "moderations"
  | "rerank"
  | "models"
  | "model"
  | "count-tokens"
  | "embed-content"
  | "subscription"
  | "usage"
  | "compact"
  | "input-tokens"
  /** Stored objects: see vault.ts. */
  | "kept";

export interface Route {
  dialect: Dialect;
  operation: Operation;
  /** The model, if the path names it. */
  model?: string;
  /** Streaming, if the path decides it. */
  stream?: boolean;
}

const POST: [end: string, dialect: Dialect, operation: Operation][] = [
  ["/chat/completions", openaiChat, "generate"],
  ["/completions", openaiCompletions, "generate"],
  ["/responses", openaiResponses, "generate"],
  ["/responses/compact", openaiResponses, "compact"],
  ["/responses/input_tokens", openaiResponses, "input-tokens"],
  ["/messages", anthropic, "generate"],
  ["/messages/count_tokens", anthropic, "count-tokens"],
  ["/embeddings", openaiChat, "embeddings"],
  ["/images/generations", openaiChat, "images"],
  ["/images/edits", openaiChat, "images"],
  ["/images/variations", openaiChat, "images"],
  ["/audio/speech", openaiChat, "speech"],
  ["/audio/transcriptions", openaiChat, "transcription"],
  ["/audio/translations", openaiChat, "transcription"],
  ["/moderations", openaiChat, "moderations"],
  ["/rerank", openaiChat, "rerank"],
  ["/reranks", openaiChat, "rerank"],
];
const GEMINI_VERBS: Record<string, Pick<Route, "operation" | "stream">> = {
  generateContent: { operation: "generate", stream: false },
  streamGenerateContent: { operation: "generate", stream: true },
  countTokens: { operation: "count-tokens" },
  embedContent: { operation: "embed-content" },
  batchEmbedContents: { operation: "embed-content" },
};

/** A path with a stray "%" is not decoded. */
function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Undefined: no such endpoint. */
export function findRoute(method: string, path: string): Route | undefined {
  const end = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  if (isKept(method, end)) return { dialect: openaiResponses, operation: "kept" };
  if (method === "POST") {
    const call = /\/models\/([^/]+):(\w+)$/.exec(decode(end));
    const verb = call && GEMINI_VERBS[call[2] ?? ""];
    if (call && verb) return { dialect: gemini, model: call[1], ...verb };
    const row = POST.find(([suffix]) => end.endsWith(suffix));
    const deployment = /\/deployments\/([^/]+)\//.exec(end)?.[1];
    return row && { dialect: row[1], operation: row[2], model: deployment && decode(deployment) };
  }
  if (method !== "GET") return undefined;
  if (end.endsWith("/billing/subscription")) return { dialect: openaiChat, operation: "subscription" };
  if (end.endsWith("/billing/usage")) return { dialect: openaiChat, operation: "usage" };
  if (end.endsWith("/models"))
    return { dialect: /\/v1(beta|alpha)\//.test(end) ? gemini : openaiChat, operation: "models" };
  const one = /\/models\/(.+)$/.exec(end)?.[1];
  return one ? { dialect: openaiChat, operation: "model", model: decode(one) } : undefined;
}

export function modelListStyle(route: Route, headers: Record<string, string>): ModelListStyle {
  if (route.dialect === gemini) return "gemini";
  return headers["anthropic-version"] ? "anthropic" : "openai";
}
