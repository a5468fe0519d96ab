/** AI Proxy's knowledge bases (shapes of the vendor's public clients, read November 2026). */
import { expect } from "bun:test";
import { sse, type VendorFake } from "../vendor-fake";

const says = "Two hands. [1]";
const documents = [{ title: "Hands", url: "https://docs.example/hands" }];

export const vendor: VendorFake = {
  types: ["aiproxy-library"],
  source: "public clients of AI Proxy's library, November 2026",
  other: "1842",
  model: "gpt-3.5-turbo",
  chat: { says },
  refusal: { model: "unknown", kind: "server_error", message: "no such model" },
  calls: [
    {
      name: "the documents that an answer is from are its citations",
      path: "/v1/chat/completions",
      body: { model: "gpt-3.5-turbo", messages: [{ role: "user", content: "hello" }] },
      check: ({ json }) =>
        expect(json.choices).toMatchObject([
          { message: { annotations: [{ url_citation: { url: "https://docs.example/hands", title: "Hands" } }] } },
        ]),
    },
  ],
  answer({ method, path, headers, json }) {
    expect([method, path]).toEqual(["POST", "/api/library/ask"]);
    expect(headers.get("authorization")).toBe("Bearer upstream-key");
    if (json.model === "unknown") return Response.json({ success: false, errCode: 10001, message: "no such model" });
    // spec: C-241
    expect(json).toEqual({ model: "gpt-3.5-turbo", query: "hello", stream: expect.any(Boolean), libraryId: "1842" });
    if (json.stream !== true) return Response.json({ success: true, answer: says, documents, errCode: 0, message: "" });
    return sse(
      { content: "Two hands.", finish: false, model: "gpt-3.5-turbo" },
      { content: " [1]", finish: false, model: "gpt-3.5-turbo" },
      { content: "", finish: true, model: "gpt-3.5-turbo", documents },
    );
  },
};
