/** The buttons of the settings that try a way to sign in. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type FakeIdentity, startFakeIdentity } from "../../../../tests/kit/fake-identity/server";
import { type Harness, HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";
import { tryTelegram } from "./try";

let h: Harness;
let fake: FakeIdentity;
/** Telegram's Bot API with one bot (core.telegram.org/bots/api, "Making requests" and "getMe", read November 2026). */
const TOKEN = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11";
const asked: string[] = [];
const telegram = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    return pathname === `/bot${TOKEN}/getMe`
      ? Response.json({
          ok: true,
          result: { id: 123456, is_bot: true, first_name: "Weir", username: "weir_login_bot" },
        })
      : Response.json({ ok: false, error_code: 401, description: "Unauthorized" }, { status: 401 });
  },
});

beforeAll(async () => {
  [h, fake] = await Promise.all([openHarness("sqlite"), startFakeIdentity()]);
}, HOOK_MS);
afterAll(async () => {
  await telegram.stop(true);
  await fake.stop();
  await h.close();
});

test("discovery returns the endpoints of the document, or the reason why there is none; root alone may try", async () => {
  const root = await h.person({ role: ROLE.root });
  const address = fake.options["oidc.well_known"] ?? "";
  const found = await root.call.identity.tryOidc({ address: ` ${address} ` });
  expect(found).toMatchObject({
    ok: true,
    authorization_endpoint: expect.stringContaining("http"),
    token_endpoint: expect.stringContaining("http"),
  });
  expect(await root.call.identity.tryOidc({ address: `${fake.url}/nowhere` })).toEqual({
    ok: false,
    detail: "discovery: HTTP 404",
  });
  expect(await root.call.identity.tryOidc({ address: "ftp://x" })).toMatchObject({ ok: false });
  const admin = await h.person({ role: ROLE.admin });
  await expect(admin.call.identity.tryOidc({ address })).rejects.toMatchObject({ code: "FORBIDDEN" });
  await expect(admin.call.identity.tryTelegram({ token: TOKEN })).rejects.toMatchObject({ code: "FORBIDDEN" });
});

test("a bot's token gives the bot's name, typed or saved; a wrong one is refused in Telegram's words, an odd one is not sent", async () => {
  const api = telegram.url.origin;
  expect(await tryTelegram(h.services, TOKEN, api)).toEqual({ ok: true, name: "weir_login_bot" });
  expect(await tryTelegram(h.services, "1:wrong", api)).toEqual({ ok: false, detail: "Unauthorized" });
  const before = asked.length;
  for (const odd of ["", "abc", "1:a/../b", "1:a?b", "1:a b"])
    expect(await tryTelegram(h.services, odd, api)).toMatchObject({ ok: false });
  expect(asked.length).toBe(before);
  const root = await h.person({ role: ROLE.root });
  await root.call.option.set({ key: "TelegramBotToken", value: TOKEN });
  expect(await tryTelegram(h.services, "", api)).toEqual({ ok: true, name: "weir_login_bot" });
});

test("a failed request never names the token", async () => {
  const answer = await tryTelegram(h.services, TOKEN, "http://127.0.0.1:1");
  expect(answer.ok).toBe(false);
  expect(JSON.stringify(answer)).not.toContain(TOKEN);
});
