/**
 * Google Gemini (ai.google.dev/api/generate-content; pictures: ai.google.dev/gemini-api/docs/image-generation; November
 * 2026).
 */
import { expect } from "bun:test";
import { formOf, picture, sse, type VendorFake } from "../vendor-fake";

const says = "Hello there!";
const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 8, totalTokenCount: 12 };
const answer = {
  candidates: [{ content: { parts: [{ text: says }], role: "model" }, finishReason: "STOP", index: 0 }],
  usageMetadata,
  modelVersion: "gemini-2.5-flash",
};

export const vendor: VendorFake = {
  types: ["gemini"],
  source: "ai.google.dev/api/generate-content, November 2026",
  model: "gemini-2.5-flash",
  chat: { says, prompt: 4, completion: 8 },
  refusal: { model: "gemini-none", kind: "model_missing", message: "models/gemini-none is not found" },
  answer({ path, headers, json }) {
    expect(headers.get("x-goog-api-key")).toBe("upstream-key");
    if (path.includes("gemini-none")) {
      return Response.json(
        { error: { code: 404, message: "models/gemini-none is not found", status: "NOT_FOUND" } },
        { status: 404 },
      );
    }
    if (path === "/v1beta/models/gemini-embedding-001:batchEmbedContents") {
      const one = (text: string) => ({
        model: "models/gemini-embedding-001",
        content: { parts: [{ text }] },
        outputDimensionality: 2,
      });
      expect(json).toEqual({ requests: [one("hello"), one("world")] });
      return Response.json({
        embeddings: [{ values: [0.25, -0.5] }, { values: [1, 2] }],
        usageMetadata: { promptTokenCount: 6 },
      });
    }
    if (path === "/v1beta/models/imagen-4.0-generate-001:predict") {
      if (JSON.stringify(json).includes("forbidden"))
        return Response.json({ predictions: [{ raiFilteredReason: "Unable to show generated images." }] });
      expect(json).toEqual({ instances: [{ prompt: "a cat" }], parameters: { sampleCount: 2, aspectRatio: "9:16" } });
      return Response.json({
        predictions: [
          { mimeType: "image/png", bytesBase64Encoded: "aGk=" },
          { mimeType: "image/png", bytesBase64Encoded: "eW8=" },
        ],
      });
    }
    if (path === "/v1beta/models/gemini-2.5-flash-image:generateContent") {
      const edited = JSON.stringify(json).includes("hat");
      const cat = { inlineData: { mimeType: "image/png", data: "aGk=" } };
      const parts = edited
        ? [{ text: "give it a hat" }, cat, { inlineData: { mimeType: "image/webp", data: "aGk=" } }]
        : [{ text: "a cat" }];
      const imageConfig = edited ? { imageConfig: { aspectRatio: "1:1" } } : {};
      expect(json).toEqual({
        contents: [{ role: "user", parts }],
        generationConfig: { responseModalities: ["TEXT", "IMAGE"], ...imageConfig },
      });
      const drawn = { content: { role: "model", parts: [{ text: "Here:" }, cat] }, finishReason: "STOP" };
      const promptTokensDetails = edited
        ? [
            { modality: "TEXT", tokenCount: 5 },
            { modality: "IMAGE", tokenCount: 516 },
          ]
        : [{ modality: "TEXT", tokenCount: 3 }];
      const prompt = edited ? 521 : 3;
      const candidatesTokensDetails = [{ modality: "IMAGE", tokenCount: 1290 }];
      return Response.json({
        candidates: [drawn],
        usageMetadata: {
          promptTokenCount: prompt,
          candidatesTokenCount: 1298,
          totalTokenCount: prompt + 1298,
          promptTokensDetails,
          candidatesTokensDetails,
        },
      });
    }
    expect(json).toMatchObject({ contents: [{ role: "user", parts: [{ text: "hello" }] }] });
    expect(json).not.toHaveProperty("model");
    if (path === "/v1beta/models/gemini-2.5-flash:generateContent") return Response.json(answer);
    expect(path).toBe("/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    return sse(answer);
  },
  calls: [
    {
      name: "texts are embedded in one call, with the tokens that Google counts",
      path: "/v1/embeddings",
      body: { model: "gemini-embedding-001", input: ["hello", "world"], dimensions: 2 },
      check: ({ status, json }) =>
        expect([status, json]).toMatchObject([
          200,
          {
            object: "list",
            data: [
              { index: 0, embedding: [0.25, -0.5] },
              { index: 1, embedding: [1, 2] },
            ],
          },
        ]),
      usage: { prompt: 6, completion: 0 },
    },
    {
      name: "vectors are packed as base64 for who asks so",
      path: "/v1/embeddings",
      body: { model: "gemini-embedding-001", input: ["hello", "world"], dimensions: 2, encoding_format: "base64" },
      check: ({ json }) =>
        expect(json.data).toMatchObject([
          { embedding: Buffer.from(Float32Array.of(0.25, -0.5).buffer).toString("base64") },
          {},
        ]),
    },
    {
      name: "tokens instead of a text are the caller's mistake: Google takes none",
      path: "/v1/embeddings",
      body: { model: "gemini-embedding-001", input: [1, 2, 3] },
      check: ({ status, text }) => expect([status, text]).toEqual([400, expect.stringContaining("input")]),
    },
    {
      name: "Imagen draws in the shape nearest to the size",
      path: "/v1/images/generations",
      body: { model: "imagen-4.0-generate-001", prompt: "a cat", n: 2, size: "1024x1792" },
      check: ({ status, json }) =>
        expect([status, json]).toMatchObject([200, { data: [{ b64_json: "aGk=" }, { b64_json: "eW8=" }] }]),
    },
    {
      name: "a picture that Google filters out is a refusal in its words, no empty answer",
      path: "/v1/images/generations",
      body: { model: "imagen-4.0-generate-001", prompt: "forbidden" },
      check: ({ status, text }) =>
        expect([status >= 400, text]).toEqual([true, expect.stringContaining("Unable to show generated images")]),
    },
    {
      name: "Gemini models that draw are asked by generateContent",
      path: "/v1/images/generations",
      body: { model: "gemini-2.5-flash-image", prompt: "a cat" },
      check: ({ status, json }) =>
        expect([status, json]).toMatchObject([
          200,
          { data: [{ b64_json: "aGk=" }], usage: { input_tokens: 3, output_tokens: 1298 } },
        ]),
      usage: { prompt: 3, completion: 1298 },
    },
    {
      name: "a form that edits pictures reaches Gemini as parts in their order, and what it counts is charged",
      path: "/v1/images/edits",
      body: formOf({
        model: "gemini-2.5-flash-image",
        prompt: "give it a hat",
        size: "1024x1024",
        "image[]": [picture(), picture("b.webp", "")],
      }),
      check: ({ status, json }) =>
        expect([status, json]).toMatchObject([
          200,
          { data: [{ b64_json: "aGk=" }], usage: { input_tokens: 521, output_tokens: 1298 } },
        ]),
      usage: { prompt: 521, completion: 1298 },
    },
    {
      name: "an edit in OpenAI's JSON does as well",
      path: "/v1/images/edits",
      body: {
        model: "gemini-2.5-flash-image",
        prompt: "give it a hat",
        size: "1:1",
        images: [{ image_url: "data:image/png;base64,aGk=" }, { image_url: "data:image/webp;base64,aGk=" }],
      },
      check: ({ status, json }) => expect([status, json]).toMatchObject([200, { data: [{ b64_json: "aGk=" }] }]),
      usage: { prompt: 521, completion: 1298 },
    },
    ...(
      [
        ["a mask", { mask: [picture("m.png")] }, /invalid mask: this model takes no mask/],
        ["several pictures a call", { n: "2" }, /invalid n: Gemini makes one picture a call/],
        ["a stream of pictures", { stream: "true" }, /invalid stream: Google sends pictures whole/],
      ] as const
    ).map(([what, fields, words]) => ({
      name: `${what} is refused with Google's limit before Google is asked`,
      path: "/v1/images/edits",
      body: formOf({ model: "gemini-2.5-flash-image", prompt: "x", image: [picture()], ...fields }),
      check: ({ status, json }: { status: number; json: Record<string, unknown> }) =>
        expect([status, json]).toMatchObject([
          400,
          {
            error: {
              type: "invalid_request_error",
              message: expect.stringMatching(words),
              param: Object.keys(fields)[0],
            },
          },
        ]),
    })),
    {
      name: "Imagen's models that only draw are not sent a picture to edit",
      path: "/v1/images/edits",
      body: formOf({ model: "imagen-4.0-generate-001", prompt: "x", image: [picture()] }),
      check: ({ status, text }) => expect([status, text]).toEqual([400, expect.stringContaining("from words alone")]),
    },
    {
      name: "a picture that only OpenAI has the file of is the caller's mistake",
      path: "/v1/images/edits",
      body: { model: "gemini-2.5-flash-image", prompt: "x", images: [{ file_id: "file-1" }] },
      check: ({ status, text }) => expect([status, text]).toEqual([400, expect.stringContaining("images")]),
    },
  ],
};
