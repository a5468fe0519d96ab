/**
 * A reverse proxy that WEIR_TRUSTED_PROXIES does not list: the operator is told once, and one stranger behind it closes
 * the sign-in for no one else.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { ROLE } from "../../src/shared/roles";
import { until } from "../kit/until";
import { ROOT, startWeir, type Weir } from "../kit/weir";

setDefaultTimeout(HOOK_MS);

const from = (address: string) => ({ "x-forwarded-for": address });
const login = (weir: Weir, username: string, password: string, headers: Record<string, string>) =>
  weir.anonymous("POST", "/api/user/login", { username, password }, headers);

describe("a proxy that is not listed", () => {
  test.each(["x-forwarded-for", "x-real-ip", "forwarded"])(
    "is named once in the server's log and to root, for %s",
    async (header) => {
      await using weir = await startWeir({ child: true, env: { WEIR_LOG_LEVEL: "warn" } });
      const admin = await weir.newUser({ role: ROLE.admin });
      expect((await weir.root.trpc.dashboard.attention.query()).unlisted_proxy).toBe("");
      const value = header === "forwarded" ? 'for="[2001:db8::1]:4711";proto=https' : "203.0.113.9";
      for (let i = 0; i < 3; i++) await weir.anonymous("GET", "/api/status", undefined, { [header]: value });
      const warnings = () => weir.process?.output().split("WEIR_TRUSTED_PROXIES").length ?? 0;
      await until("the warning is written", () => warnings() > 1);
      expect(warnings()).toBe(2);
      expect((await weir.root.trpc.dashboard.attention.query()).unlisted_proxy).toBe("127.0.0.1");
      expect((await admin.trpc.dashboard.attention.query()).unlisted_proxy).toBe("");
    },
  );

  test("is not named while it is listed, or forwards nothing", async () => {
    await using weir = await startWeir({
      child: true,
      env: { WEIR_LOG_LEVEL: "warn", WEIR_TRUSTED_PROXIES: "127.0.0.1" },
    });
    await weir.anonymous("GET", "/api/status", undefined, from("203.0.113.9"));
    await weir.anonymous("GET", "/api/status");
    expect((await weir.root.trpc.dashboard.attention.query()).unlisted_proxy).toBe("");
    expect(weir.process?.output()).not.toContain("WEIR_TRUSTED_PROXIES");
  });

  test("leaves the sign-in open for others when one stranger behind it has used up theirs", async () => {
    await using weir = await startWeir({ env: { WEIR_CRITICAL_RATE_LIMIT: "4" } });
    const stranger = [];
    for (let i = 0; i < 6; i++) stranger.push((await login(weir, `name${i}`, "wrong", from("203.0.113.9"))).status);
    expect(stranger.filter((status) => status === 429)).toHaveLength(2);
    expect((await login(weir, ROOT.username, ROOT.password, from("198.51.100.1"))).body.success).toBe(true);
    // Sign-ins elsewhere count with them.
    const begin = async (address: string) =>
      (await weir.anonymous("POST", "/trpc/identity.begin", {}, from(address))).status;
    expect(await begin("203.0.113.9")).toBe(429);
    expect(await begin("198.51.100.2")).toBe(200);
    // A claimed /64 is one address, too.
    for (let i = 0; i < 4; i++) await login(weir, `six${i}`, "wrong", from(`2001:db8:1:2::${i}`));
    expect((await login(weir, "six", "wrong", from("2001:db8:1:2:ffff::1"))).status).toBe(429);
  });

  test("gives no one more tries at one account, nor endless ones by invented addresses, nor more of anything else", async () => {
    await using weir = await startWeir({ env: { WEIR_CRITICAL_RATE_LIMIT: "2" } });
    const who = await weir.newUser();
    const codes = [];
    for (let i = 0; i < 12; i++)
      codes.push((await login(weir, who.username, "wrong", from(`203.0.113.${i}`))).body.code);
    expect(codes).toEqual([...Array(10).fill("credentials_wrong"), ...Array(2).fill("too_many_requests")]);
    // Ten times the limit, for all behind it together.
    const answers = [];
    for (let i = 0; i < 15; i++) answers.push((await login(weir, `name${i}`, "wrong", from(`198.51.100.${i}`))).status);
    expect(answers.filter((status) => status === 429)).toHaveLength(15 - (20 - 12));
    const registered = [];
    for (let i = 0; i < 4; i++)
      registered.push((await weir.anonymous("POST", "/api/user/register", {}, from(`192.0.2.${i}`))).status);
    expect(registered.filter((status) => status === 429).length).toBeGreaterThanOrEqual(2);
  });
});
