/**
 * Alibaba Cloud Model Studio (help.aliyun.com/zh/model-studio: compatibility-of-openai-with-dashscope,
 * text-to-image-v2-api-reference, qwen-image-api, qwen-image-edit-api, wan2-5-image-edit-api-reference,
 * wanx-image-edit, manage-asynchronous-tasks, text-rerank-api; November 2026).
 */
import { expect } from "bun:test";
import { channelType } from "../../../src/shared/channel-types";
import { ordinaryVendor } from "../ordinary";
import { clearMask, formOf, isWhitePixel, picture as file, type VendorFake } from "../vendor-fake";

const type = channelType(17);
if (!type) throw new Error("no channel type 17");
const ordinary = ordinaryVendor(type);
const picture = "https://dashscope-result-bj.oss-cn-beijing.aliyuncs.com/1d/a.png?Expires=1763786400";
const inside = "data:image/png;base64,aGk=";
/** How often a job was polled. */
let asked = 0;

export const vendor: VendorFake = {
  ...ordinary,
  source: "help.aliyun.com/zh/model-studio, November 2026",
  key: "sk-ali",
  other: "plugin-7",
  base: "",
  calls: [
    {
      name: "makes a picture by a job, and waits for it inside the call",
      path: "/v1/images/generations",
      body: {
        model: "wan2.5-t2i-preview",
        prompt: "a flower shop",
        size: "1024x1024",
        n: 1,
        negative_prompt: "people",
        response_format: "url",
      },
      check: ({ status, json }) => {
        expect([status, json]).toEqual([
          200,
          { created: expect.any(Number), data: [{ url: picture, revised_prompt: "a fine flower shop" }] },
        ]);
        expect(asked).toBeGreaterThanOrEqual(2);
      },
    },
    {
      name: "makes a picture at once with the models that answer so",
      path: "/v1/images/generations",
      body: { model: "wan2.6-t2i", prompt: "a flower shop", size: "auto" },
      check: ({ status, json }) =>
        expect([status, json]).toEqual([200, { created: expect.any(Number), data: [{ url: picture }] }]),
    },
    {
      name: "tells why a job failed",
      path: "/v1/images/generations",
      body: { model: "wanx2.1-t2i-turbo", prompt: "something forbidden" },
      check: ({ status, text }) =>
        expect([status, text]).toEqual([400, expect.stringContaining("inappropriate content")]),
    },
    {
      name: "edits pictures of a form with the models that answer at once, in their order",
      path: "/v1/images/edits",
      body: formOf({
        model: "qwen-image-edit-plus",
        prompt: "both in one",
        n: "2",
        negative_prompt: "people",
        image: [file(), file("b.jpg", "image/jpeg")],
      }),
      check: ({ status, json }) =>
        expect([status, json]).toEqual([
          200,
          { created: expect.any(Number), data: [{ url: picture }, { url: picture }] },
        ]),
    },
    {
      name: "edits pictures by a job, and waits for it inside the call",
      path: "/v1/images/edits",
      body: {
        model: "wan2.5-i2i-preview",
        prompt: "a hat",
        n: 2,
        size: "1280x1280",
        images: [{ image_url: inside }, { image_url: "https://pictures.example/hat.jpg" }],
      },
      check: ({ status, json }) => expect([status, json]).toMatchObject([200, { data: [{ url: picture }] }]),
    },
    {
      name: "edits with the older model in its own words, the form's numbers and flags as such",
      path: "/v1/images/edits",
      body: formOf({ model: "wanx2.1-imageedit", prompt: "a hat", seed: "7", watermark: "false", image: [file()] }),
      check: ({ status, json }) => expect([status, json]).toMatchObject([200, { data: [{ url: picture }] }]),
    },
    {
      name: "a mask by transparency reaches the model that knows masks in white",
      path: "/v1/images/edits",
      body: formOf({ model: "wanx2.1-imageedit", prompt: "a hat", image: [file()], mask: [clearMask()] }),
      check: ({ status, json }) => expect([status, json]).toMatchObject([200, { data: [{ url: picture }] }]),
    },
    ...(
      [
        [
          "a mask for a model that has none",
          "qwen-image-edit-plus",
          { mask: [file("m.png")] },
          /invalid mask: this model takes no mask/,
        ],
        [
          "a second picture for a model that edits one",
          "wanx2.1-imageedit",
          { image: [file(), file()] },
          /invalid image: this model edits one picture/,
        ],
        [
          "a picture for a model that only draws",
          "wan2.5-t2i-preview",
          {},
          /invalid image: this model makes pictures from words alone/,
        ],
      ] as const
    ).map(([what, model, fields, words]) => ({
      name: `${what} is refused before the vendor is asked`,
      path: "/v1/images/edits",
      body: formOf({ model, prompt: "x", image: [file()], ...fields }),
      check: ({ status, text }: { status: number; text: string }) =>
        expect([status, text]).toEqual([400, expect.stringMatching(words)]),
    })),
    {
      name: "a model that edits is not asked without a picture",
      path: "/v1/images/generations",
      body: { model: "wan2.5-i2i-preview", prompt: "x" },
      check: ({ status, text }) => expect([status, text]).toEqual([400, expect.stringContaining("edits pictures")]),
    },
    {
      name: "refuses pictures inside the answer, which the vendor does not send",
      path: "/v1/images/generations",
      body: { model: "wan2.6-t2i", prompt: "x", response_format: "b64_json" },
      check: ({ status, text }) => expect([status, text]).toEqual([400, expect.stringContaining("response_format")]),
    },
    {
      name: "reranks with the models of the compatible path as they are asked",
      path: "/v1/rerank",
      body: { model: "qwen3-rerank", query: "q", documents: ["a", "b"], top_n: 1 },
      check: ({ status, json }) => expect([status, json.results]).toEqual([200, [{ index: 0, relevance_score: 0.9 }]]),
      usage: { prompt: 7, completion: 0 },
    },
    {
      name: "reranks with the older models in their own words",
      path: "/v1/rerank",
      body: { model: "gte-rerank-v2", query: "q", documents: ["a", "b"], top_n: 1, return_documents: true },
      check: ({ status, json }) =>
        expect([status, json]).toEqual([
          200,
          {
            id: "r-1",
            results: [{ index: 1, relevance_score: 0.8, document: { text: "b" } }],
            usage: { total_tokens: 79 },
          },
        ]),
      usage: { prompt: 79, completion: 0 },
    },
    {
      name: "takes overdue bills for what they are",
      path: "/v1/chat/completions",
      body: { model: "overdue", messages: [{ role: "user", content: "hello" }] },
      check: ({ status, text }) => expect([status, text]).toEqual([502, expect.not.stringContaining("Access denied")]),
    },
  ],
  answer(call) {
    const { method, path, headers, json } = call;
    expect(headers.get("authorization")).toBe("Bearer sk-ali");
    if (path.startsWith("/api/v1/tasks/")) {
      expect(method).toBe("GET");
      if (path.endsWith("/job-2")) {
        const output = {
          task_id: "job-2",
          task_status: "FAILED",
          code: "DataInspectionFailed",
          message: "Output data may contain inappropriate content.",
        };
        return Response.json({ request_id: "r", output });
      }
      asked++;
      if (asked === 1)
        return Response.json({ code: "Throttling", message: "too many", request_id: "r" }, { status: 429 });
      const results = [{ orig_prompt: "a flower shop", actual_prompt: "a fine flower shop", url: picture }];
      return Response.json({
        request_id: "r",
        output: {
          task_id: "job-1",
          task_status: "SUCCEEDED",
          results,
          task_metrics: { TOTAL: 1, SUCCEEDED: 1, FAILED: 0 },
        },
        usage: { image_count: 1 },
      });
    }
    expect(headers.get("x-dashscope-plugin")).toBe("plugin-7");
    if (path === "/api/v1/services/aigc/text2image/image-synthesis") {
      expect(headers.get("x-dashscope-async")).toBe("enable");
      if (json.model === "wan2.5-t2i-preview") {
        expect(json).toEqual({
          model: "wan2.5-t2i-preview",
          input: { prompt: "a flower shop", negative_prompt: "people" },
          parameters: { size: "1024*1024", n: 1 },
        });
      }
      const task_id = json.model === "wan2.5-t2i-preview" ? "job-1" : "job-2";
      return Response.json({ output: { task_status: "PENDING", task_id }, request_id: "r" });
    }
    if (path === "/api/v1/services/aigc/image2image/image-synthesis") {
      expect(headers.get("x-dashscope-async")).toBe("enable");
      const old = json.model === "wanx2.1-imageedit";
      const { mask_image_url } = json.input as { mask_image_url?: string };
      if (mask_image_url !== undefined) {
        const [kind, bytes] = mask_image_url.split(";base64,");
        expect([kind, isWhitePixel(bytes)]).toEqual(["data:image/png", true]);
        expect(json.input).toEqual({
          function: "description_edit_with_mask",
          prompt: "a hat",
          base_image_url: inside,
          mask_image_url,
        });
        return Response.json({ output: { task_status: "PENDING", task_id: "job-1" }, request_id: "r" });
      }
      expect(json).toEqual(
        old
          ? {
              model: "wanx2.1-imageedit",
              input: { function: "description_edit", prompt: "a hat", base_image_url: inside },
              parameters: { n: 1, seed: 7, watermark: false },
            }
          : {
              model: "wan2.5-i2i-preview",
              input: { prompt: "a hat", images: [inside, "https://pictures.example/hat.jpg"] },
              parameters: { n: 2, size: "1280*1280" },
            },
      );
      return Response.json({ output: { task_status: "PENDING", task_id: "job-1" }, request_id: "r" });
    }
    if (path === "/api/v1/services/aigc/multimodal-generation/generation" && json.model === "qwen-image-edit-plus") {
      expect(json).toEqual({
        model: "qwen-image-edit-plus",
        input: {
          messages: [
            {
              role: "user",
              content: [{ image: inside }, { image: "data:image/jpeg;base64,aGk=" }, { text: "both in one" }],
            },
          ],
        },
        parameters: { n: 2, negative_prompt: "people" },
      });
      const message = { role: "assistant", content: [{ image: picture }, { image: picture }] };
      return Response.json({
        output: { choices: [{ finish_reason: "stop", message }] },
        usage: { width: 1248, image_count: 2, height: 832 },
        request_id: "r",
      });
    }
    if (path === "/api/v1/services/aigc/multimodal-generation/generation") {
      expect(json).toEqual({
        model: "wan2.6-t2i",
        input: { messages: [{ role: "user", content: [{ text: "a flower shop" }] }] },
        parameters: { n: 1 },
      });
      const message = { role: "assistant", content: [{ type: "image", image: picture }] };
      return Response.json({
        output: { choices: [{ finish_reason: "stop", message }], finished: true },
        usage: { image_count: 1 },
        request_id: "r",
      });
    }
    if (path === "/compatible-api/v1/reranks") {
      expect(json).toEqual({ model: "qwen3-rerank", query: "q", documents: ["a", "b"], top_n: 1 });
      return Response.json({
        object: "list",
        results: [{ index: 0, relevance_score: 0.9 }],
        model: "qwen3-rerank",
        usage: { total_tokens: 7 },
      });
    }
    if (path === "/api/v1/services/rerank/text-rerank/text-rerank") {
      expect(json).toEqual({
        model: "gte-rerank-v2",
        input: { query: "q", documents: ["a", "b"] },
        parameters: { top_n: 1, return_documents: true },
      });
      return Response.json({
        output: { results: [{ index: 1, relevance_score: 0.8, document: { text: "b" } }] },
        usage: { total_tokens: 79 },
        request_id: "r-1",
      });
    }
    if (json.model === "overdue") {
      const error = {
        message: "Access denied, please make sure your account is in good standing.",
        type: "Arrearage",
        param: null,
        code: "Arrearage",
      };
      return Response.json({ error, request_id: "r" }, { status: 400 });
    }
    headers.set("authorization", `Bearer ${ordinary.key}`);
    return ordinary.answer(call);
  },
};
