/** The bot check over the real server, against a stand-in of the service that judges its tokens. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { errorText } from "../../src/shared/errors";
import { HOOK_MS } from "../kit/harness";
import { type MailServer, startMailServer } from "../kit/mail-server";
import { ROOT, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(HOOK_MS);

let weir: Weir;
let mail: MailServer;
const asked: { secret: string | null; response: string | null }[] = [];
const judge = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const form = new URLSearchParams(await request.text());
    asked.push({ secret: form.get("secret"), response: form.get("response") });
    return Response.json({ success: form.get("response") === "human" });
  },
});
beforeAll(async () => {
  mail = await startMailServer({ tls: "none" });
  weir = await startWeir({ env: { WEIR_TURNSTILE_URL: `http://127.0.0.1:${judge.port}/` } });
  for (const [key, value] of Object.entries({
    ServerAddress: weir.url,
    SMTPServer: "127.0.0.1",
    SMTPPort: mail.port,
    SMTPFrom: "weir@example.com",
    TurnstileSiteKey: "site-key",
    TurnstileSecretKey: "turnstile-secret",
    TurnstileCheckEnabled: true,
  }))
    await weir.setOption(key, value);
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await mail?.close();
  await judge.stop(true);
});

const user = { username: "visitor", password: "secret-pass" };
const doors: readonly (readonly [method: string, path: string, body: object | undefined])[] = [
  ["POST", "/api/user/login", { username: ROOT.username, password: ROOT.password }],
  ["POST", "/api/user/register", user],
  ["GET", "/api/verification?email=a%40example.com", undefined],
  ["GET", "/api/reset_password?email=a%40example.com", undefined],
];
const at = ([method, path, body]: (typeof doors)[number], turnstile: string, headers = {}) =>
  weir.anonymous(method, `${path}${path.includes("?") ? "&" : "?"}turnstile=${turnstile}`, body, headers);

test.each(doors)(
  "%s %s is refused with an empty and a wrong token, and served with a right one",
  async (method, path, body) => {
    const door = [method, path, body] as const;
    // spec: D-62
    expect((await at(door, "")).body).toMatchObject({ success: false, code: "turnstile_missing" });
    // spec: A-504, D-62
    expect((await at(door, "robot")).body).toMatchObject({
      success: false,
      code: "turnstile_failed",
      message: errorText("turnstile_failed", {}, "zh"),
    });
    // spec: D-62
    expect((await at(door, "human")).body.success).toBe(true);
  },
);

test("who has passed once is not asked again in this browser, and another browser is", async () => {
  const passed = await at(["POST", "/api/user/login", user], "human");
  const cookie = passed.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .filter((pair) => pair?.startsWith("turnstile="))
    .join("; ");
  asked.splice(0);
  // spec: D-62
  expect((await at(["POST", "/api/user/login", user], "", { cookie })).body.success).toBe(true);
  // spec: D-62
  expect(asked).toEqual([]);
  expect((await at(["POST", "/api/user/login", user], "")).body.success).toBe(false);
});
