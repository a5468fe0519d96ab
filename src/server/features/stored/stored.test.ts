/** Stored objects on both engines: their owners, their lifetime, and the sweep. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINES, type FreshDatabase, freshDatabase } from "../../../../tests/kit/databases";
import { defaultText, type OptionKey, type OptionValue, parseOption } from "../../../shared/options";
import type { Services } from "../../contracts/context";
import { createStoredObjects, pack, unpack } from "./stored-objects";
import { sweepStored } from "./sweep";

const DAY = 86_400;

for (const engine of ENGINES) {
  describe(engine, () => {
    let fresh: FreshDatabase;
    let time = 1_800_000_000;
    const set = new Map<string, number>();
    const get = <K extends OptionKey>(key: K): OptionValue<K> => {
      const parsed = parseOption(key, String(set.get(key) ?? defaultText(key)));
      if (!parsed.ok) throw new Error(key);
      return parsed.value as OptionValue<K>;
    };
    const services = (): Pick<Services, "db" | "options" | "now"> => ({
      db: fresh.db,
      options: { get } as Services["options"],
      now: () => time * 1000,
    });
    const storedObjects = () => createStoredObjects(services());
    const response = (object_id: string, user_id: number, more: object = {}) => ({
      kind: "response" as const,
      object_id,
      user_id,
      token_id: 0,
      channel_id: 0,
      channel_key_id: 0,
      model: "m",
      parent_id: "",
      status: "completed",
      expires_at: time + 30 * DAY,
      value: { said: object_id },
      ...more,
    });
    const ids = async (user: number) =>
      (await storedObjects().list("response", user, { order: "asc", limit: 100 })).map(({ object_id }) => object_id);

    beforeAll(async () => {
      fresh = await freshDatabase(engine);
    }, 30_000);
    afterAll(() => fresh.close());

    test("a value comes back as it was, whatever characters it has", async () => {
      const value = { text: "\u0000 \ud83d\ude00 您好 \ud800", list: [1, null, { deep: true }] };
      await storedObjects().put(response("resp_a", 1, { value }));
      expect((await storedObjects().find("response", "resp_a", 1))?.value).toEqual(value);
      expect(await unpack(await pack(undefined))).toBeUndefined();
    });

    test("an id finds nothing for another user, in another kind, and after its time", async () => {
      await storedObjects().put(response("resp_b", 1));
      expect(await storedObjects().find("response", "resp_b", 2)).toBeUndefined();
      expect(await storedObjects().find("file", "resp_b", 1)).toBeUndefined();
      await storedObjects().remove("response", "resp_b", 2);
      expect(await storedObjects().find("response", "resp_b", 1)).toBeDefined();
      time += 30 * DAY;
      expect(await storedObjects().find("response", "resp_b", 1)).toBeUndefined();
      time -= 30 * DAY;
    });

    test("an id of another user is not taken over, the owner's is replaced", async () => {
      await storedObjects().put(response("resp_c", 1));
      await storedObjects().put(response("resp_c", 2, { value: "stolen" }));
      expect(await storedObjects().find("response", "resp_c", 2)).toBeUndefined();
      expect(await storedObjects().find("response", "resp_c", 1)).toMatchObject({ value: { said: "resp_c" } });
      await Promise.all([1, 2, 3].map((turn) => storedObjects().put(response("resp_c", 1, { value: turn }))));
      expect([1, 2, 3]).toContain(Number((await storedObjects().find("response", "resp_c", 1))?.value));
    });

    test("pages follow each other without a gap when several were made in one second", async () => {
      for (let n = 0; n < 7; n++) await storedObjects().put(response(`resp_p${n}`, 3, { created_at: time - (n % 2) }));
      const whole = await ids(3);
      const seen: string[] = [];
      for (let after: string | undefined; ; after = seen.at(-1)) {
        const page = await storedObjects().list("response", 3, {
          order: "asc",
          limit: 2,
          ...(after !== undefined && { after }),
        });
        if (page.length === 0) break;
        seen.push(...page.map(({ object_id }) => object_id));
      }
      expect(seen).toEqual(whole);
      expect(
        (await storedObjects().list("response", 3, { order: "desc", limit: 100 })).map(({ object_id }) => object_id),
      ).toEqual(whole.toReversed());
      expect(await storedObjects().list("response", 3, { order: "asc", limit: 2, after: "resp_a" })).toEqual([]);
    });

    test("a chain that is continued lives on together, and nothing of another's with it", async () => {
      await storedObjects().put(response("resp_old", 4, { expires_at: time + DAY }));
      await storedObjects().put(response("resp_his", 5, { expires_at: time + DAY }));
      await storedObjects().prolong("response", ["resp_old", "resp_his"], 4, time + 30 * DAY);
      await storedObjects().prolong("response", ["resp_old"], 4, time + 2 * DAY);
      expect((await storedObjects().find("response", "resp_old", 4))?.expires_at).toBe(time + 30 * DAY);
      expect((await storedObjects().find("response", "resp_his", 5))?.expires_at).toBe(time + DAY);
    });

    test("the sweep removes what has expired and what is with a deleted channel, and keeps the rest", async () => {
      await storedObjects().put(response("resp_gone", 6, { expires_at: time - 1 }));
      await storedObjects().put(response("resp_lost", 6, { channel_id: 999_999 }));
      await storedObjects().put({ ...response("file-1", 6, { expires_at: 0 }), kind: "file" });
      await storedObjects().put(response("resp_stays", 6));
      await Promise.all([sweepStored(services()), sweepStored(services())]);
      const { stored_objects } = fresh.db.t;
      const left = await fresh.db.q.select().from(stored_objects);
      expect(
        left
          .filter(({ user_id }) => user_id === 6)
          .map(({ object_id }) => object_id)
          .sort(),
      ).toEqual(["file-1", "resp_stays"]);
    });

    test("beyond the cap a user loses what expires first, others lose nothing, and files do not count", async () => {
      set.set("StoredResponseMaxMB", 1);
      for (let n = 0; n < 6; n++)
        await storedObjects().put(response(`resp_k${n}`, 7, { expires_at: time + DAY + n, bytes: 300_000 }));
      await storedObjects().put(response("resp_other", 8, { bytes: 900_000 }));
      await storedObjects().put({ ...response("file-2", 8, { bytes: 5_000_000, expires_at: 0 }), kind: "file" });
      await sweepStored(services());
      expect(await ids(7)).toEqual(["resp_k3", "resp_k4", "resp_k5"]);
      expect(await ids(8)).toEqual(["resp_other"]);
      expect(await storedObjects().size("file", 8)).toBe(5_000_000);
      expect(await storedObjects().size("file", 9)).toBe(0);
      set.clear();
    });
  });
}
