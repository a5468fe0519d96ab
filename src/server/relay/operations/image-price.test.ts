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
