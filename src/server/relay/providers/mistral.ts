/**
 * Mistral: chat in its own narrower dialect, embeddings without the members that it refuses (docs.mistral.ai/api, read
 * November 2026).
 */
import { compact } from "../../protocol/dialects/shared/json";
import { ordinary } from "./ordinary";
import type { DirectCodec, Provider } from "./provider";

const embeddings: DirectCodec = {
  encode: ({ model, input, encoding_format, dimensions, output_dimension, output_dtype, metadata }) =>
    compact({
      model,
      input,
      encoding_format,
      output_dimension: output_dimension ?? dimensions,
      output_dtype,
      metadata,
    }),
  decode: (answer) => (Array.isArray(answer.data) ? answer : undefined),
};

export const mistral: Provider = { ...ordinary, direct: { embeddings } };
