/** Azure OpenAI (learn.microsoft.com/azure/foundry/openai/reference and how-to/content-filter, November 2026). */
import { expect } from "bun:test";
import { responsesAnswer } from "../responses";
import { sse, type VendorFake } from "../vendor-fake";

const says = "Hello! How can I assist you?";
const safe = { hate: { filtered: false, severity: "safe" }, violence: { filtered: false, severity: "safe" } };
const head = { id: "chatcmpl-6v7mkQj980V1yBec6ETrKPRqFjNw9", created: 1_679_072_642, model: "gpt-35-turbo" };
const usage = { prompt_tokens: 58, completion_tokens: 68, total_tokens: 126 };
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason, content_filter_results: {} }],
});

export const vendor: VendorFake = {
  types: ["azure"],
  source: "learn.microsoft.com/azure/foundry/openai/reference, November 2026",
  other: "2024-10-21",
  model: "gpt-3.5-turbo",
  chat: { says, prompt: 58, completion: 68 },
  refusal: {
    model: "gpt-none",
    kind: "model_missing",
    message: "The API deployment for this resource does not exist",
  },
  answer({ path, headers, json, text }) {
    expect(headers.get("api-key")).toBe("upstream-key");
    expect(headers.get("authorization")).toBeNull();
    // Here the deployment is named in the body (learn.microsoft.com/azure/ai-foundry/openai/how-to/responses, November
    // 2026).
    if (path === "/openai/v1/responses") return responsesAnswer(json, "gpt-35-turbo", says, 58, 68);
    const [, deployment, call] = /^\/openai\/deployments\/([^/]+)\/([^?]+)\?api-version=2024-10-21$/.exec(path) ?? [];
    if (deployment === "gpt-none") {
      const message =
        "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.";
      return Response.json({ error: { code: "DeploymentNotFound", message } }, { status: 404 });
    }
    switch (call) {
      case "chat/completions": {
        expect(deployment).toBe("gpt-35-turbo");
        if (json.stream !== true) {
          const choice = {
            index: 0,
            finish_reason: "stop",
            message: { role: "assistant", content: says },
            content_filter_results: safe,
          };
          const prompt_filter_results = [{ prompt_index: 0, content_filter_results: safe }];
          return Response.json({ ...head, object: "chat.completion", usage, choices: [choice], prompt_filter_results });
        }
        expect(json.stream_options).toEqual({ include_usage: true });
        const filtered = {
          id: "",
          object: "",
          created: 0,
          model: "",
          choices: [],
          prompt_filter_results: [{ prompt_index: 0, content_filter_results: safe }],
        };
        return sse(
          filtered,
          chunk({ role: "assistant" }),
          chunk({ content: says }),
          chunk({}, "stop"),
          { ...chunk({}), choices: [], usage },
          "[DONE]",
        );
      }
      case "embeddings":
        expect(deployment).toBe("text-embedding-ada-002");
        return Response.json({
          object: "list",
          data: [{ object: "embedding", index: 0, embedding: [0.018] }],
          model: "ada",
          usage: { prompt_tokens: 6, total_tokens: 6 },
        });
      case "images/generations":
        return Response.json({
          created: 1_698_342_300,
          data: [{ revised_prompt: "a cat", url: "https://images.example/1.png", content_filter_results: safe }],
        });
      case "images/edits":
        expect(headers.get("content-type")).toStartWith("multipart/form-data");
        expect(text).toContain("make it blue");
        return Response.json({
          created: 1,
          data: [{ b64_json: "aGk=" }],
          usage: { input_tokens: 50, output_tokens: 100, total_tokens: 150 },
        });
      case "audio/speech":
        return new Response(Buffer.from("ID3sound"), { headers: { "content-type": "audio/mpeg" } });
      case "audio/translations":
        return Response.json({ text: "good day" });
    }
    throw new Error(`no such path: ${path}`);
  },
  calls: [
    {
      name: "a model with a dot is asked at its deployment, whose name has none; embeddings are charged by their tokens",
      path: "/v1/embeddings",
      body: { model: "text-embedding-ada-002", input: "hi" },
      check: ({ json }) => expect(json).toMatchObject({ data: [{ embedding: [0.018] }] }),
      usage: { prompt: 6, completion: 0 },
    },
    {
      name: "pictures are made at the deployment's path",
      path: "/v1/images/generations",
      body: { model: "dall-e-3", prompt: "a cat" },
      check: ({ status, json }) =>
        expect([status, json]).toMatchObject([200, { data: [{ url: "https://images.example/1.png" }] }]),
    },
    {
      name: "speech flows through as sound",
      path: "/v1/audio/speech",
      body: { model: "tts-1", input: "hi", voice: "alloy" },
      check: ({ status, text, headers }) =>
        expect([status, text, headers.get("content-type")]).toEqual([200, "ID3sound", "audio/mpeg"]),
    },
  ],
};
