/**
 * Baidu Wenxin, generation 1 (cloud.baidu.com/doc/WENXINWORKSHOP: s/clntwmv7t, s/Ilkkrb0i5, s/alj562vvu; November
 * 2026).
 */
import { expect } from "bun:test";
import { sse, type VendorFake } from "../vendor-fake";

const says = "您好，有什么可以帮您？";
const usage = { prompt_tokens: 5, completion_tokens: 8, total_tokens: 13 };
const piece = {
  id: "as-bcmt5ct4iy",
  object: "chat.completion",
  created: 1_763_700_000,
  is_truncated: false,
  need_clear_history: false,
  finish_reason: "normal",
  usage,
};
let given = 0;
/** A token that was revoked while a channel had it cached. */
let takenBack = "";

export const vendor: VendorFake = {
  types: ["baidu"],
  source: "cloud.baidu.com/doc/WENXINWORKSHOP, November 2026",
  key: "my-api-key|my-secret-key",
  model: "ERNIE-4.0-8K",
  chat: { says, prompt: 5, completion: 8 },
  refusal: { model: "ERNIE-busy", kind: "rate_limited", message: "Open api qps request limit reached" },
  calls: [
    {
      name: "asks for embeddings with a list of texts and answers as OpenAI does",
      path: "/v1/embeddings",
      body: { model: "bge-large-zh", input: "one text" },
      check: ({ status, json }) => {
        expect([status, json]).toEqual([
          200,
          {
            object: "list",
            model: "bge-large-zh",
            data: [{ object: "embedding", embedding: [0.1, 0.2], index: 0 }],
            usage: { prompt_tokens: 12, total_tokens: 12 },
          },
        ]);
      },
      usage: { prompt: 12, completion: 0 },
    },
    {
      name: "gets a new token once where the kept one was taken back",
      path: "/v1/chat/completions",
      body: { model: "ERNIE-expired", messages: [{ role: "user", content: "hello" }] },
      check: ({ status, text }) => expect([status, text]).toEqual([200, expect.stringContaining(says)]),
    },
    {
      name: "refuses embeddings of tokens, which the vendor does not take, as the caller's mistake",
      path: "/v1/embeddings",
      body: { model: "bge-large-zh", input: [[1, 2]] },
      check: ({ status }) => expect(status).toBe(400),
    },
  ],
  answer({ method, path, url, json }) {
    expect(method).toBe("POST");
    if (url.pathname === "/oauth/2.0/token") {
      expect(url.searchParams.get("grant_type")).toBe("client_credentials");
      expect([url.searchParams.get("client_id"), url.searchParams.get("client_secret")]).toEqual([
        "my-api-key",
        "my-secret-key",
      ]);
      return Response.json({
        access_token: `24.token-${++given}`,
        expires_in: 2_592_000,
        scope: "public",
        session_key: "k",
        session_secret: "",
      });
    }
    expect(url.searchParams.get("access_token")).toStartWith("24.token-");
    const asked = path.split("?")[0];
    if (asked?.endsWith("/embeddings/bge_large_zh")) {
      expect(json).toEqual({ input: ["one text"] });
      return Response.json({
        id: "as-1",
        object: "embedding_list",
        created: 1,
        data: [{ object: "embedding", embedding: [0.1, 0.2], index: 0 }],
        usage: { prompt_tokens: 12, total_tokens: 12 },
      });
    }
    if (asked?.endsWith("/chat/ernie-busy"))
      return Response.json({ error_code: 18, error_msg: "Open api qps request limit reached", id: "as-2" });
    if (asked?.endsWith("/chat/ernie-expired")) {
      const token = String(url.searchParams.get("access_token"));
      if (takenBack === "") {
        takenBack = token;
        return Response.json({ error_code: 110, error_msg: "Access token invalid or no longer valid" });
      }
      expect(token).not.toBe(takenBack);
    } else expect(asked).toBe("/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions_pro");
    expect(json).toMatchObject({ messages: [{ role: "user", content: "hello" }] });
    expect(json).not.toHaveProperty("model");
    if (json.stream !== true) return Response.json({ ...piece, result: says });
    return sse(
      { ...piece, sentence_id: 0, is_end: false, result: says.slice(0, 4) },
      { ...piece, sentence_id: 1, is_end: true, result: says.slice(4) },
    );
  },
};
