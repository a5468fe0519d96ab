import { expect, test } from "bun:test";
import { contextLength } from "./context-lengths";

test("the longest input of a model is known by its vendor's name, with a date or a prefix, and of no other kind of model", () => {
  const known: [string, number | undefined][] = [
    ["gpt-5", 272_000],
    ["openai/gpt-5-mini-2025-08-07", 272_000],
    ["gpt-5.2", 400_000],
    ["gpt-4.1-nano", 1_047_576],
    ["gpt-4o-2024-11-20", 128_000],
    ["Claude-Haiku-4-5-20251001", 200_000],
    ["claude-opus-4-1-20250805", 200_000],
    ["claude-opus-5-5", 1_000_000],
    ["gemini-2.5-pro", 1_048_576],
    ["deepseek-v4-pro", 1_000_000],
    ["grok-4-fast-reasoning", 2_000_000],
  ];
  for (const [model, tokens] of known) expect([model, contextLength(model)]).toEqual([model, tokens]);
  for (const model of ["gpt-5-chat-latest", "gpt-4o-audio-preview", "gpt-4o-transcribe", "gemini-2.5-flash-image", "m"])
    expect([model, contextLength(model)]).toEqual([model, undefined]);
});
