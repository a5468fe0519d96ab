/** Logos that the console may show: file names in @lobehub/icons-static-svg without their ending. */
export const logoSlugs = [
  "ai360", "anthropic", "aws", "azure", "baidu", "claude", "cloudflare", "codex", "cohere", "coze", "deepseek", "dify", "doubao",
  "fastgpt", "gemini", "grok", "hunyuan", "jimeng", "jina", "kling", "midjourney", "minimax", "mistral", "moonshot", "ollama", "openai",
  "openrouter", "palm", "perplexity", "qwen", "replicate",
  "siliconcloud", "sora", "spark", "submodel", "suno", "vertexai", "vidu", "volcengine", "wenxin", "xai",
  "xinference", "yi", "zhipu",
] as const;
