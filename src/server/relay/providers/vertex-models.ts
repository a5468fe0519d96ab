/**
 * Google's model ids on Vertex AI (platform.claude.com/docs, "Claude on Vertex AI"; cloud.google.com/vertex-ai, "Use
 * open models via MaaS"; November 2026), and the dialect of each.
 */

/** Makers of open models, by the start of a model's name; the full name is `maker/model`. */
const makers: readonly (readonly [start: string, maker: string])[] = [
  ["llama-", "meta"],
  ["deepseek-", "deepseek-ai"],
  ["qwen", "qwen"],
  ["gpt-oss-", "openai"],
  ["kimi-", "moonshotai"],
  ["glm-", "zai-org"],
  ["minimax-", "minimaxai"],
];

/** Names that differ by more than the position of the date. */
const claude: Readonly<Record<string, string>> = {
  "claude-3-5-sonnet-20241022": "claude-3-5-sonnet-v2@20241022",
};

/** How a model is served there: its publisher's own call, or the endpoint for open models. */
export function vertexFamily(model: string): "gemini" | "anthropic" | "openai-chat" {
  if (model.startsWith("claude-")) return "anthropic";
  return model.includes("/") || model.endsWith("-maas") ? "openai-chat" : "gemini";
}

/** Google's name of a model. */
export function vertexModel(model: string): string {
  switch (vertexFamily(model)) {
    case "anthropic":
      return claude[model] ?? model.replace(/-(\d{8})$/, "@$1");
    case "openai-chat": {
      const maker = model.includes("/") ? undefined : makers.find(([start]) => model.startsWith(start))?.[1];
      return maker === undefined ? model : `${maker}/${model}`;
    }
    case "gemini":
      return model;
  }
}

/** The host of a location (cloud.google.com/vertex-ai/docs/general/locations; @google/genai 3.1). */
export function vertexHost(location: string): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  if (location === "us" || location === "eu") return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}
