import { describe, expect, test } from "bun:test";
import { needsResponses } from "./responses-models";

describe("a conversation goes to the Responses API only", () => {
  test.each([
    "gpt-5-codex",
    "gpt-5.1-codex-max",
    "gpt-5.3-codex-high",
    "openai/gpt-5-pro",
    "gpt-5.5-pro-2026-04-23",
    "o1-pro",
    "o3-pro-2025-06-10",
    "o4-mini-deep-research",
    "computer-use-preview",
    "gpt-6-cyber",
    "gpt-daybreak-blue-latest",
  ])("of %s, whatever it asks", (model) => {
    expect([needsResponses(model, false), needsResponses(model, true)]).toEqual([true, true]);
  });

  test.each([
    "gpt-5.4",
    "gpt-5.4-mini-2026-03-17",
    "gpt-5.5-high",
    "gpt-5.6-sol",
    "gpt-5.10",
    "gpt-6.1-terra",
    "ft:gpt-5.4:org::id",
  ])("of %s, where it declares tools", (model) => {
    expect([needsResponses(model, false), needsResponses(model, true)]).toEqual([false, true]);
  });

  test.each([
    "gpt-4o",
    "gpt-5",
    "gpt-5-mini",
    "gpt-5.1",
    "gpt-5.2-chat-latest",
    "o3",
    "o3-mini",
    "my-gpt-5.5-pro",
    "gpt-50",
    "claude-opus-4-6",
  ])("of %s never", (model) => {
    expect([needsResponses(model, false), needsResponses(model, true)]).toEqual([false, false]);
  });
});
