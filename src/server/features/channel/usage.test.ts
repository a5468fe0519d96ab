import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { FOLDED, LOG_TYPE } from "../../../shared/log";
import { ROLE } from "../../../shared/roles";
import { fold } from "../log/fold";
import { HEALTH_HOURS } from "./usage";

for (const engine of ENGINES) {
  describe(`a channel's use by the log on ${engine}`, () => {
    let h: Harness;
    let admin: Person;
    beforeAll(async () => {
      h = await openHarness(engine);
      admin = await h.person({ role: ROLE.admin });
    }, HOOK_MS);
    afterAll(() => h.close());

    const one = async (): Promise<number> => {
      const form = { type: 1, name: "used", key: "k", models: "m" };
      return (await admin.rest("POST", "/api/channel/", form)).body.data[0].id;
    };
    const now = () => Math.floor(h.services.now() / 1000);
    const call = (channel: number, created_at: number, more: object = {}) =>
      h.services.db.q
        .insert(h.services.db.t.logs)
        .values({ request_id: crypto.randomUUID(), created_at, type: LOG_TYPE.consume, user_id: 1, channel, ...more })
        .returning();

    test("health is 24 hours, oldest first, failed calls included, older ones and other channels left out", async () => {
      const [id, other] = [await one(), await one()];
      await call(id, now(), {
        model_name: "a",
        quota: 10,
        prompt_tokens: 5,
        completion_tokens: 2,
        use_time: 3,
        other: '{"frt":400}',
      });
      await call(id, now(), { model_name: "b", user_id: 2, quota: 1, use_time: 4 });
      await call(id, now(), { type: LOG_TYPE.error });
      await call(id, now() - 23 * 3600, { quota: 7 });
      await call(id, now() - 24 * 3600, { quota: 100 });
      await call(id, now(), { quota: 500, folded: FOLDED.never });
      await fold(h.services);
      const health = await admin.call.channel.health({ ids: [id, other] });
      const hours = health[id] ?? [];
      expect(hours).toHaveLength(HEALTH_HOURS);
      expect(hours.map((hour) => hour.hour)).toEqual(hours.map((_, i) => (hours[0]?.hour ?? 0) + i * 3600));
      expect(hours.at(-1)).toEqual({
        hour: now() - (now() % 3600),
        calls: 3,
        errors: 1,
        quota: 11,
        tokens: 7,
        completion_tokens: 2,
        use_time: 7,
        first_token_ms: 400,
        first_tokens: 1,
      });
      expect(hours[0]).toMatchObject({ calls: 1, errors: 0, quota: 7 });
      expect(hours.slice(1, -1).every((hour) => hour.calls === 0)).toBe(true);
      expect(health[other]?.every((hour) => hour.calls === 0)).toBe(true);
      expect(await admin.call.channel.health({ ids: [] })).toEqual({});
    });

    test("attempts that failed count, as often as they did, and neither a caller's mistake nor a caller who left", async () => {
      const [dead, good] = [await one(), await one()];
      const other = (channels: readonly number[], failures: readonly string[], more: object = {}) =>
        JSON.stringify({
          ...more,
          admin_info: {
            use_channel: channels.map(String),
            attempts: channels.map((channel, index) => ({ channel, failure: failures[index] ?? "" })),
          },
        });
      const error = { type: LOG_TYPE.error };
      // Both keys of a dead channel before a good one; then all failed; then a session of two responses.
      await call(good, now(), { other: other([dead, dead, good], ["timeout", "bad_credentials"]) });
      await call(good, now(), { ...error, code: "failure.timeout", other: other([dead, good], ["cut", "timeout"]) });
      for (const _ of [1, 2])
        await call(good, now(), { other: other([dead, good], ["timeout"], { request_path: "/v1/realtime" }) });
      await call(good, now(), { ...error, code: "failure.caller_mistake" });
      await call(good, now(), { ...error, code: "failure.cut", end_reason: "caller_left" });
      await call(good, now(), { other: other([dead, good], ["context_too_long"]) });
      await call(0, now(), { ...error, code: "channels_paused" });
      await fold(h.services);
      const health = await admin.call.channel.health({ ids: [dead, good] });
      expect(health[dead]?.at(-1)).toMatchObject({ calls: 3, errors: 3 });
      expect(health[good]?.at(-1)).toMatchObject({ calls: 5, errors: 1 });
    });

    test("detect upstream returns groups and the programs in each, with counts and times; channel tests do not count", async () => {
      const id = await one();
      const other = (client_type?: string) =>
        JSON.stringify({ group: "g", ...(client_type ? { client_type } : {}), frt: 1 });
      await call(id, 1000, { group: "vip", other: other("claude-cli") });
      await call(id, 3000, { group: "vip", other: other("claude-cli"), type: LOG_TYPE.error });
      await call(id, 2000, { group: "vip", other: other("OpenAI/Python") });
      await call(id, 500, { group: "default", other: other() });
      await call(id, 700, { group: "default", other: "" });
      await call(id, 9000, { group: "default", other: other("claude-cli"), folded: FOLDED.never });
      await call(id, 9000, { group: "default", type: LOG_TYPE.system });
      // The words inside another text are not the member.
      await call(id, 800, {
        group: "default",
        other: JSON.stringify({ warnings: ['"client_type":"evil"', "a\u0000b"] }),
      });
      const groups = [
        {
          group: "vip",
          first_seen: 1000,
          last_seen: 3000,
          client_types: [
            { client_type: "claude-cli", count: 2, first_seen: 1000, last_seen: 3000 },
            { client_type: "OpenAI/Python", count: 1, first_seen: 2000, last_seen: 2000 },
          ],
        },
        {
          group: "default",
          first_seen: 500,
          last_seen: 800,
          client_types: [{ client_type: "unknown", count: 3, first_seen: 500, last_seen: 800 }],
        },
      ];
      const { body } = await admin.rest("GET", `/api/channel/test_upstream/${id}`);
      // spec: C-519..C-521
      // spec: C-089
      expect(body).toMatchObject({ success: true, message: "", groups, data: { groups } });
      expect(await admin.call.channel.upstreamUse({ id })).toEqual({ groups });
      // spec: C-521
      expect((await admin.rest("GET", `/api/channel/test_upstream/${await one()}`)).body).toMatchObject({
        success: true,
        groups: [],
      });
      expect((await admin.rest("GET", "/api/channel/test_upstream/999999")).body).toMatchObject({
        success: false,
        code: "channel_not_found",
      });
    });
  });
}
