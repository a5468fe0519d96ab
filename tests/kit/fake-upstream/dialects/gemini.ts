/**
 * Google Gemini API: generateContent, streamGenerateContent (SSE with ?alt=sse, else one JSON array).
 * Source: ai.google.dev/api/generate-content (GenerateContentResponse, UsageMetadata), /api/all-methods (v1beta),
 * ai.google.dev/gemini-api/docs/thinking and /troubleshooting (google.rpc.Status errors), read November 2026.
 */
import { type Answer, type Json, list, object, text } from "../answer";
import type { FakeUsage } from "../behaviours";
import type { Dialect, ErrorKind, Frame } from "./dialect";

const FINISH = { stop: "STOP", length: "MAX_TOKENS", content_filter: "SAFETY", tool: "STOP" } as const;
const STATUS: Record<number, [status: string, message: string]> = {
  400: ["INVALID_ARGUMENT", "Request contains an invalid argument."],
  401: ["UNAUTHENTICATED", "Request had invalid authentication credentials."],
  403: ["PERMISSION_DENIED", "The caller does not have permission"],
  404: ["NOT_FOUND", "models/fake is not found for API version v1beta, or is not supported for generateContent."],
  429: ["RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."],
  500: ["INTERNAL", "An internal error has occurred. Please retry."],
  503: ["UNAVAILABLE", "The model is overloaded. Please try again later."],
  504: ["DEADLINE_EXCEEDED", "The request timed out."],
};

function errorBody(code: number, status: string, message: string, details?: Json[]): Json {
  return { error: { code, message, status, ...(details && { details }) } };
}

function error(kind: ErrorKind, message?: string) {
  if (kind === "invalid_key") {
    const details = [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" },
    ];
    const text = "API key not valid. Please pass a valid API key.";
    return { status: 400, body: errorBody(400, "INVALID_ARGUMENT", message ?? text, details) };
  }
  if (kind === "no_quota") {
    const text = "You exceeded your current quota, please check your plan and billing details.";
    return { status: 429, body: errorBody(429, "RESOURCE_EXHAUSTED", message ?? text) };
  }
  const code = kind === "overloaded" ? 503 : kind;
  const [status, known] = STATUS[code] ?? [code < 500 ? "INVALID_ARGUMENT" : "INTERNAL", `Error ${code}.`];
  const details =
    code === 429 ? [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "1s" }] : undefined;
  const headers = code === 429 ? { "retry-after": "1" } : undefined;
  return { status: code, headers, body: errorBody(code, status, message ?? known, details) };
}

/** promptTokenCount includes cached content; candidatesTokenCount excludes thoughts. */
function usageMetadata(usage: FakeUsage, output = usage.output - usage.reasoning): Json {
  const modalities = (total: number, audio: number): Json[] => [
    { modality: "TEXT", tokenCount: total - audio },
    ...(audio > 0 ? [{ modality: "AUDIO", tokenCount: audio }] : []),
  ];
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: output,
    totalTokenCount: usage.input + output + usage.reasoning,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    promptTokensDetails: modalities(usage.input, usage.audioIn),
    ...(usage.audioOut > 0 && { candidatesTokensDetails: modalities(output, usage.audioOut) }),
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
  };
}

const said = (answer: Answer): string[] => (answer.refusal.length > 0 ? answer.refusal : answer.text);
const callPart = (answer: Answer, fragments: string[], name: string, first: boolean): Json => ({
  functionCall: { name, args: object(JSON.parse(fragments.join(""))) },
  ...(first &&
    (answer.signed ?? answer.reasoning.length > 0) && { thoughtSignature: btoa(`fake-signature-${answer.id}`) }),
});

function envelope(answer: Answer, candidates: Json[], usage?: Json): Json {
  return { candidates, ...(usage && { usageMetadata: usage }), modelVersion: answer.model, responseId: answer.id };
}

function candidates(answer: Answer, parts: Json[], finishReason?: string): Json[] {
  return Array.from({ length: answer.choices }, (_, index) => ({
    content: { ...(parts.length > 0 && { parts }), role: "model" },
    ...(finishReason && { finishReason }),
    index,
  }));
}

function whole(answer: Answer): Json {
  const parts: Json[] = [];
  if (answer.reasoning.length > 0) parts.push({ text: answer.reasoning.join(""), thought: true });
  if (said(answer).length > 0) parts.push({ text: said(answer).join("") });
  answer.tools.forEach((tool, i) => parts.push(callPart(answer, tool.fragments, tool.name, i === 0)));
  return envelope(
    answer,
    candidates(answer, parts, FINISH[answer.finish]),
    answer.usage && usageMetadata(answer.usage),
  );
}

function frames(answer: Answer): Frame[] {
  const parts: Json[] = [
    ...answer.reasoning.map((piece) => ({ text: piece, thought: true })),
    ...said(answer).map((piece) => ({ text: piece })),
    ...answer.tools.map((tool, i) => callPart(answer, tool.fragments, tool.name, i === 0)),
  ];
  const late = answer.behaviour.usageMode === "late";
  const { usage } = answer;
  const total = usage && usage.output - usage.reasoning;
  const out = parts.map((part, i): Frame => {
    const running = usage && !late ? usageMetadata(usage, Math.round(((total ?? 0) * i) / parts.length)) : undefined;
    return { kind: "content", data: JSON.stringify(envelope(answer, candidates(answer, [part]), running)) };
  });
  const finish = candidates(answer, [{ text: "" }], FINISH[answer.finish]);
  const complete = usage && usageMetadata(usage);
  out.push({ kind: "finish", data: JSON.stringify(envelope(answer, finish, late ? undefined : complete)) });
  if (late && complete)
    out.push({ kind: "usage", data: JSON.stringify({ usageMetadata: complete, modelVersion: answer.model }) });
  return out;
}

export const gemini: Dialect = {
  prompt(request) {
    const last = list(request.contents)
      .map(object)
      .findLast((turn) => (turn.role ?? "user") === "user");
    return {
      lastUserText: list(last?.parts)
        .map((part) => text(object(part).text))
        .join(""),
      toolNames: list(request.tools)
        .flatMap((tool) => list(object(tool).functionDeclarations))
        .map((declared) => text(object(declared).name))
        .filter(Boolean),
    };
  },
  whole,
  frames,
  error,
  errorFrame: () => ({
    kind: "content",
    data: JSON.stringify(errorBody(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")),
  }),
};
