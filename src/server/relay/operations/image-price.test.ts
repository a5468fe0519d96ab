import { expect, test } from "bun:test";
import { imageTerms } from "./image-price";

const ask = { n: 1, quality: "hd", partial_images: 0, input_bytes: 10, input_images: 0 };
const factorsOf = (model: string, size: string) => imageTerms(model, { ...ask, size }).terms.times?.factors;

test("sizes have DALL-E's factors for DALL-E alone", () => {
  expect(factorsOf("dall-e-3", "1024x1792")).toEqual({ size: 2, quality: 1.5 });
  expect(factorsOf("dall-e-2", "256x256")).toEqual({ size: 0.4 });
  for (const model of ["imagen-4.0-generate-001", "qwen-image", "cogview-4"]) {
    expect(factorsOf(model, "256x256")).toEqual({});
    expect(factorsOf(model, "1024x1792")).toEqual({});
  }
});

test("DALL-E's sizes and qualities have the vendor's factors in every combination", () => {
  const sizes = { "256x256": 0.4, "512x512": 0.45, "1024x1024": 1, "1024x1792": 2, "1792x1024": 2, "640x480": 1 };
  for (const model of ["dall-e-2", "dall-e-3", "dall-e-3-mine", "gpt-image-1", "flux"])
    for (const [size, factor] of Object.entries(sizes))
      for (const quality of [undefined, "standard", "hd"]) {
        const times = model.startsWith("dall-e") ? factor : 1;
        const hd = model.startsWith("dall-e-3") && quality === "hd" ? (factor === 2 ? 1.5 : 2) : 1;
        expect(imageTerms(model, { ...ask, size, quality }).terms.times?.factors).toEqual({
          ...(times !== 1 && { size: times }),
          ...(hd !== 1 && { quality: hd }),
        });
      }
});
