/**
 * Names of OpenTelemetry's conventions for generative AI (semantic-conventions-genai, gen-ai-spans and registry,
 * November
 * 2026; status: Development).
 */
import type { channelTypes } from "../../../shared/channel-types";
import type { Operation } from "../../../shared/channel-types";

/** Well-known values of gen_ai.provider.name; another vendor is called by the key of its channel type. */
const providers: Partial<Record<(typeof channelTypes)[number]["key"], string>> = {
  azure: "azure.ai.openai",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

const byKey: Readonly<Record<string, string>> = providers;

/** gen_ai.provider.name of a channel type. */
export const providerName = (key: string): string => byKey[key] ?? key;

/** Well-known values of gen_ai.operation.name; the others are called by their own key. */
const operations: Partial<Record<Operation, string>> = {
  responses: "chat",
  messages: "chat",
  completions: "text_completion",
};

/** gen_ai.operation.name of an operation. */
export const operationName = (key: Operation): string => operations[key] ?? key;
