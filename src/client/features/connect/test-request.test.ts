import { afterEach, expect, test } from "bun:test";
import { sendTestRequest } from "./test-request";

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

const answerWith = (response: () => Response) => {
  globalThis.fetch = Object.assign(async () => response(), { preconnect: realFetch.preconnect });
};
const stream = (...pieces: Uint8Array[]) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const request = () => {
  const seen: string[] = [];
  return {
    seen,
    call: {
      key: "sk-x",
      model: "m",
      text: "hi",
      signal: new AbortController().signal,
      onText: (text: string) => seen.push(text),
    },
  };
};

test("the answer grows as it comes", async () => {
  answerWith(() => new Response(stream(new TextEncoder().encode(chunk("a") + chunk("b") + "data: [DONE]\n\n"))));
  const { seen, call } = request();
  expect(await sendTestRequest(call)).toMatchObject({ ok: true, text: "ab" });
  expect(seen).toEqual(["a", "ab"]);
});

test("a refusal shows its status and the gateway's own message", async () => {
  answerWith(() => Response.json({ error: { message: "该令牌已过期" } }, { status: 401 }));
  expect(await sendTestRequest(request().call)).toEqual({ ok: false, status: 401, message: "该令牌已过期" });
});

test("an error inside the stream is an error", async () => {
  answerWith(
    () => new Response(stream(new TextEncoder().encode(`${chunk("a")}data: {"error":{"message":"上游连接中断"}}\n\n`))),
  );
  expect(await sendTestRequest(request().call)).toMatchObject({ ok: false, message: "上游连接中断" });
});

test("a missing response is reported as such", async () => {
  globalThis.fetch = Object.assign(
    async () => {
      throw new TypeError("Failed to fetch");
    },
    { preconnect: realFetch.preconnect },
  );
  expect(await sendTestRequest(request().call)).toEqual({ ok: false, status: 0, message: "Failed to fetch" });
});
