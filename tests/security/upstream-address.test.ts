/** Only the operator decides where a call goes, with which key and headers (docs/security.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { connect } from "node:net";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { startWeir, type Weir } from "../kit/weir";

const upstream = startFakeUpstream();
/** An attacker's address. */
const seen: string[] = [];
const trap = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    seen.push(`${request.method} ${request.url}`);
    return new Response("caught");
  },
});
const TRAP = `http://127.0.0.1:${trap.port}`;

let weir: Weir;
let key = "";
beforeAll(async () => {
  weir = await startWeir();
  await weir.newChannel({ base_url: upstream.url, models: ["echo"] });
  for (const [type, model] of [
    [14, "claude-echo"],
    [24, "gemini-echo"],
  ] as const) {
    await weir.newChannel({
      type,
      base_url: upstream.url,
      models: [model],
      model_mapping: JSON.stringify({ [model]: "echo" }),
    });
  }
  await weir.priceModels({ echo: 1, "claude-echo": 1, "gemini-echo": 1 });
  ({ key } = await weir.newToken({}, await weir.newUser({ quota: 50_000_000 })));
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  upstream.close();
  await trap.stop(true);
});
beforeEach(() => {
  seen.splice(0);
  upstream.journal.clear();
});

const ask = (more: object = {}): object => ({ model: "echo", messages: [{ role: "user", content: "hi" }], ...more });
/** Names by which similar gateways let callers choose the upstream. */
const FIELDS = {
  api_base: TRAP,
  base_url: TRAP,
  baseURL: TRAP,
  api_key: "stolen-key",
  apiKey: "stolen-key",
  organization: "stolen-org",
  api_version: "stolen",
  headers: { authorization: "Bearer stolen-key", host: "stolen.example" },
  extra_headers: { "x-stolen": "1" },
  proxy: TRAP,
  custom_host: TRAP,
  provider: "stolen",
};

/** The calls that arrived: all at the operator's address with the operator's key, and none at the trap. */
function expectOrdinary(calls: number): void {
  expect(seen).toEqual([]);
  expect(upstream.journal.entries).toHaveLength(calls);
  for (const entry of upstream.journal.entries) {
    expect([entry.key, entry.headers.host]).toEqual(["good-key", new URL(upstream.url).host]);
    const names = Object.entries(entry.headers).flat().join(" ");
    expect(names).not.toContain("stolen");
    expect(names).not.toContain(String(trap.port));
  }
}

test("CVE-2024-6587: api_base, api_key, organization and headers in a call's body or query reach no upstream and change nothing", async () => {
  expect((await weir.call(key, ask(FIELDS))).status).toBe(200);
  const query = new URLSearchParams({
    api_base: TRAP,
    base_url: TRAP,
    api_key: "stolen-key",
    organization: "stolen-org",
  });
  expect((await weir.call(key, ask(), { path: `/v1/chat/completions?${query}` })).status).toBe(200);
  expectOrdinary(2);
});

test("PYSEC-2026-4070: the same names inside metadata, extra_body, user_config and other objects change nothing either", async () => {
  for (const name of [
    "user_config",
    "extra_body",
    "metadata",
    "litellm_params",
    "config",
    "provider",
    "options",
    "model_list",
  ]) {
    expect((await weir.call(key, ask({ [name]: name === "model_list" ? [FIELDS] : FIELDS }))).status).toBeLessThan(500);
  }
  expect(seen).toEqual([]);
  for (const entry of upstream.journal.entries)
    expect([entry.key, entry.headers.host]).toEqual(["good-key", new URL(upstream.url).host]);
});

test("CVE-2025-66405: headers that other gateways route by are ignored", async () => {
  const headers = {
    "x-portkey-custom-host": TRAP,
    "x-portkey-provider": "openai",
    "x-portkey-api-key": "stolen-key",
    "x-portkey-config": JSON.stringify({ custom_host: TRAP }),
    "x-custom-host": TRAP,
    "x-api-base": TRAP,
    "x-base-url": TRAP,
    "helicone-target-url": TRAP,
    "x-bf-api-key": "stolen-key",
    "x-upstream": TRAP,
    "openai-organization": "stolen-org",
  };
  expect((await weir.call(key, ask(), { headers })).status).toBe(200);
  expectOrdinary(1);
});

test("CVE-2026-75871: Host, X-Forwarded-Host and metadata do not change the upstream", async () => {
  const headers = {
    host: `127.0.0.1:${trap.port}`,
    "x-forwarded-host": `127.0.0.1:${trap.port}`,
    forwarded: `host=127.0.0.1:${trap.port}`,
    "x-original-url": TRAP,
  };
  expect((await weir.call(key, ask({ metadata: { endpoint: TRAP, host: TRAP } }), { headers })).status).toBe(200);
  expect(seen).toEqual([]);
  expect(upstream.journal.last().headers.host).toBe(new URL(upstream.url).host);
});

test("CVE-2026-55245: an address in an image, a file or audio is never fetched by the server, whatever its range", async () => {
  const hosts = [
    "127.0.0.1",
    "localhost",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "0177.0.0.1",
    "0x7f.1",
    "[2002:7f00:1::]",
    "[64:ff9b::7f00:1]",
    "[fec0::1]",
    "100.64.0.1",
  ];
  for (const model of ["echo", "claude-echo", "gemini-echo"]) {
    for (const host of hosts) {
      const url = `http://${host}:${trap.port}/x.png`;
      const content = [
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url } },
        { type: "file", file: { file_data: url, filename: "a.pdf" } },
        { type: "input_audio", input_audio: { data: url, format: "wav" } },
      ];
      const answer = await weir.call(key, { model, max_tokens: 5, messages: [{ role: "user", content }] });
      await answer.text();
    }
  }
  expect(seen).toEqual([]);
});

test("CVE-2026-110719: a tenant cannot reach this machine, in the default settings", async () => {
  const user = await weir.newUser({ quota: 1_000_000 });
  for (const host of ["127.0.0.1", "localhost", "host.docker.internal", "0.0.0.0"]) {
    const url = `http://${host}:${trap.port}/`;
    await user.api("POST", "/api/channel/", {
      type: 1,
      name: "mine",
      key: "k",
      base_url: url,
      models: "echo",
      group: "default",
    });
    await user.api("PUT", "/api/user/setting", { notify_type: "webhook", webhook_url: url });
    expect((await user.api("POST", "/api/user/setting/test", {})).body.success).toBe(false);
  }
  expect(seen).toEqual([]);
});

/** The raw response to raw bytes; ends when the server closes or is silent for a moment. */
async function raw(bytes: string): Promise<string> {
  const { hostname, port } = new URL(weir.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    socket.setTimeout(1500, () => socket.destroy());
    socket.on("data", (part) => {
      text += part.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
  });
}

test("request smuggling: two lengths or a length beside chunks never become a second call", async () => {
  const body = JSON.stringify(ask());
  const hidden = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  await raw(`${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`);
  await raw(`${head}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`);
  await raw(`${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`);
  await raw(`${head}Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`);
  // A pipelined second request is the caller's own, with the caller's own key: none may run after a malformed request.
  expect(upstream.journal.entries).toEqual([]);
});

test("header injection: line ends in a model name or in a channel's headers add no header", async () => {
  const model = "echo\r\nx-injected: 1";
  const answer = await weir.call(key, { ...ask(), model });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.headers.get("x-injected")).toBeNull();
  const id = await weir.newChannel({
    base_url: upstream.url,
    models: ["echo-2"],
    model_mapping: JSON.stringify({ "echo-2": "echo" }),
  });
  await weir.priceModels({ echo: 1, "echo-2": 1 });
  for (const value of ["a\r\nx-injected: 1", "a\nx-injected: 1", "a\u0000b"]) {
    await weir.root.api("PUT", "/api/channel/", { id, header_override: JSON.stringify({ "x-own": value }) });
    await weir.root.api("PUT", "/api/channel/", {
      id,
      header_override: JSON.stringify({ [`x-own: 1\r\nx-injected`]: "1" }),
    });
    upstream.journal.clear();
    await (await weir.call(key, { ...ask(), model: "echo-2" })).text();
    for (const entry of upstream.journal.entries) expect(Object.keys(entry.headers)).not.toContain("x-injected");
  }
});
