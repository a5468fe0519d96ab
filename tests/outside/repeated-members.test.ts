/** No call names twice what decides its price or its vendor: of two, Weir and the vendor might read different ones. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { startWeir, type Weir } from "../kit/weir";

let weir: Weir;
let key = "";
const received: { path: string; text: string }[] = [];
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    received.push({ path: new URL(request.url).pathname, text: await request.text() });
    return Response.json({
      id: "1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "hi" } }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  },
});

beforeAll(async () => {
  weir = await startWeir();
  await weir.newChannel({ base_url: `http://127.0.0.1:${upstream.port}`, models: ["m"] });
  await weir.newChannel({ type: 14, base_url: `http://127.0.0.1:${upstream.port}`, models: ["claude"] });
  await weir.priceModels({ m: 1, claude: 1 });
  ({ key } = await weir.newToken());
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await upstream.stop(true);
});

const MESSAGES = `"messages":[{"role":"user","content":"hi"}]`;
const chat = (members: string, model = "m"): string => `{"model":"${model}",${MESSAGES},${members}}`;
const errorOf = async (body: string, path?: string): Promise<{ status: number; text: string }> => {
  const answer = await weir.call(key, body, path === undefined ? {} : { path });
  return { status: answer.status, text: await answer.text() };
};

describe("a member that is there twice is refused and named, and the vendor is not called:", () => {
  test.each([
    ["service_tier", `"service_tier":"priority","service_tier":"default"`],
    ["service_tier", `"service_ti\\u0065r":"priority","service_tier":"default"`],
    ["speed", `"speed":"fast","speed":"standard"`],
    ["inference_geo", `"inference_geo":"us","temperature":1,"inference_geo":"global"`],
    ["n", `"n":100,"n":1`],
    ["max_tokens", `"max_tokens":100000,"max_tokens":1`],
    ["max_completion_tokens", `"max_completion_tokens":100000,"max_completion_tokens":1`],
    ["max_output_tokens", `"max_output_tokens":100000,"max_output_tokens":1`],
    ["stream", `"stream":true,"stream":false`],
    ["background", `"background":true,"background":false`],
    ["size", `"size":"1792x1024","size":"256x256"`],
    ["quality", `"quality":"hd","quality":"standard"`],
    ["seconds", `"seconds":"60","seconds":"1"`],
    ["extra_body", `"extra_body":{"service_tier":"priority"},"extra_body":{}`],
    ["extra_body.service_tier", `"extra_body":{"service_tier":"priority","service_tier":"default"}`],
  ])("%s in %s", async (name, members) => {
    received.length = 0;
    const { status, text } = await errorOf(chat(members));
    expect([status, text]).toEqual([400, expect.stringContaining(name)]);
    expect(received).toEqual([]);
  });

  test("in calls of every kind", async () => {
    received.length = 0;
    const calls: readonly (readonly [path: string, name: string, body: string])[] = [
      ["/v1/messages", "speed", chat(`"max_tokens":5,"speed":"fast","speed":"standard"`, "claude")],
      ["/v1/responses", "max_output_tokens", `{"model":"m","input":"x","max_output_tokens":9,"max_output_tokens":1}`],
      ["/v1/completions", "n", `{"model":"m","prompt":"x","n":9,"n":1}`],
      ["/v1/images/generations", "size", `{"model":"m","prompt":"x","size":"1792x1024","size":"256x256"}`],
      ["/v1/videos", "seconds", `{"model":"m","prompt":"x","seconds":"60","seconds":"1"}`],
      [
        "/v1beta/models/m:generateContent",
        "generationConfig",
        `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":9},"generationConfig":{}}`,
      ],
    ];
    for (const [path, name, body] of calls) {
      const { status, text } = await errorOf(body, path);
      expect([path, status, text]).toEqual([path, 400, expect.stringContaining(name)]);
    }
    expect(received).toEqual([]);
  });
});

test("the same names further inside, or as texts, are sent as they were written", async () => {
  received.length = 0;
  const members =
    `"service_tier":"default","stream":false,"n":1,"user":"size","stop":["n","stream"],` +
    `"tools":[{"type":"function","function":{"name":"model","parameters":{"type":"object","properties":{"size":{},"n":{},"stream":{},"model":{}}}}}],` +
    `"metadata":{"service_tier":"x","quality":"x"}`;
  const { status } = await errorOf(chat(members));
  expect(status).toBe(200);
  expect(received.map(({ text }) => text)).toEqual([chat(members)]);
});

test("a dearer tier inside extra_body is dropped like one beside it, and the rest of extra_body stays", async () => {
  received.length = 0;
  const { status } = await errorOf(chat(`"extra_body":{"service_tier":"priority","google":{"a":1}},"seed":7`));
  expect(status).toBe(200);
  expect(JSON.parse(received[0]?.text ?? "")).toEqual({
    model: "m",
    messages: [{ role: "user", content: "hi" }],
    extra_body: { google: { a: 1 } },
    seed: 7,
  });
  const row = await weir.waitForLog(({ other }) => other.includes("extra_body.service_tier"));
  expect(row.other).toContain("dropped_field: extra_body.service_tier");
});
