/**
 * The model names that the form offers for a channel type. Names are the vendors' own; an operator may use any other.
 * Families that several vendors serve are listed once and reused.
 */

const claude = [
  "claude-fable-5-2", "claude-fable-5-1", "claude-fable-5", "claude-opus-5-5", "claude-opus-5", "claude-opus-4-8", "claude-opus-4-7",
  "claude-opus-4-6", "claude-opus-4-5-20251101", "claude-opus-4-1-20250805", "claude-opus-4-20250514",
  "claude-sonnet-5", "claude-sonnet-4-6", "claude-sonnet-4-5-20250929", "claude-sonnet-4-20250514",
  "claude-haiku-4-5-20251001", "claude-3-7-sonnet-20250219", "claude-3-5-sonnet-20241022",
  "claude-3-5-sonnet-20240620", "claude-3-5-haiku-20241022", "claude-3-opus-20240229", "claude-3-haiku-20240307",
];

const gemini = [
  "gemini-3.8-flash", "gemini-3.7-flash", "gemini-3.6-flash", "gemini-3.5-flash", "gemini-3.5-flash-lite",
  "gemini-3.1-pro-preview", "gemini-3.1-flash-lite", "gemini-3.1-flash-image-preview", "gemini-3-pro-preview",
  "gemini-3-pro-image-preview", "gemini-3-flash-preview", "gemini-2.5-pro", "gemini-2.5-flash",
  "gemini-2.5-flash-lite", "gemini-2.5-flash-image", "gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-1.5-pro",
  "gemini-1.5-flash",
];

const gpt = [
  "gpt-6-astra", "gpt-6-sol", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna", "gpt-5.5", "gpt-5.5-pro",
  "gpt-5.4", "gpt-5.4-pro", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.3-codex", "gpt-5.2", "gpt-5.2-pro", "gpt-5.1",
  "gpt-5.1-codex", "gpt-5.1-codex-mini", "gpt-5", "gpt-5-pro", "gpt-5-mini", "gpt-5-nano", "gpt-5-codex", "gpt-4.1",
  "gpt-4.1-mini", "gpt-4.1-nano", "gpt-4o", "gpt-4o-2024-11-20", "gpt-4o-2024-08-06", "gpt-4o-2024-05-13",
  "gpt-4o-mini", "gpt-4o-mini-2024-07-18", "chatgpt-4o-latest", "o1", "o1-pro", "o3", "o3-pro", "o3-mini", "o4-mini",
  "gpt-4-turbo", "gpt-4-turbo-2024-04-09", "gpt-4", "gpt-4-0613", "gpt-3.5-turbo", "gpt-3.5-turbo-0125",
  "gpt-3.5-turbo-1106", "gpt-3.5-turbo-instruct",
];

const gptOther = [
  "gpt-4o-audio-preview", "gpt-4o-mini-audio-preview", "gpt-audio", "gpt-audio-mini", "gpt-realtime",
  "gpt-realtime-mini", "gpt-4o-realtime-preview", "gpt-4o-mini-realtime-preview", "gpt-4o-search-preview",
  "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-4o-mini-tts", "tts-1", "tts-1-hd", "whisper-1", "gpt-image-1.5",
  "gpt-image-1", "gpt-image-1-mini", "dall-e-3", "dall-e-2", "text-embedding-3-small", "text-embedding-3-large",
  "text-embedding-ada-002", "omni-moderation-latest", "text-moderation-latest",
];

const mjActions = [
  "mj_imagine", "mj_variation", "mj_reroll", "mj_blend", "mj_upscale", "mj_describe", "mj_upload",
];

const deepseek = ["deepseek-v4-pro", "deepseek-flash", "deepseek-v4-flash", "deepseek-chat", "deepseek-reasoner"];

const glm = [
  "glm-5.3", "glm-5.3-flash", "glm-5.2", "glm-5.1", "glm-5", "glm-5-turbo", "glm-4.7", "glm-4.7-flash", "glm-4.6",
  "glm-4.6v", "glm-4.5", "glm-4.5-air", "glm-4.5-flash", "glm-4.5v", "glm-4-plus", "glm-4-air", "glm-4-flash",
];

const openai = [...gpt, ...gptOther];

export const models = {
  openai,
  claude,
  gemini: [...gemini, "gemini-embedding-2", "gemini-embedding-001", "text-embedding-004", "imagen-3.0-generate-002"],
  vertex: [
    ...claude, ...gemini, "gemini-embedding-001", "text-embedding-005", "text-multilingual-embedding-002", "imagen-4.0-generate-001",
    "llama-3.3-70b-instruct-maas",
  ],
  deepseek,
  midjourney: mjActions,
  midjourneyPlus: [
    ...mjActions, "swap_face", "mj_zoom", "mj_shorten", "mj_modal", "mj_inpaint", "mj_custom_zoom",
    "mj_high_variation", "mj_low_variation", "mj_pan",
  ],
  suno: ["suno_music", "suno_lyrics"],
  ollama: ["llama3.3", "qwen3", "gemma3", "deepseek-r1", "gpt-oss", "nomic-embed-text"],
  palm: ["PaLM-2"],
  baiduV1: [
    "ERNIE-4.0-8K", "ERNIE-4.0-8K-Latest", "ERNIE-4.0-Turbo-8K", "ERNIE-3.5-8K", "ERNIE-3.5-128K", "ERNIE-Speed-8K",
    "ERNIE-Speed-128K", "ERNIE-Lite-8K", "ERNIE-Tiny-8K", "ERNIE-Character-8K", "ERNIE-Functions-8K", "BLOOMZ-7B",
    "Embedding-V1", "bge-large-zh", "bge-large-en", "tao-8k",
  ],
  baiduV2: [
    "ernie-5.0-thinking-preview", "ernie-4.5-turbo-128k", "ernie-4.5-turbo-32k", "ernie-4.5-turbo-vl-32k",
    "ernie-x1-turbo-32k", "ernie-4.5-8k-preview", "ernie-4.0-8k", "ernie-4.0-8k-latest", "ernie-4.0-turbo-8k",
    "ernie-4.0-turbo-128k", "ernie-3.5-8k", "ernie-3.5-128k", "ernie-speed-8k", "ernie-speed-128k",
    "ernie-speed-pro-128k", "ernie-lite-8k", "ernie-lite-pro-128k", "ernie-tiny-8k", "ernie-char-8k", "deepseek-v3",
    "deepseek-r1", "embedding-v1", "bge-large-zh", "tao-8k",
  ],
  zhipuV3: ["chatglm_turbo", "chatglm_pro", "chatglm_std", "chatglm_lite"],
  zhipuV4: [...glm, "glm-4v-plus", "glm-z1-air", "cogview-4", "embedding-3"],
  ali: [
    "qwen3.7-max", "qwen3.7-plus", "qwen3.6-plus", "qwen3.6-flash", "qwen3-max", "qwen-max", "qwen-plus", "qwen-turbo",
    "qwen-flash", "qwen-long", "qwen3-coder-plus", "qwen3-coder-flash", "qwen3-vl-plus", "qwen-vl-max", "qwen-vl-plus",
    "qwq-plus", "text-embedding-v4", "text-embedding-v3", "qwen3-rerank", "gte-rerank-v2", "qwen-image",
    "qwen-image-plus", "qwen-image-edit", "qwen-image-edit-plus", "wan2.6-t2i", "wan2.5-t2i-preview", "wan2.6-image",
    "wan2.5-i2i-preview", "wan2.7-t2v", "wan2.7-i2v", "wan2.6-t2v", "wan2.6-i2v",
    "wan2.5-t2v-preview", "wan2.5-i2v-preview",
  ],
  spark: ["4.0Ultra", "generalv3.5", "max-32k", "generalv3", "pro-128k", "lite"],
  ai360: [
    "360gpt2-pro", "360gpt-pro", "360gpt-turbo", "360gpt-turbo-responsibility-8k", "360GPT_S2_V9",
    "embedding-bert-512-v1", "embedding_s1_v1", "semantic_similarity_s1_v1",
  ],
  tencent: [
    "hunyuan-turbos-latest", "hunyuan-t1-latest", "hunyuan-large", "hunyuan-standard", "hunyuan-standard-256K",
    "hunyuan-lite", "hunyuan-pro", "hunyuan-vision",
  ],
  moonshot: [
    "kimi-k3", "kimi-k2.7-code", "kimi-k2.7-code-highspeed", "kimi-k2.6", "kimi-k2.5", "kimi-latest",
    "moonshot-v1-auto", "moonshot-v1-8k", "moonshot-v1-32k", "moonshot-v1-128k",
  ],
  perplexity: ["sonar", "sonar-pro", "sonar-reasoning-pro", "sonar-deep-research"],
  lingyiwanwu: ["yi-lightning", "yi-vision-v2", "yi-large", "yi-large-turbo", "yi-medium", "yi-spark"],
  bedrock: [...claude, "nova-premier-v1:0", "nova-pro-v1:0", "nova-lite-v1:0", "nova-micro-v1:0"],
  cohere: [
    "command-a-03-2025", "command-r7b-12-2024", "command-r-08-2024", "command-r-plus-08-2024", "command-r",
    "command-r-plus", "c4ai-aya-expanse-32b", "c4ai-aya-expanse-8b", "embed-v4.0", "embed-english-v3.0",
    "embed-multilingual-v3.0", "rerank-v3.5", "rerank-english-v3.0", "rerank-multilingual-v3.0",
  ],
  minimax: [
    "MiniMax-M3", "MiniMax-M2.7", "MiniMax-M2.7-highspeed", "MiniMax-M2.5", "MiniMax-M2.1", "MiniMax-M2", "MiniMax-M1",
    "MiniMax-Text-01", "abab6.5s-chat", "speech-2.8-hd", "speech-2.8-turbo", "MiniMax-Hailuo-2.3",
    "MiniMax-Hailuo-2.3-Fast", "MiniMax-Hailuo-02",
  ],
  jina: [
    "jina-embeddings-v4", "jina-embeddings-v3", "jina-clip-v2", "jina-reranker-m0",
    "jina-reranker-v2-base-multilingual",
  ],
  cloudflare: [
    "@cf/openai/gpt-oss-120b", "@cf/openai/gpt-oss-20b", "@cf/meta/llama-4-scout-17b-16e-instruct",
    "@cf/meta/llama-3.3-70b-instruct-fp8-fast", "@cf/meta/llama-3.1-8b-instruct", "@cf/meta/llama-3.2-3b-instruct",
    "@cf/meta/llama-3.2-1b-instruct", "@cf/meta/llama-3.2-11b-vision-instruct", "@cf/qwen/qwq-32b",
    "@cf/qwen/qwen2.5-coder-32b-instruct", "@cf/qwen/qwen3-30b-a3b-fp8",
    "@cf/deepseek-ai/deepseek-r1-distill-qwen-32b", "@cf/mistralai/mistral-small-3.1-24b-instruct",
    "@cf/google/gemma-3-12b-it", "@hf/thebloke/mistral-7b-instruct-v0.1-awq", "@cf/baai/bge-m3",
    "@cf/baai/bge-small-en-v1.5", "@cf/baai/bge-base-en-v1.5", "@cf/baai/bge-large-en-v1.5",
  ],
  siliconflow: [
    "deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-V3.1-Terminus", "deepseek-ai/DeepSeek-V3",
    "deepseek-ai/DeepSeek-R1", "deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "Pro/deepseek-ai/DeepSeek-V3",
    "Pro/deepseek-ai/DeepSeek-R1", "moonshotai/Kimi-K2-Instruct-0905", "zai-org/GLM-4.6", "zai-org/GLM-4.5",
    "zai-org/GLM-4.5-Air", "THUDM/GLM-4-9B-0414", "THUDM/GLM-Z1-9B-0414", "THUDM/GLM-4-32B-0414",
    "Qwen/Qwen3-235B-A22B-Instruct-2507", "Qwen/Qwen3-235B-A22B-Thinking-2507",
    "Qwen/Qwen3-Coder-480B-A35B-Instruct", "Qwen/Qwen3-Coder-30B-A3B-Instruct",
    "Qwen/Qwen3-30B-A3B-Instruct-2507", "Qwen/Qwen3-32B", "Qwen/Qwen3-14B", "Qwen/Qwen3-8B",
    "Qwen/Qwen3-Next-80B-A3B-Instruct", "Qwen/Qwen3-VL-235B-A22B-Instruct", "Qwen/QwQ-32B",
    "Qwen/Qwen2.5-72B-Instruct", "Qwen/Qwen2.5-32B-Instruct", "Qwen/Qwen2.5-7B-Instruct",
    "Qwen/Qwen2.5-VL-72B-Instruct", "internlm/internlm2_5-7b-chat", "MiniMaxAI/MiniMax-M1-80k",
    "stepfun-ai/step3", "Kwai-Kolors/Kolors", "BAAI/bge-m3", "BAAI/bge-large-zh-v1.5", "BAAI/bge-large-en-v1.5",
    "Qwen/Qwen3-Embedding-8B", "BAAI/bge-reranker-v2-m3", "Pro/BAAI/bge-reranker-v2-m3", "Qwen/Qwen3-Reranker-8B",
  ],
  mistral: [
    "mistral-large-latest", "mistral-large-2512", "mistral-medium-latest", "mistral-medium-2508",
    "mistral-small-latest", "mistral-small-2603", "magistral-medium-latest", "magistral-small-latest",
    "codestral-latest", "devstral-2512", "ministral-8b-latest", "ministral-3b-latest", "open-mistral-nemo",
    "mistral-embed",
  ],
  moka: ["m3e-large", "m3e-base", "m3e-small"],
  volcengine: [
    "doubao-seed-2-0-pro-260215", "doubao-seed-2-0-lite-260215", "doubao-seed-1-6-251015",
    "doubao-seed-1-6-flash-250828", "doubao-1-5-pro-32k-250115", "doubao-1-5-lite-32k-250115",
    "doubao-embedding-large-text-250515", "doubao-seedream-4-0-250828", "deepseek-v3-2-251201",
  ],
  xinference: ["bge-reranker-v2-m3", "jina-reranker-v2"],
  xai: [
    "grok-4.6", "grok-4.5", "grok-4.3", "grok-4.20", "grok-4-1-fast-reasoning", "grok-4-1-fast-non-reasoning",
    "grok-4-fast-reasoning", "grok-4-fast-non-reasoning", "grok-4-0709", "grok-code-fast-1", "grok-3", "grok-3-fast",
    "grok-3-mini", "grok-3-mini-fast", "grok-2-image-1212",
  ],
  coze: ["moonshot-v1-8k", "moonshot-v1-32k", "moonshot-v1-128k", "Doubao-pro-32k", "glm-4"],
  kling: [
    "kling-v3", "kling-v2-6", "kling-v2-5-turbo", "kling-v2-1-master", "kling-v2-1", "kling-v2-master", "kling-v1-6", "kling-v1",
  ],
  jimeng: [
    "jimeng_ti2v_v30_pro", "jimeng_t2v_v30", "jimeng_t2v_v30_1080p", "jimeng_i2v_first_v30", "jimeng_vgfm_t2v_l20",
    "jimeng_vgfm_i2v_l20", "jimeng_t2i_v40",
  ],
  vidu: ["viduq3-pro", "viduq3-turbo", "viduq3-pro-fast", "viduq2", "viduq1", "vidu2.0", "vidu1.5"],
  submodel: [
    "Qwen/Qwen3-235B-A22B-Instruct-2507", "Qwen/Qwen3-235B-A22B-Thinking-2507",
    "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "deepseek-ai/DeepSeek-R1-0528", "deepseek-ai/DeepSeek-V3.1",
    "openai/gpt-oss-120b", "zai-org/GLM-4.5-FP8",
  ],
  doubaoVideo: [
    "doubao-seedance-2-0-260128", "doubao-seedance-2-0-fast-260128",
    "doubao-seedance-1-5-pro-251215", "doubao-seedance-1-0-pro-250528", "doubao-seedance-1-0-pro-fast-251015",
    "doubao-seedance-1-0-lite-t2v-250428", "doubao-seedance-1-0-lite-i2v-250428",
  ],
  sora: ["sora-2", "sora-2-pro"],
  replicate: [
    "black-forest-labs/flux-1.1-pro", "black-forest-labs/flux-schnell", "google/imagen-4",
    "ideogram-ai/ideogram-v3-turbo", "google/veo-3.1-fast", "wan-video/wan-2.5-t2v-fast",
  ],
  codex: ["gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.3-codex", "gpt-5.2", "gpt-5.1-codex", "gpt-5-codex"],
} as const satisfies Record<string, readonly string[]>;
