/** Google PaLM's generateMessage (ai.google.dev/api/palm, read November 2026). */
import { expect } from "bun:test";
import type { VendorFake } from "../vendor-fake";

const says = "Hello! What can I do for you?";

export const vendor: VendorFake = {
  types: ["palm"],
  source: "ai.google.dev/api/palm, November 2026",
  model: "PaLM-2",
  chat: { says },
  refusal: { model: "unknown", kind: "model_missing", message: "models/unknown is not found" },
  answer({ method, path, headers, json }) {
    expect(method).toBe("POST");
    expect(headers.get("x-goog-api-key")).toBe("upstream-key");
    if (path === "/v1beta2/models/unknown:generateMessage") {
      return Response.json(
        { error: { code: 404, message: "models/unknown is not found", status: "NOT_FOUND" } },
        { status: 404 },
      );
    }
    expect(path).toBe("/v1beta2/models/chat-bison-001:generateMessage");
    expect(json).toEqual({ prompt: { messages: [{ author: "0", content: "hello" }] } });
    // Over several lines, like Google's.
    const answer = { candidates: [{ author: "1", content: says }], messages: [{ author: "0", content: "hello" }] };
    return new Response(JSON.stringify(answer, undefined, 2), {
      headers: { "content-type": "application/json; charset=UTF-8" },
    });
  },
};
