/** The bot check of the registration, against a fake vendor that accepts one token. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { startWeir, type Weir } from "../kit/weir";

let weir: Weir;
let vendor: ReturnType<typeof Bun.serve>;

beforeAll(async () => {
  vendor = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const form = new URLSearchParams(await request.text());
      return Response.json({ success: form.get("secret") === "secret" && form.get("response") === "good" });
    },
  });
  weir = await startWeir({ env: { WEIR_TURNSTILE_URL: `http://127.0.0.1:${vendor.port}/` } });
  for (const [key, value] of Object.entries({
    TurnstileSiteKey: "site",
    TurnstileSecretKey: "secret",
    TurnstileCheckEnabled: true,
  }))
    await weir.setOption(key, value);
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await vendor?.stop(true);
});

test("a registration without a token, or with one that the vendor does not know, is refused with a message; with a good one it is not", async () => {
  const register = async (query: string, headers: Record<string, string> = {}) => {
    const account = { username: "newcomer", password: "secret-pass", password2: "secret-pass" };
    return (await weir.anonymous("POST", `/api/user/register${query}`, account, headers)).body;
  };
  expect(await register("")).toMatchObject({ success: false, message: "请稍等几秒，正在检查环境" });
  // spec: C-599
  expect(await register("?turnstile=wrong")).toMatchObject({
    success: false,
    message: "Turnstile 校验失败，请刷新页面后重试！",
  });
  // spec: C-599
  expect((await register("?turnstile=wrong", { "accept-language": "en" })).message).toContain("Turnstile check failed");
  expect(await register("?turnstile=good")).toMatchObject({ success: true });
});
