import { describe, expect, test } from "bun:test";
import { readCustomId, readSimpleChange } from "./custom-id";

const HASH = "85a4b4c1-8835-46c5-a15c-aea34fad1862";

describe("the action of a button", () => {
  // Buttons of messages of Midjourney 5 to 7: midjourney-proxy-plus docs/api.md section 3, and captures of version 7
  // (2026-06).
  const buttons: [string, string, number][] = [
    [`MJ::JOB::upsample::1::${HASH}`, "UPSCALE", 1],
    [`MJ::JOB::upsample::4::${HASH}`, "UPSCALE", 4],
    [`MJ::JOB::upsample_v7_2x_subtle::1::${HASH}::SOLO`, "UPSCALE", 1],
    [`MJ::JOB::variation::3::${HASH}`, "VARIATION", 3],
    [`MJ::JOB::low_variation::1::${HASH}::SOLO`, "LOW_VARIATION", 1],
    [`MJ::JOB::high_variation::1::${HASH}::SOLO`, "HIGH_VARIATION", 1],
    [`MJ::JOB::pan_left::1::${HASH}::SOLO`, "PAN", 1],
    [`MJ::JOB::pan_down::1::${HASH}::SOLO`, "PAN", 1],
    [`MJ::JOB::reroll::0::${HASH}::SOLO`, "REROLL", 1],
    [`MJ::JOB::animate_high::1::${HASH}::SOLO`, "VIDEO", 1],
    [`MJ::Outpaint::50::1::${HASH}::SOLO`, "ZOOM", 1],
    [`MJ::CustomZoom::${HASH}`, "CUSTOM_ZOOM", 1],
    [`MJ::Inpaint::1::${HASH}::SOLO`, "INPAINT", 1],
    ["JOB::upsample::2", "UPSCALE", 2],
  ];
  for (const [customId, action, index] of buttons) {
    test(`${customId} is ${action}`, () => expect(readCustomId(customId)).toEqual({ action, index } as never));
  }

  test("an unknown button has no action, and inherited property names are unknown", () => {
    for (const odd of [
      "",
      "::",
      "MJ",
      "MJ::JOB",
      "MJ::BOOKMARK::x",
      "MJ::Job::PicReader::1",
      "constructor::1",
      "MJ::JOB::__proto__",
      "a".repeat(10_000),
    ]) {
      expect(readCustomId(odd)).toBeUndefined();
    }
  });

  test("an image number that does not exist means the first", () => {
    for (const index of ["0", "5", "-1", "x", "1e3", ""])
      expect(readCustomId(`MJ::JOB::upsample::${index}::x`)).toEqual({ action: "UPSCALE", index: 1 });
  });
});

describe("simple changes", () => {
  test("an id with one of four images, or R", () => {
    expect(readSimpleChange("1320098173412546 U2")).toEqual({
      taskId: "1320098173412546",
      action: "UPSCALE",
      index: 2,
      word: "U2",
    });
    expect(readSimpleChange("  1320098173412546   v4 ")).toEqual({
      taskId: "1320098173412546",
      action: "VARIATION",
      index: 4,
      word: "V4",
    });
    expect(readSimpleChange("1320098173412546 R")).toEqual({
      taskId: "1320098173412546",
      action: "REROLL",
      index: 1,
      word: "R",
    });
  });

  test("anything else is invalid", () => {
    for (const odd of ["", "1 U0", "1 U5", "1 R1", "1 X1", "U1", "1 U1 U2", "1  "])
      expect(readSimpleChange(odd)).toBeUndefined();
  });
});
