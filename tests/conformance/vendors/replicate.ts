/** Replicate's predictions (replicate.com/docs/reference/http, docs/topics/predictions; read November 2026). */
import { expect } from "bun:test";
import { type Asked, type VendorFake } from "../vendor-fake";

const prediction = (id: string, status: string, output: unknown = null, error: unknown = null) => ({
  id,
  model: "black-forest-labs/flux-schnell",
  version: "hidden",
  input: {},
  logs: "",
  output,
  data_removed: false,
  error,
  status,
  created_at: "2025-01-09T16:19:34.765Z",
  urls: {
    cancel: `https://elsewhere.example/v1/predictions/${id}/cancel`,
    get: `https://elsewhere.example/v1/predictions/${id}`,
  },
});
const two = ["https://replicate.delivery/a.webp", "https://replicate.delivery/b.webp"];

function create({ json, origin }: Asked): Response {
  const { input } = json as { input: Record<string, unknown> };
  switch (input.prompt) {
    case "slow":
      return Response.json(prediction("slow1", "starting"), { status: 201 });
    case "bad":
      return Response.json(prediction("bad1", "failed", null, "NSFW content detected."), { status: 201 });
    case "bytes":
      return Response.json(prediction("b1", "succeeded", `${origin}/delivery/a.webp`), { status: 201 });
    default:
      expect(input).toEqual({
        prompt: "a cat",
        aspect_ratio: "16:9",
        num_outputs: 2,
        output_format: "jpg",
        go_fast: true,
      });
      return Response.json(prediction("f1", "succeeded", two), { status: 201 });
  }
}

const path = "/v1/images/generations";
const model = "black-forest-labs/flux-schnell";

export const vendor: VendorFake = {
  types: ["replicate"],
  source: "replicate.com/docs/reference/http, November 2026",
  model,
  calls: [
    {
      name: "pictures come in OpenAI's shape; a size is the nearest ratio, and the model's own inputs go with it",
      path,
      body: { model, prompt: "a cat", n: 2, size: "1792x1024", output_format: "jpeg", go_fast: true, user: "u" },
      check: ({ status, json }) =>
        expect([status, json]).toEqual([200, { created: 1_736_439_574, data: [{ url: two[0] }, { url: two[1] }] }]),
    },
    {
      name: "a prediction that takes longer than the vendor holds it open is asked for until it is there, at the channel's address",
      path,
      body: { model, prompt: "slow" },
      check: ({ status, json }) => expect([status, json.data]).toEqual([200, [{ url: two[0] }]]),
    },
    {
      name: "a picture that is wanted as bytes is fetched, without the key",
      path,
      body: { model, prompt: "bytes", response_format: "b64_json" },
      check: ({ status, json }) =>
        expect([status, json.data]).toEqual([200, [{ b64_json: Buffer.from("picture").toString("base64") }]]),
    },
    {
      name: "a version of a model is named in the body",
      path,
      body: { model: "owner/name:5c7d5dc6", prompt: "slow" },
      check: ({ status }) => expect(status).toBe(200),
    },
    {
      name: "a prediction that failed is an error in the vendor's words",
      path,
      body: { model, prompt: "bad" },
      check: ({ status, text }) =>
        expect([status, text]).toEqual([502, expect.stringContaining("NSFW content detected.")]),
    },
    {
      name: "pictures are not streamed: the caller is told",
      path,
      body: { model, prompt: "a cat", stream: true },
      check: ({ status, json }) => expect([status, json.error]).toMatchObject([400, { param: "stream" }]),
    },
    {
      name: "a refused key is judged as such",
      path,
      body: { model: "owner/secret", prompt: "a cat" },
      check: ({ status }) => expect(status).toBe(502),
    },
  ],
  answer(asked) {
    const { method, path: at, headers, json } = asked;
    if (at === "/delivery/a.webp") {
      expect(headers.get("authorization")).toBeNull();
      return new Response("picture", { headers: { "content-type": "image/webp" } });
    }
    expect(headers.get("authorization")).toBe("Bearer upstream-key");
    if (method === "GET") {
      expect(at).toBe("/v1/predictions/slow1");
      return Response.json(prediction("slow1", "succeeded", [two[0]]));
    }
    if (at === "/v1/models/owner/secret/predictions") {
      return Response.json(
        { title: "Unauthenticated", detail: "You did not pass a valid authentication token", status: 401 },
        { status: 401 },
      );
    }
    expect([headers.get("prefer"), headers.get("cancel-after")]).toEqual(["wait=60", "10m"]);
    if (at === "/v1/predictions") expect(json.version).toBe("5c7d5dc6");
    else expect(at).toBe("/v1/models/black-forest-labs/flux-schnell/predictions");
    return create(asked);
  },
};
