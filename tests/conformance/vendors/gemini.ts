/** Google Gemini (ai.google.dev/api/generate-content, November 2026). */
import { expect } from "bun:test";
import { sse, type VendorFake } from "../vendor-fake";

const says = "Hello there!";
const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 8, totalTokenCount: 12 };
const answer = { candidates: [{ content: { parts: [{ text: says }], role: "model" }, finishReason: "STOP", index: 0 }], usageMetadata, modelVersion: "gemini-2.5-flash" };

export const vendor: VendorFake = {
  types: ["gemini"],
  source: "ai.google.dev/api/generate-content, November 2026",
  model: "gemini-2.5-flash",
  chat: { says, prompt: 4, completion: 8 },
  refusal: { model: "gemini-none", class: "caller_mistake", message: "models/gemini-none is not found" },
  answer({ path, headers, json }) {
    expect(headers.get("x-goog-api-key")).toBe("upstream-key");
    if (path.includes("gemini-none")) {
      return Response.json({ error: { code: 404, message: "models/gemini-none is not found", status: "NOT_FOUND" } }, { status: 404 });
    }
    expect(json).toMatchObject({ contents: [{ role: "user", parts: [{ text: "hello" }] }] });
    expect(json).not.toHaveProperty("model");
    if (path === "/v1beta/models/gemini-2.5-flash:generateContent") return Response.json(answer);
    expect(path).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    return sse(answer);
  },
};
