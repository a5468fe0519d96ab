import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { ROLE } from "../../../shared/roles";
import { openFindings } from "./incidents";

let house: Harness;
let root: Person;
let admin: Person;
const heard: { url: string; body: string }[] = [];
const hook = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    heard.push({ url: request.url, body: await request.text() });
    return Response.json({ code: 19021, msg: "sign match fail" });
  },
});
const url = `http://127.0.0.1:${hook.port}/hook/secret-part`;

beforeAll(async () => {
  house = await openHarness("sqlite", { WEIR_ALLOW_PRIVATE_FETCH: "true" });
  root = await house.person({ role: ROLE.root, lang: "en" });
  admin = await house.person({ role: ROLE.admin, lang: "en" });
}, HOOK_MS);
afterAll(async () => {
  await hook.stop(true);
  await house?.close();
});
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "done",
    (error) => error.cause?.code ?? error.code,
  );

describe("targets", () => {
  test("a saved secret is sealed, never shown, kept when left empty, and lost with its address", async () => {
    await root.call.incident.saveTarget({ name: "lark", type: "feishu", url, secret: "s3cr3t" });
    const views = await root.call.incident.targets();
    expect(views).toEqual([
      { name: "lark", type: "feishu", on: true, lang: "zh", least: "warning", open: {}, set: ["url", "secret"] },
    ]);
    const [row] = (await house.services.db.q.select().from(house.services.db.t.options)).filter(
      ({ key }) => key === "AlertTargets",
    );
    expect(row?.value).not.toContain("secret");
    expect((await root.rest("GET", "/api/option/")).text).not.toContain("s3cr3t");
    await root.call.incident.saveTarget({ name: "team", was: "lark", type: "feishu", lang: "en" });
    expect(house.services.options.get("AlertTargets")).toMatchObject([
      { name: "team", url, secret: "s3cr3t", lang: "en" },
    ]);
    await root.call.incident.saveTarget({ name: "hook", type: "webhook", url: "https://a.example/x", secret: "k" });
    await root.call.incident.saveTarget({ name: "hook", type: "webhook", url: "https://b.example/x" });
    expect(house.services.options.get("AlertTargets")[1]).toMatchObject({ url: "https://b.example/x", secret: "" });
    await root.call.incident.removeTarget({ name: "hook" });
    expect(await code(root.call.incident.removeTarget({ name: "hook" }))).toBe("alert_target_not_found");
    const audit = await root.call.audit.list({ target_type: "alert" });
    expect(audit.items).toHaveLength(5);
    expect(JSON.stringify(audit)).not.toMatch(/s3cr3t|secret-part/);
  });

  test("bad input says what is wrong, and changes nothing", async () => {
    const save = (input: object) => root.rest("PUT", "/api/incident/target", input);
    for (const [input, problem] of [
      [{ name: "x", type: "slack" }, "url: must not be empty"],
      [{ name: "x", type: "slack", url: "ftp://a" }, "url: must begin with http:// or https://"],
      [{ name: "x", type: "mail", to: "a" }, "to: not a mail address"],
      [{ name: "user:3", type: "mail", to: "a@b.example" }, "name: this name is reserved"],
      [{ name: "", type: "mail", to: "a@b.example" }, "name"],
    ] as const)
      expect((await save(input)).body.message).toContain(problem);
    expect((await save({ name: "x", type: "pager" })).body.success).toBe(false);
    expect(await root.call.incident.targets()).toHaveLength(1);
    const put = (value: unknown) =>
      root.rest("PUT", "/api/option/", { key: "AlertRules", value: JSON.stringify(value) });
    const rule = { name: "a", kind: "share", per: "channel", minutes: 5, percent: 20, at_least: 20 };
    for (const [rules, problem] of [
      [{}, "Not valid alert rules"],
      [[{ ...rule, minutes: 0 }], "0.minutes"],
      [[rule, rule], "two rules of the name a"],
      [[{ name: "t", kind: "threshold", per: "user", measure: "quota", minutes: 5 }], "either over or under"],
      [[{ name: "e", kind: "event", events: ["nothing"], minutes: 5 }], "unknown event"],
    ] as const)
      expect((await put(rules)).body.message).toContain(problem);
  });

  test("a test shows the vendor's answer, also of what is not saved, and never its address", async () => {
    heard.length = 0;
    const answer = await root.call.incident.testTarget({ name: "team", type: "feishu" });
    expect(answer).toEqual({ ok: false, answer: 'HTTP 200: {"code":19021,"msg":"sign match fail"}' });
    expect(JSON.parse(heard[0]?.body ?? "")).toMatchObject({ msg_type: "text", sign: expect.any(String) });
    const dead = await root.call.incident.testTarget({
      name: "new",
      type: "discord",
      url: "http://127.0.0.1:1/secret",
    });
    expect(dead.ok).toBe(false);
    expect(dead.answer).not.toContain("secret");
    await house.services.options.set("SMTPServer", "mail.example");
    expect(await root.call.incident.testTarget({ name: "m", type: "mail", to: "a@b.example" })).toEqual({
      ok: true,
      answer: "",
    });
    expect(house.mails.at(-1)?.text).toContain("*_[a](b)_* <&>");
  });

  test("only root reads and changes targets", async () => {
    expect(await code(admin.call.incident.targets())).toBe("forbidden");
    expect((await admin.rest("POST", "/api/incident/target/test", { name: "team", type: "feishu" })).body.success).toBe(
      false,
    );
  });
});

describe("incidents", () => {
  test("administrators list, filter, see and mute them; the bell counts what is not seen", async () => {
    const finding = { rule: "errors", severity: "warning" as const, code: "errors_share", targets: [] };
    const params = { percent: 50, calls: 10, errors: 5, minutes: 5 };
    await openFindings(house.services, [
      { ...finding, subject: "channel:3", params: { ...params, name: "a" } },
      { ...finding, subject: "", severity: "critical", params },
    ]);
    const bell = (await admin.rest("GET", "/api/incident/bell")).body.data;
    expect([bell.unseen, bell.open, bell.worst, bell.items.length]).toEqual([2, 2, "critical", 2]);
    const list = (query: string) => admin.rest("GET", `/api/incident/?${query}`).then(({ body }) => body.data.items);
    expect((await list("severity=critical")).map(({ text }: { text: string }) => text)).toEqual([
      "The whole server: 50% errors, 5 of 10 calls in 5 min",
    ]);
    const [about] = await list("subject=channel:3");
    expect(about).toMatchObject({ path: "/channel?open=3", seen_by: 0, params: { name: "a" } });
    expect((await admin.rest("POST", "/api/incident/seen", { ids: [about.id] })).body.data).toBe(1);
    expect((await list("state=unseen")).length).toBe(1);
    expect(
      (await admin.rest("POST", `/api/incident/${about.id}/mute`, { hours: 1 })).body.data.muted_until,
    ).toBeGreaterThan(0);
    expect((await admin.rest("POST", `/api/incident/${about.id}/mute`, { hours: 0 })).body.data.muted_until).toBe(0);
    expect((await admin.rest("GET", `/api/incident/${about.id}`)).body.data.deliveries).toEqual([]);
    expect((await admin.rest("POST", "/api/incident/999/mute", { hours: 1 })).body.message).toBe("No such incident");
    expect((await admin.rest("GET", "/api/incident/?state=nonsense")).body.success).toBe(false);
    await admin.call.incident.seen({});
    expect((await admin.call.incident.bell()).unseen).toBe(0);
    const user = await house.person();
    const { id } = user.ctx.actor;
    await openFindings(house.services, [
      { ...finding, subject: `user:${id}`, params: { ...params, name: user.ctx.actor.username } },
      { ...finding, subject: `user:${id}0`, params },
    ]);
    await root.call.user.erase({ id });
    expect((await list(`subject=user:${id}`)).map(({ subject }: { subject: string }) => subject)).toEqual([
      `user:${id}0`,
    ]);
    expect((await user.rest("GET", "/api/incident/bell")).body.success).toBe(false);
    const acts = await root.call.audit.list({ target_type: "incident" });
    expect(acts.items.map(({ action }) => action).sort()).toEqual([
      "incident.mute",
      "incident.mute",
      "incident.seen",
      "incident.seen",
    ]);
  });
});
