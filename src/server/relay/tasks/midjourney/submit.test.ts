import { describe, expect, test } from "bun:test";
import { keptOf, MJ_SUBMITS, type MjSubmit, readSubmit, submitPath, withoutModes } from "./submit";

const strict = { notify: false, accountFilter: false, modeClear: false };
const refusalOf = (name: MjSubmit, body: unknown): unknown => {
  try {
    readSubmit(name, body, strict);
    return undefined;
  } catch (error) {
    return error instanceof Error && "values" in error
      ? ((error.values as { detail?: string }).detail ?? "bad_json")
      : error;
  }
};

describe("bodies", () => {
  // The documents' examples: midjourney-proxy docs/api.md, midjourney-proxy-plus docs/api.md.
  const good: [MjSubmit, object, string, string][] = [
    ["imagine", { prompt: "Cat" }, "IMAGINE", "mj_imagine"],
    ["describe", { base64: "data:image/png;base64,xxx" }, "DESCRIBE", "mj_describe"],
    ["describe", { link: "https://example.com/a.png" }, "DESCRIBE", "mj_describe"],
    [
      "blend",
      { base64Array: ["data:image/png;base64,xxx1", "data:image/png;base64,xxx2"], dimensions: "SQUARE" },
      "BLEND",
      "mj_blend",
    ],
    ["shorten", { prompt: "appdash appdash" }, "SHORTEN", "mj_shorten"],
    ["upload-discord-images", { base64Array: ["data:image/png;base64,xxx"] }, "UPLOAD", "mj_upload"],
    ["change", { taskId: "1", action: "UPSCALE", index: 2 }, "UPSCALE", "mj_upscale"],
    ["change", { taskId: "1", action: "REROLL" }, "REROLL", "mj_reroll"],
    ["simple-change", { content: "1 V3" }, "VARIATION", "mj_variation"],
    ["action", { taskId: "1", customId: "MJ::Inpaint::1::x::SOLO" }, "INPAINT", "mj_inpaint"],
    ["modal", { taskId: "1", prompt: "Cat", maskBase64: "xxx" }, "MODAL", "mj_modal"],
    ["edits", { prompt: "a hat", image: "https://example.com/a.png", maskBase64: "xxx" }, "EDITS", "mj_edits"],
    ["video", { image: "https://example.com/a.png", motion: "low" }, "VIDEO", "mj_video"],
    ["video", { taskId: "1", index: 0, action: "extend" }, "VIDEO", "mj_video"],
    ["swap", { sourceBase64: "a", targetBase64: "b" }, "SWAP_FACE", "swap_face"],
  ];
  for (const [name, body, action, model] of good) {
    test(`${name} ${JSON.stringify(body).slice(0, 40)} is ${action}, and goes on as it was written`, () => {
      const job = readSubmit(name, body, strict);
      expect(job).toMatchObject({ action, model } as never);
      const follows = JSON.stringify(body).includes('"1');
      expect(job.parent_id).toBe(follows ? "1" : "");
      expect(job.body("up-9")).toEqual(
        follows ? JSON.parse(JSON.stringify(body).replace('"1"', '"up-9"').replace('"1 V3"', '"up-9 V3"')) : body,
      );
    });
  }

  test("a missing or invalid member is named", () => {
    expect(refusalOf("imagine", {})).toBe("prompt");
    expect(refusalOf("imagine", { prompt: "  " })).toBe("prompt");
    expect(refusalOf("imagine", { prompt: 5 })).toBe("prompt");
    expect(refusalOf("describe", {})).toBe("base64 / link");
    for (const base64Array of [undefined, "x", [], ["a"], ["a", ""], ["a", 1], null])
      expect(refusalOf("blend", { base64Array })).toBe("base64Array");
    for (const index of [undefined, 0, 5, 1.5, "1", null])
      expect(refusalOf("change", { taskId: "1", action: "UPSCALE", index })).toBe("index");
    expect(refusalOf("change", { taskId: "1", action: "DESTROY", index: 1 })).toBe("action");
    expect(refusalOf("change", { action: "REROLL" })).toBe("taskId");
    expect(refusalOf("simple-change", { content: "1 X9" })).toBe("content");
    expect(refusalOf("action", { taskId: "1", customId: "MJ::BOOKMARK::x" })).toBe("customId");
    expect(refusalOf("modal", {})).toBe("taskId");
    expect(refusalOf("edits", { prompt: "x" })).toBe("image");
    expect(refusalOf("video", {})).toBe("image / prompt");
    expect(refusalOf("swap", { sourceBase64: "a" })).toBe("targetBase64");
    for (const name of MJ_SUBMITS) for (const odd of [null, [], "x", 1]) expect(refusalOf(name, odd)).toBe("bad_json");
  });

  test("every submit has its path", () => {
    expect(submitPath("imagine")).toBe("/submit/imagine");
    expect(submitPath("swap")).toBe("/insight-face/swap");
  });
});

describe("members that the operator blocks", () => {
  const body = {
    prompt: "Cat --fast",
    notifyHook: "https://me.example/hook",
    accountFilter: { modes: ["FAST"] },
    filter: { remark: "x" },
    state: "s",
    botType: "NIJI_JOURNEY",
  };

  test("by default neither webhook nor account filter are forwarded; all else is", () => {
    const job = readSubmit("imagine", body, strict);
    expect(job.body("")).toEqual({ prompt: "Cat --fast", state: "s", botType: "NIJI_JOURNEY" });
    expect(job.notify_hook).toBe("");
  });

  test("members that the operator allows are forwarded", () => {
    const job = readSubmit("imagine", body, { notify: true, accountFilter: true, modeClear: true });
    expect(job.body("")).toEqual({
      prompt: "Cat",
      state: "s",
      botType: "NIJI_JOURNEY",
      accountFilter: { modes: ["FAST"] },
      filter: { remark: "x" },
    });
    expect(job).toMatchObject({ prompt: "Cat", notify_hook: "https://me.example/hook" });
  });

  test("mode flags are removed, words that only look like them are not", () => {
    expect(withoutModes("a cat --fast --ar 1:1 --relax")).toBe("a cat --ar 1:1");
    expect(withoutModes("--TURBO a cat")).toBe("a cat");
    expect(withoutModes("a--fast --fastest --fast-food")).toBe("a--fast --fastest --fast-food");
  });
});

test("the stored part of a body has no images, and nothing long or unknown", () => {
  const pictures = {
    base64Array: ["a"],
    base64: "b",
    maskBase64: "m",
    image: "data:image/png;base64,xx",
    sourceBase64: "s",
    targetBase64: "t",
  };
  expect(keptOf({ prompt: "x", ...pictures, state: "s", index: 0, unknown: "u", customId: {} })).toEqual({
    state: "s",
    index: 0,
  });
  expect(keptOf({ image: "https://example.com/a.png", state: "x".repeat(8_193) })).toEqual({
    image: "https://example.com/a.png",
  });
});

test("overlong prompts and addresses are refused", () => {
  expect(refusalOf("imagine", { prompt: "x".repeat(32_769) })).toBe("prompt");
  expect(readSubmit("imagine", { prompt: "x".repeat(32_768), notifyHook: "x".repeat(3_000) }, strict).notify_hook).toBe(
    "",
  );
  expect(() =>
    readSubmit("imagine", { prompt: "x", notifyHook: `https://${"x".repeat(3_000)}` }, { ...strict, notify: true }),
  ).toThrow();
});
