/** The configuration file: an export says no secret, an apply goes by the verbs of edits; on both engines. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { asc, desc, eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { ROLE } from "../../../shared/roles";
import { CannotStart } from "../../lib/cannot-start";
import { clearKeys } from "../channel/keys";
import { findChannel } from "../channel/service";
import { applyConfig, type ConfigPlan, exportConfig, isEmpty, planConfig, planText } from "./config";
import { type ConfigFile, parseConfig, printConfig } from "./format";
import { secretReader } from "./secret-refs";

const SECRETS = [
  "sk-secret-key-number-1111",
  "sk-secret-key-number-2222",
  "hidden-proxy-pass",
  "Bearer planted-99",
  "smtp-word",
];

const channel = (more: object) => ({
  type: 1,
  base_url: "https://up.example",
  models: "gpt-4o,m-1",
  ...more,
});

describe.each([...ENGINES])("the configuration file on %s", (engine) => {
  let from: Harness;
  let to: Harness;
  let root: Person;
  let target: Person;
  let many = 0;
  beforeAll(async () => {
    [from, to] = await Promise.all([openHarness(engine), openHarness(engine)]);
    root = await from.person({ role: ROLE.root });
    target = await to.person({ role: ROLE.root, lang: "en" });
    const add = async (fields: object): Promise<number> => {
      const { body } = await root.rest("POST", "/api/channel/", channel(fields));
      expect(body).toMatchObject({ success: true });
      return body.data[0].id;
    };
    await add({
      name: "渠道: one",
      key: SECRETS[0],
      groups: ["default", "vip"],
      model_mapping: '{"z":"gpt-4o","a":"m-1"}',
      setting: `{"proxy":"socks5://me:${SECRETS[2]}@proxy.example:1080"}`,
      header_override: `{"Authorization":"${SECRETS[3]}","X-Plain":"yes"}`,
      priority: -5,
      weight: 3,
      status: CHANNEL_STATUS.disabled,
    });
    many = await add({ name: "many", mode: "multi_to_single", key: SECRETS.slice(0, 2).join("\n") });
    for (const [key, value] of [
      ["GroupRatio", '{"vip":0.5,"default":1}'],
      ["ModelPrice", '{"m-1":0.01}'],
      ["SMTPServer", "mail.example"],
      ["SMTPToken", SECRETS[4] ?? ""],
      ["PayMethods", '[{"name":"a","type":"alipay","color":"#000000"}]'],
      ["ConsoleAddresses", "https://a.example\nhttps://b.example"],
      ["VirtualModels", '{"smart":{"steps":[{"model":"gpt-4o","group":"vip"},{"model":"m-1"}]}}'],
    ] as const)
      expect((await root.rest("PUT", "/api/option/", { key, value })).body).toMatchObject({ success: true });
  }, 3 * HOOK_MS);
  afterAll(async () => {
    await from?.close();
    await to?.close();
  });

  const actor = (house: Harness) =>
    ({ ...house.services, actor: { kind: "system" }, request_id: "weir config", ip: "", lang: "en" }) as const;
  const plan = (
    house: Harness,
    file: ConfigFile,
    env: Record<string, string> = {},
    prune = false,
  ): Promise<ConfigPlan> => planConfig(actor(house), file, { name: "f.yaml", read: secretReader(env), prune });
  const exported = async (house: Harness): Promise<ConfigFile> => {
    const text = printConfig(await exportConfig(actor(house), () => {}));
    return parseConfig(text, "f.yaml");
  };
  const counts = async ({ services: { db } }: Harness) =>
    (await db.q.select({ id: db.t.audit_log.id }).from(db.t.audit_log)).length;
  const given = (id: number): Record<string, string> => ({
    [`CHANNEL_${id}_KEY`]: SECRETS[0] ?? "",
    [`CHANNEL_${id}_PROXY`]: `socks5://me:${SECRETS[2]}@proxy.example:1080`,
    [`CHANNEL_${id}_HEADER_AUTHORIZATION`]: SECRETS[3] ?? "",
    [`CHANNEL_${many}_KEY`]: SECRETS.slice(0, 2).join("\n"),
    OPTION_SMTPTOKEN: SECRETS[4] ?? "",
  });

  test("has no secret in it, is the same each time, and differs in nothing from its installation", async () => {
    const text = printConfig(await exportConfig(actor(from), () => {}));
    expect(printConfig(await exportConfig(actor(from), () => {}))).toBe(text);
    for (const secret of SECRETS) expect(text).not.toContain(secret);
    expect(text).toContain("# Group ratios");
    const file = parseConfig(text, "f.yaml");
    expect(parseConfig(JSON.stringify(file), "f.json")).toEqual(file);
    for (const env of [{}, given(1)]) expect(isEmpty(await plan(from, file, env))).toBe(true);
    const said = planText(await plan(from, file), false);
    expect(said).toContain("No difference.");
    expect(said).toContain("variable OPTION_SMTPTOKEN");
  });

  test("applied elsewhere it makes the same, by one audited act each; applied again it changes nothing", async () => {
    const file = await exported(from);
    const first = await plan(to, file, given(1));
    const said = planText(first, false);
    for (const secret of SECRETS) expect(said).not.toContain(secret);
    expect(said).toContain('+ channel "渠道: one"');
    const before = await counts(to);
    await applyConfig(actor(to), first);
    expect((await counts(to)) - before).toBe(first.channels.length + first.options.length);
    expect(to.services.options.text("SMTPToken")).toBe(SECRETS[4] ?? "");
    expect(to.services.options.text("VirtualModels")).toBe(JSON.stringify(file.prices?.VirtualModels));
    const row = await findChannel(actor(to), 1);
    expect(row).toMatchObject({ group: "default,vip", priority: -5, weight: 3, status: CHANNEL_STATUS.disabled });
    expect(await clearKeys(actor(to), many)).toEqual(SECRETS.slice(0, 2).map((key) => ({ key, status: 1 })));
    // What is pooled is what callers get.
    expect(to.services.pool.byId(many)?.enabled).toBe(true);
    for (const env of [{}, given(1)]) expect(isEmpty(await plan(to, file, env))).toBe(true);
    expect((await exported(to)).prices).toEqual(file.prices);
    const { audit_log } = to.services.db.t;
    const rows = await to.services.db.q.select().from(audit_log).orderBy(asc(audit_log.id));
    for (const secret of SECRETS) expect(JSON.stringify(rows)).not.toContain(secret);
    expect(rows.at(-1)).toMatchObject({ request_id: "weir config", actor_id: 0, target_id: "VirtualModels" });
  });

  test("a change shows its members alone, is in the channel's history, and can be put back there", async () => {
    const file = await exported(to);
    const [one, ...others] = file.channels ?? [];
    const changed = {
      ...file,
      channels: [{ ...one, priority: 7, enabled: true } as typeof one, ...others],
    } as ConfigFile;
    (changed.prices ??= {}).ModelPrice = { "m-1": 0.02 };
    const next = await plan(to, changed);
    expect(planText(next, false)).toContain(
      [
        '~ channel "渠道: one" (id 1)',
        "    enabled: false -> true",
        "    priority: -5 -> 7",
        "~ prices.ModelPrice",
        "    prices.ModelPrice.m-1: 0.01 -> 0.02",
      ].join("\n"),
    );
    await applyConfig(actor(to), next);
    const history = (await target.rest("GET", "/api/channel/1/history")).body.data.items;
    expect(JSON.parse(history[0].after)).toEqual({ priority: 7, status: 1 });
    await target.rest("POST", "/api/channel/1/restore", { entry: history[0].id });
    expect(planText(await plan(to, changed), false)).toContain("priority: -5 -> 7");
    // A secret that is not given stays what it was.
    expect((await target.rest("GET", "/api/channel/1")).body.data.setting).toContain("proxy.example");
  });

  test("keys are added and removed one by one: the others keep their state", async () => {
    const { db } = to.services;
    const { channel_keys } = db.t;
    const [kept] = await db.q
      .select()
      .from(channel_keys)
      .where(eq(channel_keys.channel_id, many))
      .orderBy(asc(channel_keys.id));
    const disabled = await target.rest("PUT", `/api/channel/${many}/keys`, { key_ids: [kept?.id], status: 2 });
    expect(disabled.body).toMatchObject({ success: true, data: 1 });
    const file = await exported(to);
    const keys = [SECRETS[0], "sk-secret-key-number-3333"].join("\n");
    const next = await plan(to, file, { [`CHANNEL_${many}_KEY`]: keys });
    expect(planText(next, false)).toContain("    key: changed");
    await applyConfig(actor(to), next);
    expect(await clearKeys(actor(to), many)).toEqual([
      { key: SECRETS[0] ?? "", status: 2 },
      { key: "sk-secret-key-number-3333", status: 1 },
    ]);
  });

  test("a channel that the gateway switched off itself is no difference", async () => {
    const { db } = from.services;
    const file = await exported(from);
    const set = { status: CHANNEL_STATUS.auto_disabled };
    await db.q.update(db.t.channels).set(set).where(eq(db.t.channels.id, many));
    expect(isEmpty(await plan(from, file))).toBe(true);
    expect((await exported(from)).channels).toEqual(file.channels);
  });

  test("what the file does not name stays; pruned it goes, and nothing of the file with it", async () => {
    const file = await exported(to);
    const less: ConfigFile = {
      version: 1,
      channels: file.channels?.slice(1),
      groups: { GroupRatio: { default: 1, vip: 0.5 } },
    };
    const stays = await plan(to, less);
    expect(isEmpty(stays)).toBe(true);
    expect(stays.unnamed).toContain('channel 1 "渠道: one"');
    const next = await plan(to, less, {}, true);
    expect(planText(next, true)).toContain('- channel "渠道: one" (id 1)');
    await applyConfig(actor(to), next);
    expect((await exported(to)).channels).toEqual(less.channels);
    expect((await exported(to)).prices).toBeUndefined();
    expect(to.services.options.text("SMTPServer")).toBe("");
    expect(isEmpty(await plan(to, less, {}, true))).toBe(true);
  });

  test.each<[string, object, string]>([
    ["an unknown section", { chanels: [] }, "chanels"],
    ["another version", { version: 2 }, "version"],
    ["an unknown setting", { options: { Nope: 1 } }, "options.Nope: there is no such setting"],
    [
      "a setting in another section",
      { options: { ModelPrice: {} } },
      "options.ModelPrice: it belongs in the section prices",
    ],
    ["a bad value", { options: { RetryTimes: "many" } }, "options.RetryTimes: Enter a whole number"],
    [
      "a table where a text is asked for",
      { options: { SystemName: { a: 1 } } },
      "options.SystemName: must be a single value",
    ],
    ["a secret in clear", { options: { SMTPToken: "word" } }, "options.SMTPToken: a secret is named"],
    ["a secret that is not there", { options: { EpayKey: { env: "NO_SUCH" } } }, "the variable NO_SUCH is not set"],
    [
      "a setting without what it needs",
      { options: { GitHubOAuthEnabled: true } },
      "options.GitHubOAuthEnabled: needs GitHubClientId",
    ],
    ["an unknown channel type", { channels: [{ name: "x", type: "nope" }] }, "channels[0].type"],
    ["a new channel without a key", { channels: [{ name: "x", type: "openai", models: ["m"] }] }, 'channels[0] "x"'],
    [
      "a channel that is named twice",
      {
        channels: [1, 2].map(() => ({
          name: "many",
          type: "openai",
          base_url: "https://up.example",
          models: ["gpt-4o", "m-1"],
          multi_key_mode: "random",
        })),
      },
      'channels[1] "many": it is named twice',
    ],
    ["an id that is not there", { channels: [{ id: 999, name: "x", type: "openai" }] }, "there is no channel 999"],
    [
      "another address for a stored key",
      {
        channels: [
          { name: "many", type: "openai", base_url: "https://evil.example", models: ["m-1"], multi_key_mode: "random" },
        ],
      },
      'channels[0] "many": ',
    ],
    [
      "a virtual model that nothing serves",
      { prices: { VirtualModels: { v: { steps: [{ model: "none" }] } } } },
      "prices.VirtualModels: ",
    ],
  ])("%s: refused whole, with its place", async (_, wrong, place) => {
    const good = { version: 1, options: { SystemName: "other" } };
    const file = {
      ...good,
      ...wrong,
      options: { ...good.options, ...("options" in wrong ? (wrong.options as object) : {}) },
    };
    const { db } = from.services;
    const [last] = await db.q.select().from(db.t.audit_log).orderBy(desc(db.t.audit_log.id)).limit(1);
    const refused = (async () => plan(from, parseConfig(JSON.stringify(file), "f.yaml")))();
    await expect(refused).rejects.toThrow(CannotStart);
    await expect(refused).rejects.toThrow(place);
    const [now] = await db.q.select().from(db.t.audit_log).orderBy(desc(db.t.audit_log.id)).limit(1);
    expect(now?.id).toBe(last?.id ?? 0);
  });

  test("a text that is no YAML is refused with its line", () => {
    const text = "version: 1\noptions:\n  SystemName: x\n  RetryTimes: [1\n  Footer: y\n";
    expect(() => parseConfig(text, "f.yaml")).toThrow(/f\.yaml cannot be read as YAML:\n {2}line [45]:/);
  });

  test("channels that share a name are told apart by their ids", async () => {
    for (const [id, priority] of [
      [0, 1],
      [0, 2],
    ] as const)
      await root.rest("POST", "/api/channel/", channel({ name: "twin", key: `sk-twin-${priority}`, priority, id }));
    const file = await exported(from);
    const twins = file.channels?.filter(({ name }) => name === "twin") ?? [];
    expect(twins.map(({ id, priority }) => [typeof id, priority])).toEqual([
      ["number", 1],
      ["number", 2],
    ]);
    expect(isEmpty(await plan(from, file))).toBe(true);
    const [{ id: _, ...nameless } = { name: "", type: "openai" as const }] = twins;
    await expect(plan(from, { version: 1, channels: [nameless] })).rejects.toThrow("several channels have this name");
  });
});
