/** Zhipu's API of generation 3 (open.bigmodel.cn, model-api; zhipuai 1.0.7; November 2026). */
import { expect } from "bun:test";
import { jwtVerify } from "jose";
import type { VendorFake } from "../vendor-fake";

const says = "你好，我是人工智能助手。";
const usage = { prompt_tokens: 2, completion_tokens: 37, total_tokens: 39 };

export const vendor: VendorFake = {
  types: ["zhipu-v3"],
  source: "open.bigmodel.cn, model-api; zhipuai 1.0.7, November 2026",
  key: "0123456789abcdef.my-own-secret",
  model: "chatglm_turbo",
  chat: { says, prompt: 2, completion: 37 },
  refusal: { model: "chatglm_none", kind: "model_missing", message: "模型不存在" },
  async answer({ method, path, headers, json }) {
    expect(method).toBe("POST");
    const authorization = String(headers.get("authorization"));
    expect(authorization).not.toStartWith("Bearer");
    // The claims are in milliseconds, so their end is judged here.
    const { payload, protectedHeader } = await jwtVerify(authorization, Buffer.from("my-own-secret"));
    expect(protectedHeader).toMatchObject({ alg: "HS256", sign_type: "SIGN" });
    expect(payload).toMatchObject({ api_key: "0123456789abcdef" });
    expect(Number(payload.exp)).toBeGreaterThan(Date.now());
    if (path.includes("chatglm_none")) return Response.json({ code: 1211, msg: "模型不存在", success: false });
    expect(json).toEqual({ prompt: [{ role: "user", content: "hello" }], incremental: true });
    if (path === "/api/paas/v3/model-api/chatglm_turbo/invoke") {
      const data = {
        request_id: "r1",
        task_id: "t1",
        task_status: "SUCCESS",
        choices: [{ role: "assistant", content: JSON.stringify(` ${says}`) }],
        usage,
      };
      return Response.json({ code: 200, msg: "操作成功", data, success: true });
    }
    expect(path).toBe("/api/paas/v3/model-api/chatglm_turbo/sse-invoke");
    const meta = JSON.stringify({ task_status: "SUCCESS", usage, task_id: "t1", request_id: "r1" });
    return new Response(
      `event:add\nid:t1\ndata:${says.slice(0, 3)}\n\nevent:add\nid:t1\ndata:${says.slice(3)}\n\nevent:finish\nid:t1\ndata:\nmeta:${meta}\n\n`,
      { headers: { "content-type": "text/event-stream;charset=UTF-8" } },
    );
  },
};
