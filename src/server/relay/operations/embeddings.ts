/** POST /v1/embeddings: input only, never streamed. */
import { fail } from "../../../shared/errors";
import { type Operation, readModel } from "./operation";

export const embeddings: Operation = {
  key: "embeddings",
  streams: false,
  read(body) {
    const model = readModel(body);
    if (typeof body.input !== "string" && !Array.isArray(body.input)) fail("invalid_request", { detail: "input" });
    return { model, stream: false, include_usage: false, max_output: 0 };
  },
};

/** POST /v1/engines/{model}/embeddings: the legacy path; its model wins over the body's. */
export const engineEmbeddings = (model: string): Operation => ({
  ...embeddings,
  read: (body) => ({ ...embeddings.read({ ...body, model }), model_added: true }),
});
