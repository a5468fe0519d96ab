/**
 * What Amazon calls the models (docs.aws.amazon.com/bedrock/latest/userguide, "Supported foundation models" and
 * "inference profiles"; platform.claude.com/docs, "Claude on Amazon Bedrock"; November 2026). A name that already is
 * Amazon's (with its vendor in front, or an ARN) stays as it is.
 */

/** Names whose version is not that of the rule: `-v1:0` behind a date, nothing without one. */
const versions: Readonly<Record<string, string>> = {
  "claude-3-5-sonnet-20241022": "-v2:0",
  "claude-opus-4-6": "-v1",
};

/**
 * Where a profile across regions begins, by the region that is asked; the first that fits. Everywhere else: all the
 * world.
 */
const geographies: readonly (readonly [region: string, prefix: string])[] = [
  ["us-gov-", "us-gov."],
  ["us-", "us."],
  ["ca-", "us."],
  ["eu-", "eu."],
];

/** Models with a profile for Asia and the Pacific; later ones are served from there by the one for all the world. */
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

/** The model itself behind a profile across regions: what CountTokens asks for. An ARN stays as it is. */
export const withoutProfile = (id: string): string =>
  id.replace(/^(?:us-gov|us|eu|apac|jp|au|ca|global)\.(?=[a-z0-9-]+\.)/, "");

/** Models of other makers, by the maker in their id: they are asked by Converse. Everything else is Claude. */
const OTHERS =
  /^nova-|(?:^|[./])(?:ai21|amazon|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer|zai)\./;

export const isClaude = (model: string): boolean => !OTHERS.test(model);

/**
 * The beta features of Anthropic that Bedrock knows; it refuses a call that names any other
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
