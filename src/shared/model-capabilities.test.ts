import { expect, test } from "bun:test";
import { capabilitiesOf } from "./model-capabilities";

test("a model can what its maker's table, its name or its price says", () => {
  const known = {
    "gpt-5.4": "vision tools reasoning",
    "gpt-5-mini-2025-08-07": "vision tools reasoning",
    "openai/gpt-4o": "vision tools",
    "gpt-4o-audio-preview": "audio",
    "gpt-4": "tools",
    "o3-mini": "tools reasoning",
    "claude-opus-4-8": "vision tools reasoning",
    "claude-opus-4-5-20251101-thinking": "vision tools reasoning",
    "claude-3-5-haiku-20241022": "vision tools",
    "gemini-2.5-flash": "vision tools reasoning audio",
    "gemini-2.5-flash-image": "vision reasoning image",
    "gemini-2.5-flash-preview-tts": "audio",
    "gemini-3-pro-image-preview": "image",
    "deepseek-v4-pro": "tools reasoning",
    "grok-4-1-fast-non-reasoning": "vision tools",
    "gpt-image-1.5": "image",
    "dall-e-3": "image",
    "wan2.6-t2i": "image",
    "whisper-1": "audio",
    "tts-1-hd": "audio",
    suno_music: "audio",
    mj_imagine: "image",
    "kling-v3": "video",
    "doubao-seedance-2-0-260128": "video",
    "text-embedding-3-small": "embedding",
    "rerank-v3.5": "rerank",
  };
  for (const [model, can] of Object.entries(known))
    expect([model, capabilitiesOf(model).join(" ")]).toEqual([model, can]);
});

test("of a model that no source names nothing is said", () => {
  for (const model of ["demo-echo", "my-own-model", "gpt-9", "claude-next", "imaginary", "", "qwen-max"])
    expect([model, capabilitiesOf(model)]).toEqual([model, []]);
});
