/**
 * Google Vertex AI (cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference, …/partner-models/claude,
 * …/maas/use-open-models, …/model-reference/imagen-api-edit;
 * developers.google.com/identity/protocols/oauth2/service-account; November 2026).
 */
import { expect } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { jwtVerify } from "jose";
import { clearMask, formOf, isWhitePixel, namedSse, picture, sse, type VendorFake } from "../vendor-fake";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const private_key = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
const place = "/v1/projects/my-project/locations";
const says = "Hello there!";
const candidate = { content: { parts: [{ text: says }], role: "model" }, finishReason: "STOP" };
const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 8, totalTokenCount: 12, trafficType: "ON_DEMAND" };
const message = {
  id: "msg_vrtx_01",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5-20250929",
  stop_sequence: null,
};
const openUsage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

export const vendor: VendorFake = {
  types: ["vertex"],
  source: "cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference, November 2026",
  key: (origin) =>
    JSON.stringify({
      type: "service_account",
      project_id: "my-project",
      private_key_id: "k1",
      private_key,
      client_email: "weir@my-project.iam.gserviceaccount.com",
      token_uri: `${origin}/token`,
    }),
  other: '{"default":"us-central1","claude-sonnet-4-5-20250929":"europe-west1"}',
  model: "gemini-2.5-flash",
  chat: { says, prompt: 4, completion: 8 },
  refusal: { model: "gemini-none", kind: "forbidden", message: "Permission 'aiplatform.endpoints.predict' denied" },
  async answer({ origin, path, headers, text, json }) {
    if (path === "/token") {
      const form = new URLSearchParams(text);
      expect(form.get("grant_type")).toBe("urn:ietf:params:oauth:grant-type:jwt-bearer");
      const { payload, protectedHeader } = await jwtVerify(form.get("assertion") ?? "", publicKey, {
        audience: `${origin}/token`,
      });
      expect(protectedHeader).toMatchObject({ alg: "RS256", typ: "JWT" });
      expect(payload).toMatchObject({
        iss: "weir@my-project.iam.gserviceaccount.com",
        scope: "https://www.googleapis.com/auth/cloud-platform",
      });
      expect(Number(payload.exp) - Number(payload.iat)).toBe(3600);
      return Response.json({ access_token: "ya29.token", expires_in: 3599, token_type: "Bearer" });
    }
    expect(headers.get("authorization")).toBe("Bearer ya29.token");
    if (path.includes("gemini-none")) {
      const error = {
        code: 403,
        message: "Permission 'aiplatform.endpoints.predict' denied on resource",
        status: "PERMISSION_DENIED",
      };
      return Response.json(path.includes("stream") ? [{ error }] : { error }, { status: 403 });
    }
    const publishers = `${place}/us-central1/publishers/google/models`;
    if (path === `${publishers}/text-embedding-005:predict`) {
      expect(json).toEqual({ instances: [{ content: "hello" }, { content: "world" }] });
      const predictions = [[0.5], [1]].map((values) => ({
        embeddings: { values, statistics: { truncated: false, token_count: 2 } },
      }));
      return Response.json({ predictions, metadata: { billableCharacterCount: 10 } });
    }
    if (path === `${publishers}/imagen-4.0-generate-001:predict`)
      return Response.json({ predictions: [{ mimeType: "image/png", bytesBase64Encoded: "aGk=" }] });
    if (path === `${publishers}/imagen-3.0-capability-001:predict`) {
      const raw = {
        referenceType: "REFERENCE_TYPE_RAW",
        referenceId: 1,
        referenceImage: { bytesBase64Encoded: "aGk=" },
      };
      if (text.includes("MASK")) {
        const [
          {
            referenceImages: [, marked],
          },
        ] = json.instances as [{ referenceImages: { referenceImage: { bytesBase64Encoded: string } }[] }];
        const bytesBase64Encoded = marked?.referenceImage.bytesBase64Encoded;
        expect(isWhitePixel(bytesBase64Encoded)).toBe(true);
        const mask = {
          referenceType: "REFERENCE_TYPE_MASK",
          referenceId: 2,
          referenceImage: { bytesBase64Encoded },
          maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED" },
        };
        expect(json).toEqual({
          instances: [{ prompt: "a red hat", referenceImages: [raw, mask] }],
          parameters: { editMode: "EDIT_MODE_INPAINT_INSERTION", sampleCount: 1 },
        });
        return Response.json({ predictions: [{ mimeType: "image/png", bytesBase64Encoded: "eW8=" }] });
      }
      expect(json).toEqual({
        instances: [{ prompt: "a red hat", referenceImages: [raw] }],
        parameters: { editMode: "EDIT_MODE_DEFAULT", sampleCount: 2 },
      });
      return Response.json({
        predictions: ["aGk=", "eW8="].map((bytesBase64Encoded) => ({ mimeType: "image/png", bytesBase64Encoded })),
      });
    }
    if (path === `${publishers}/gemini-2.5-flash-image:generateContent`) {
      expect(json).toMatchObject({
        contents: [
          {
            role: "user",
            parts: [
              { text: "a red hat" },
              { fileData: { fileUri: "https://pictures.example/cat.jpg", mimeType: "image/jpeg" } },
            ],
          },
        ],
      });
      const drawn = {
        content: { role: "model", parts: [{ inlineData: { mimeType: "image/png", data: "aGk=" } }] },
        finishReason: "STOP",
      };
      return Response.json({
        candidates: [drawn],
        usageMetadata: { promptTokenCount: 260, candidatesTokenCount: 1290, totalTokenCount: 1550 },
      });
    }
    const google = `${place}/us-central1/publishers/google/models/gemini-2.5-flash`;
    if (path === `${google}:generateContent`)
      return Response.json({ candidates: [candidate], usageMetadata, modelVersion: "gemini-2.5-flash" });
    if (path === `${google}:streamGenerateContent?alt=sse`) return sse({ candidates: [candidate], usageMetadata });
    const anthropic = `${place}/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929`;
    if (path.startsWith(anthropic)) {
      expect(json).toMatchObject({ anthropic_version: "vertex-2023-10-16", max_tokens: 10 });
      expect(json).not.toHaveProperty("model");
      if (path === `${anthropic}:rawPredict`) {
        return Response.json({
          ...message,
          content: [{ type: "text", text: says }],
          stop_reason: "end_turn",
          usage: { input_tokens: 25, output_tokens: 15 },
        });
      }
      expect(path).toBe(`${anthropic}:streamRawPredict`);
      return namedSse(
        {
          type: "message_start",
          message: { ...message, content: [], stop_reason: null, usage: { input_tokens: 25, output_tokens: 1 } },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: says } },
        { type: "content_block_stop", index: 0 },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: { output_tokens: 15 },
        },
        { type: "message_stop" },
      );
    }
    expect(path).toBe(`${place}/us-central1/endpoints/openapi/chat/completions`);
    expect(json).toMatchObject({
      model: "meta/llama-3.3-70b-instruct-maas",
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "meta/llama-3.3-70b-instruct-maas" };
    return sse(
      { ...chunk, choices: [{ index: 0, delta: { role: "assistant", content: says }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { ...chunk, choices: [], usage: openUsage },
      "[DONE]",
    );
  },
  calls: [
    ...[false, true].map((stream) => ({
      name: `Claude is asked in its own language, in its own region${stream ? ", streamed" : ""}`,
      path: "/v1/messages",
      body: {
        model: "claude-sonnet-4-5-20250929",
        max_tokens: 10,
        stream,
        messages: [{ role: "user", content: "hello" }],
      },
      check: ({ status, text }: { status: number; text: string }) =>
        expect([status, text]).toEqual([200, expect.stringContaining(says)]),
      usage: { prompt: 25, completion: 15 },
    })),
    {
      name: "texts are embedded by predict, and the tokens of all of them are charged",
      path: "/v1/embeddings",
      body: { model: "text-embedding-005", input: ["hello", "world"] },
      check: ({ status, json }) =>
        expect([status, json]).toMatchObject([200, { data: [{ embedding: [0.5] }, { embedding: [1] }] }]),
      usage: { prompt: 4, completion: 0 },
    },
    {
      name: "Imagen draws by predict",
      path: "/v1/images/generations",
      body: { model: "imagen-4.0-generate-001", prompt: "a cat" },
      check: ({ status, json }) => expect([status, json]).toMatchObject([200, { data: [{ b64_json: "aGk=" }] }]),
    },
    {
      name: "Imagen edits a picture by predict, as many times as asked",
      path: "/v1/images/edits",
      body: formOf({ model: "imagen-3.0-capability-001", prompt: "a red hat", n: "2", image: [picture()] }),
      check: ({ status, json }) =>
        expect([status, json]).toMatchObject([200, { data: [{ b64_json: "aGk=" }, { b64_json: "eW8=" }] }]),
    },
    {
      name: "a mask by transparency reaches Imagen in white",
      path: "/v1/images/edits",
      body: formOf({
        model: "imagen-3.0-capability-001",
        prompt: "a red hat",
        image: [picture()],
        mask: [clearMask()],
      }),
      check: ({ status, json }) => expect([status, json]).toMatchObject([200, { data: [{ b64_json: "eW8=" }] }]),
    },
    {
      name: "what is no such mask is refused, and why",
      path: "/v1/images/edits",
      body: formOf({
        model: "imagen-3.0-capability-001",
        prompt: "a red hat",
        image: [picture()],
        mask: [picture("mask.png")],
      }),
      check: ({ status, text }) =>
        expect([status, text]).toEqual([400, expect.stringContaining("invalid mask: it must be a PNG")]),
    },
    {
      name: "Imagen is not sent a picture by its address",
      path: "/v1/images/edits",
      body: {
        model: "imagen-3.0-capability-001",
        prompt: "a red hat",
        images: [{ image_url: "https://pictures.example/cat.jpg" }],
      },
      check: ({ status, text }) => expect([status, text]).toEqual([400, expect.stringContaining("not by address")]),
    },
    {
      name: "Gemini models edit by generateContent, and a picture's address goes along as it is",
      path: "/v1/images/edits",
      body: { model: "gemini-2.5-flash-image", prompt: "a red hat", image: "https://pictures.example/cat.jpg" },
      check: ({ status, json }) => expect([status, json]).toMatchObject([200, { data: [{ b64_json: "aGk=" }] }]),
      usage: { prompt: 260, completion: 1290 },
    },
    {
      name: "open models are asked in OpenAI's language under their maker's name, and their usage is asked for",
      path: "/v1/chat/completions",
      body: { model: "llama-3.3-70b-instruct-maas", stream: true, messages: [{ role: "user", content: "hello" }] },
      check: ({ status, text }) => {
        expect([status, text]).toEqual([200, expect.stringContaining(says)]);
        expect(text).not.toContain("prompt_tokens");
      },
      usage: { prompt: 7, completion: 3 },
    },
  ],
};
