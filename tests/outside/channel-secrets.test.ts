/**
 * The password of a channel's proxy and the values of its secret headers are encrypted at rest, shown masked, kept when
 * the mask is written back, and never sent to another destination than the one they were entered for.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eq, like } from "drizzle-orm";
import { openColumns } from "../../src/server/features/channel/sealed";
import { sealChannels } from "../../src/server/features/channel/seal-stored";
import { SECRET_MASK } from "../../src/shared/channel-secrets";
import { ENGINES } from "../kit/databases";
import { type Harness, HOOK_MS, openHarness } from "../kit/harness";
import { startWeir, type Session, type Weir } from "../kit/weir";

const MODEL = "gpt-4o";
const HEADER_SECRET = "header-secret-5f1c9d";
const PASSWORD = "pr0xy@pass:word/1";

/** Upstream and proxy at once: a call by a proxy names its target whole. */
const heard: { header: string | null; tenant: string | null; proxy: string | null }[] = [];
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    await request.text();
    const { headers } = request;
    heard.push({
      header: headers.get("x-api-key"),
      tenant: headers.get("x-tenant"),
      proxy: headers.get("proxy-authorization"),
    });
    return Response.json({
      id: "c",
      object: "chat.completion",
      created: 1,
      model: MODEL,
      choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  },
});
const ADDRESS = `http://127.0.0.1:${upstream.port}`;
const proxyWith = (password: string, host = `127.0.0.1:${upstream.port}`): string =>
  JSON.stringify({ proxy: `http://operator:${encodeURIComponent(password)}@${host}`, system_prompt: "" });
const HEADERS = JSON.stringify({ "X-Api-Key": HEADER_SECRET, "x-tenant": "acme", "x-bearer": "Bearer {api_key}" });
const FIELDS = {
  name: "with secrets",
  type: 1,
  key: "sk-upstream",
  base_url: ADDRESS,
  models: MODEL,
  group: "default",
  setting: proxyWith(PASSWORD),
  header_override: HEADERS,
};
/** What a proxy is told: name and password (RFC 7617). */
const BASIC = `Basic ${Buffer.from(`operator:${PASSWORD}`).toString("base64")}`;

interface Shown {
  id: number;
  setting: string;
  header_override: string;
}

afterAll(() => upstream.stop(true));

describe.each(ENGINES)("a channel's secrets on %s", (engine) => {
  let weir: Weir;
  let root: Session;
  let key: string;
  let id: number;
  beforeAll(async () => {
    weir = await startWeir({ engine });
    root = weir.root;
    key = (await weir.newToken({ quota: 1_000_000 })).key;
    await root.ok("POST", "/api/channel/", FIELDS);
    id = (await listed())[0]?.id ?? 0;
  }, HOOK_MS);
  afterAll(() => weir?.stop());

  const listed = () => root.ok<Shown[]>("GET", "/api/channel/?p=0");
  const shown = () => root.ok<Shown>("GET", `/api/channel/${id}`);
  const stored = async (of = id) => {
    const { channels } = weir.db.t;
    const [row] = await weir.db.q.select().from(channels).where(eq(channels.id, of));
    if (!row) throw new Error("no such channel");
    return row;
  };
  async function called(): Promise<(typeof heard)[number] | undefined> {
    heard.length = 0;
    const answer = await weir.call(key, { model: MODEL, messages: [{ role: "user", content: "hello" }] });
    expect(answer.status).toBe(200);
    await answer.text();
    return heard.at(-1);
  }
  const all = { header: HEADER_SECRET, tenant: "acme", proxy: BASIC };

  test("reach the upstream, and are nowhere in clear: not in the row, the list, the audit log or the log", async () => {
    expect(await called()).toEqual(all);
    const { audit_log, logs } = weir.db.t;
    const everything = JSON.stringify([
      await stored(),
      await listed(),
      await shown(),
      await root.ok("GET", "/api/channel/search?keyword=with"),
      await weir.db.q.select().from(audit_log),
      await weir.db.q.select().from(logs),
    ]);
    for (const secret of [HEADER_SECRET, PASSWORD, encodeURIComponent(PASSWORD)])
      expect(everything).not.toContain(secret);
    expect(everything).toContain("acme");
  });

  test("are shown as a mask; what is no secret is shown", async () => {
    const { setting, header_override } = await shown();
    expect(JSON.parse(header_override)).toEqual({
      "X-Api-Key": SECRET_MASK,
      "x-tenant": "acme",
      "x-bearer": "Bearer {api_key}",
    });
    expect(JSON.parse(setting).proxy).toBe(`http://operator:${SECRET_MASK}@127.0.0.1:${upstream.port}`);
  });

  test("stay as they are when the mask is written back, alone or beside other changes", async () => {
    const before = await stored();
    const { setting, header_override } = await shown();
    await root.ok("PUT", "/api/channel/", { id, setting, header_override });
    expect(await stored()).toMatchObject({ setting: before.setting, header_override: before.header_override });
    const more = JSON.stringify({ ...JSON.parse(header_override), "x-tenant": "other" });
    await root.ok("PUT", "/api/channel/", { id, header_override: more, name: "renamed" });
    expect(await called()).toEqual({ ...all, tenant: "other" });
    await root.ok("PUT", "/api/channel/", { id, header_override });
    expect(await called()).toEqual(all);
  });

  test("a new value replaces the stored one, and the audit log says that one changed", async () => {
    const { audit_log } = weir.db.t;
    await root.ok("PUT", "/api/channel/", { id, header_override: HEADERS.replace(HEADER_SECRET, "header-secret-two") });
    expect(await called()).toEqual({ ...all, header: "header-secret-two" });
    const acts = await weir.db.q.select().from(audit_log).where(like(audit_log.action, "channel.update"));
    expect(acts.at(-1)?.after).toContain("header_override");
    expect(JSON.stringify(acts)).not.toContain("header-secret-two");
    await root.ok("PUT", "/api/channel/", { id, header_override: HEADERS });
  });

  test("a mask without a stored value, or for another proxy or name, is refused and changes nothing", async () => {
    const before = await stored();
    const wrong = [
      { header_override: JSON.stringify({ "x-other-key": SECRET_MASK }) },
      { setting: proxyWith(SECRET_MASK, "127.0.0.1:9") },
      { setting: proxyWith(SECRET_MASK).replace("operator", "someone") },
    ];
    for (const fields of wrong) {
      const { body } = await root.api("PUT", "/api/channel/", { id, key: "sk-upstream", ...fields });
      expect(body).toMatchObject({ success: false, code: "channel_setting_invalid" });
    }
    const { body } = await root.api("POST", "/api/channel/", { ...FIELDS, setting: proxyWith(SECRET_MASK) });
    expect(body).toMatchObject({ success: false, code: "channel_setting_invalid" });
    const edits = { ids: [id], header_override: JSON.stringify({ "x-api-key": SECRET_MASK }) };
    await expect(root.trpc.channel.batchEdit.mutate(edits)).rejects.toThrow();
    expect(await stored()).toEqual(before);
  });

  test("a secret header is not sent to another address, even when the channel's key is entered again", async () => {
    const { header_override } = await shown();
    const elsewhere = { id, base_url: "http://127.0.0.1:9", key: "sk-upstream" };
    for (const fields of [{}, { header_override }]) {
      const { body } = await root.api("PUT", "/api/channel/", { ...elsewhere, ...fields });
      expect(body).toMatchObject({ success: false, code: "channel_headers_required" });
    }
    expect((await stored()).base_url).toBe(ADDRESS);
    await root.ok("PUT", "/api/channel/", {
      ...elsewhere,
      header_override: HEADERS.replace(HEADER_SECRET, "another-secret"),
    });
    await root.ok("PUT", "/api/channel/", { ...FIELDS, id });
    expect(await called()).toEqual(all);
  });

  test("a copy has them too, made by the server or from the masked form", async () => {
    const form = { ...FIELDS, ...(await shown()), key: "", name: `${FIELDS.name}_复制` };
    await root.ok("POST", "/api/channel/", form);
    const { setting, header_override } = await stored((await listed())[0]?.id);
    const own = await stored();
    expect({ setting, header_override }).toEqual({ setting: own.setting, header_override: own.header_override });
  });
});

describe.each(ENGINES)("secrets that an earlier release stored in clear on %s", (engine) => {
  let house: Harness;
  beforeAll(async () => {
    house = await openHarness(engine);
  }, HOOK_MS);
  afterAll(() => house?.close());

  test("are encrypted where they stand, once, and not while that release still runs beside this one", async () => {
    const { db, secrets } = house.services;
    const { channels, instances } = db.t;
    const { setting, header_override } = FIELDS;
    const row = { type: 1, name: "old", created_time: 1, setting, header_override };
    const [{ id } = { id: 0 }] = await db.q.insert(channels).values(row).returning({ id: channels.id });
    await db.q.insert(instances).values({ id: "old", started_at: 1, heartbeat_at: 9_999_999_999, version: "0.1.0" });
    expect(await sealChannels(house.services)).toBe(0);
    await db.q.delete(instances);
    expect(await sealChannels(house.services)).toBe(1);
    const [sealed] = await db.q.select().from(channels).where(eq(channels.id, id));
    expect(JSON.stringify(sealed)).not.toContain(HEADER_SECRET);
    expect(JSON.stringify(sealed)).not.toContain(encodeURIComponent(PASSWORD));
    expect(sealed && openColumns(secrets, sealed)).toMatchObject({ setting, header_override });
    expect(await sealChannels(house.services)).toBe(0);
  });
});
