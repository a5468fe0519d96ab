import { describe, expect, test } from "bun:test";
import { firstChannelTypes, preselect, SHOWN_FIRST } from "./channel-choice";
import { passwordStrength } from "./password-strength";

describe("the password meter", () => {
  test("calls what the server refuses too short", () => {
    expect(passwordStrength("")).toBe(0);
    expect(passwordStrength("Ab3$efg")).toBe(0);
  });

  test("does not rate the most common passwords as strong", () => {
    for (const bad of ["password1", "12345678", "aaaaaaaa", "Qwerty123!", "adminadmin"])
      expect(passwordStrength(bad), bad).toBe(1);
  });

  test("rises with length and variety", () => {
    expect(passwordStrength("brick7wall")).toBe(2);
    expect(passwordStrength("brick7Wall-six")).toBe(4);
    expect(passwordStrength("correct horse battery staple")).toBe(4);
  });
});

describe("the first channel", () => {
  test("offers only types that the relay can call, with the well-known ones in front and a logo each", () => {
    const keys = firstChannelTypes.map((type) => type.key);
    expect(keys).toContain("anthropic");
    expect(keys).toContain("gemini");
    // Vendors whose address needs code that is not there yet.
    for (const key of ["azure", "vertex", "bedrock", "codex"]) expect(keys).not.toContain(key);
    const front = firstChannelTypes.slice(0, SHOWN_FIRST);
    expect(front[0]?.key).toBe("openai");
    expect(front.every((type) => type.logo !== "")).toBe(true);
  });

  test("ticks the models that both sides know, else all of a short list, else the beginning of a long one", () => {
    expect(preselect(["a", "b", "c"], ["c", "a", "x"])).toEqual(["a", "c"]);
    expect(preselect(["a"], ["x", "y"])).toEqual(["x", "y"]);
    expect(
      preselect(
        [],
        Array.from({ length: 100 }, (_, i) => `m${i}`),
      ),
    ).toHaveLength(30);
  });
});
