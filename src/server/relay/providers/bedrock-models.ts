/**
 * Amazon's model ids (docs.aws.amazon.com/bedrock/latest/userguide, "Supported foundation models" and "inference
 * profiles"; platform.claude.com/docs, "Claude on Amazon Bedrock"; November 2026). A name that is already Amazon's
 * (with its vendor prefix, or an ARN) is used unchanged.
 */

/** Names whose version suffix breaks the rule: `-v1:0` after a date, nothing without one. */
const versions: Readonly<Record<string, string>> = {
  "claude-3-5-sonnet-20241022": "-v2:0",
  "claude-opus-4-6": "-v1",
};

/**
 * The prefix of a cross-region inference profile, by the region of the call; the first match wins. Any other region
 * uses the global profile.
 */
const geographies: readonly (readonly [region: string, prefix: string])[] = [
  ["us-gov-", "us-gov."],
  ["us-", "us."],
  ["ca-", "us."],
  ["eu-", "eu."],
];

/** Models with a profile for Asia-Pacific; later ones are served there by the global profile. */
const apac = /^claude-(3-haiku|3-5-sonnet|3-7-sonnet|sonnet-4-2025)|^nova-(pro|lite|micro)-v1/;

const AMAZONS = /^arn:|^[a-z][a-z0-9-]*\.[a-z]/;

/** The model id for a region. */
export function bedrockModel(model: string, region: string): string {
  if (AMAZONS.test(model)) return model;
  const found = geographies.find(([start]) => region.startsWith(start))?.[1];
  const prefix = found ?? (region.startsWith("ap-") && apac.test(model) ? "apac." : "global.");
  if (model.startsWith("nova-")) return `${prefix}amazon.${model}`;
  return `${prefix}anthropic.${model}${versions[model] ?? (/-\d{8}$/.test(model) ? "-v1:0" : "")}`;
}

/** The model behind a cross-region profile, which CountTokens needs. An ARN stays as it is. */
export const withoutProfile = (id: string): string =>
  id.replace(/^(?:us-gov|us|eu|apac|jp|au|ca|global)\.(?=[a-z0-9-]+\.)/, "");

/** Models of other makers, by the maker in their id: they are called through Converse. Everything else is Claude. */
const OTHERS =
  /^nova-|(?:^|[./])(?:ai21|amazon|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer|zai)\./;

export const isClaude = (model: string): boolean => !OTHERS.test(model);

/**
 * The beta features of Anthropic that Bedrock supports; it refuses a call that names any other
 * (docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response).
 */
export const bedrockBetas: ReadonlySet<string> = new Set([
  "computer-use-2024-10-22",
  "computer-use-2025-01-24",
  "computer-use-2025-11-24",
  "token-efficient-tools-2025-02-19",
  "interleaved-thinking-2025-05-14",
  "output-128k-2025-02-19",
  "dev-full-thinking-2025-05-14",
  "context-1m-2025-08-07",
  "context-management-2025-06-27",
  "effort-2025-11-24",
  "tool-search-tool-2025-10-19",
  "tool-examples-2025-10-29",
]);
