/**
 * CVE-2024-9606, CVE-2025-11203 and similar: keys in logs, health records and responses. Keys are planted everywhere a
 * key can be, errors are caused through the channel, then everything that Weir wrote is searched (docs/security.md).
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeUpstream } from "../kit/fake-upstream/server";
import { HOOK_MS } from "../kit/harness";
import { startProcess, type WeirProcess } from "../kit/weir-process";

const PLANTED = {
  password: "planted-password-7781",
  channel: "sk-planted-channel-5512",
  caller: "sk-planted-unknown-caller-8823",
  option: "planted-option-secret-3307",
  body: "planted-prompt-text-9914",
};

let weir: WeirProcess;
let folder: string;
const upstream = startFakeUpstream();
const answers: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "weir-planted-"));
  weir = await startProcess(undefined, {
    PORT: "0",
    WEIR_HOST: "127.0.0.1",
    WEIR_DATA_DIR: folder,
    WEIR_LOG_LEVEL: "debug",
    WEIR_API_RATE_LIMIT: "0",
    WEIR_CRITICAL_RATE_LIMIT: "0",
    WEIR_ROOT_USERNAME: "root",
    WEIR_ROOT_PASSWORD: PLANTED.password,
  });
}, HOOK_MS);

afterAll(async () => {
  await weir?.stop();
  upstream.close();
  rmSync(folder, { recursive: true, force: true });
});

async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(weir.url + path, init);
  answers.push(await answer.clone().text());
  return answer;
}

test("CVE-2024-9606: no key, password or prompt is in the logs, the database or any answer that does not own it", async () => {
  const post = (path: string, body: unknown, headers: Record<string, string> = {}, method = "POST") =>
    call(path, {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const login = await post("/api/user/login", { username: "root", password: PLANTED.password });
  await post("/api/user/login", { username: "root", password: `${PLANTED.password}x` });
  const headers = { cookie: login.headers.get("set-cookie")?.split(";")[0] ?? "", "New-Api-User": "1" };

  await post("/api/option/", { key: "SelfUseModeEnabled", value: "true" }, headers, "PUT");
  await post("/api/option/", { key: "SMTPToken", value: PLANTED.option }, headers, "PUT");
  const models = ["echo", "error-401", "error-500", "error-in-200", "html-error", "cut-midstream", "bad-json"];
  await post(
    "/api/channel/",
    { type: 1, name: "planted", key: PLANTED.channel, base_url: upstream.url, models: models.join(",") },
    headers,
  );
  await post(
    "/api/channel/",
    { type: 1, name: "planted", key: PLANTED.channel, base_url: upstream.url, models: "" },
    headers,
  );
  await post("/api/channel/", `{"key":"${PLANTED.channel}"`, headers);
  const token = (await (
    await fetch(`${weir.url}/api/token/`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ name: "t", unlimited_quota: true, expired_time: -1 }),
    })
  ).json()) as { data: { key: string } };
  const relayKey = token.data.key;

  for (const model of models) {
    for (const stream of [false, true]) {
      const body = { model, stream, messages: [{ role: "user", content: PLANTED.body }] };
      const asked = post("/v1/chat/completions", body, { authorization: `Bearer sk-${relayKey}` });
      // A response to the caller may repeat the caller's own text.
      await asked.then(() => answers.pop());
    }
  }
  for (const path of ["/v1/chat/completions", `/v1/models?key=${PLANTED.caller}`]) {
    await post(path, { model: "echo" }, { authorization: `Bearer ${PLANTED.caller}` });
    await call(path, { headers: { "x-api-key": PLANTED.caller } });
  }
  for (const path of [
    "/api/channel/?p=0&page_size=100",
    "/api/channel/1",
    "/api/channel/search?keyword=planted",
    "/api/channel/test/1?model=error-401",
    "/api/channel/fetch_models/1",
    "/api/option/",
    "/api/log/?p=1&page_size=100",
    "/api/user/self",
    "/api/status",
    "/readyz",
    "/api/openapi.json",
  ]) {
    await call(path, { headers });
  }
  // The usage log is folded and the WAL written.
  await Bun.sleep(1500);

  const places: Record<string, string> = { logs: weir.output(), answers: answers.join("\n") };
  for (const name of readdirSync(folder))
    if (name !== "secret") places[`file ${name}`] = readFileSync(join(folder, name), "latin1");
  expect(Object.keys(places)).toContain("file weir.db");
  const found = Object.entries(places).flatMap(([place, text]) =>
    Object.entries({ ...PLANTED, relayKey })
      .filter(([, secret]) => text.includes(secret))
      .map(([name]) => `${name} in ${place}`),
  );
  expect(found).toEqual([]);
}, 60_000);
