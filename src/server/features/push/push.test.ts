import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { createSecrets } from "../../lib/secrets";
import { warnLowQuota } from "../notice/notices";
import { rotateVapid, VAPID, vapidKeys } from "./keys";

setDefaultTimeout(60_000);

/** A browser's side of RFC 8291: its keys, and how it reads the push service's messages. */
function phone(endpoint: string) {
  const ecdh = createECDH("prime256v1");
  const own = ecdh.generateKeys();
  const auth = randomBytes(16);
  return {
    subscription: { endpoint, p256dh: own.toString("base64url"), auth: auth.toString("base64url") },
    read: (body: Buffer): unknown => {
      // RFC 8188 section 2.1: salt, record size, length of the key id, key id.
      const salt = body.subarray(0, 16);
      const sender = body.subarray(21, 21 + body.readUInt8(20));
      const record = body.subarray(21 + sender.length);
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), own, sender]);
      const material = Buffer.from(hkdfSync("sha256", ecdh.computeSecret(sender), auth, info, 32));
      const derived = (name: string, length: number) =>
        Buffer.from(hkdfSync("sha256", material, salt, `Content-Encoding: ${name}\0`, length));
      const open = createDecipheriv("aes-128-gcm", derived("aes128gcm", 16), derived("nonce", 12));
      open.setAuthTag(record.subarray(-16));
      const plain = Buffer.concat([open.update(record.subarray(0, -16)), open.final()]);
      return JSON.parse(plain.subarray(0, plain.lastIndexOf(2)).toString());
    },
  };
}

describe.each([...ENGINES])("pushed notices on %s", (engine) => {
  let house: Harness;
  let person: Person;
  let service: ReturnType<typeof Bun.serve>;
  const received: { path: string; headers: Headers; body: Buffer }[] = [];
  let answer = 201;

  beforeAll(async () => {
    service = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        received.push({
          path: new URL(request.url).pathname,
          headers: request.headers,
          body: Buffer.from(await request.arrayBuffer()),
        });
        return new Response(null, { status: answer });
      },
    });
    house = await openHarness(engine, { WEIR_ALLOW_PRIVATE_FETCH: "true" });
  }, HOOK_MS);
  afterAll(async () => {
    await service?.stop(true);
    await house?.close();
  });
  beforeEach(async () => {
    person = await house.person();
    received.length = 0;
    answer = 201;
  });

  let places = 0;
  const newPhone = () => phone(`http://127.0.0.1:${service.port}/push/${++places}`);
  const scan = async (who: Person = person) =>
    new URL((await who.call.push.begin()).url).searchParams.get("code") ?? "";
  /** The request of the phone that opened the address, without a session. */
  const subscribe = (code: string, subscription: ReturnType<typeof phone>["subscription"]) =>
    person.call.push.subscribe({ code, ...subscription }).then(
      () => "bound",
      (error: { cause?: { code?: string } }) => error.cause?.code ?? "invalid",
    );
  const phonesOf = (who: Person) => who.call.push.phones();

  test("a scanned code binds a phone, which then gets the notice of a low balance, encrypted for it alone and signed by our key", async () => {
    const mine = newPhone();
    expect(await subscribe(await scan(), mine.subscription)).toBe("bound");
    // spec: C-020
    expect(await phonesOf(person)).toHaveLength(1);
    expect(await warnLowQuota(house.services, [person.ctx.actor.id])).toBe(1);
    expect(received).toHaveLength(1);
    const [{ headers, body, path }] = received as [(typeof received)[number]];
    expect([path, headers.get("content-encoding"), headers.get("ttl")]).toEqual([
      new URL(mine.subscription.endpoint).pathname,
      "aes128gcm",
      "86400",
    ]);
    // spec: C-020
    expect(mine.read(body)).toMatchObject({
      title: "额度不足提醒",
      path: "/topup",
      body: expect.stringContaining("您的剩余额度为"),
    });
    const [, jwt = "", key = ""] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.get("authorization") ?? "") ?? [];
    expect(key).toBe(await person.call.push.key());
    expect(decodeJwt(jwt)).toMatchObject({ aud: `http://127.0.0.1:${service.port}` });
    expect(house.mails).toEqual([]);
  });

  test("a code works once, for three minutes, until another one is fetched, and for no other purpose", async () => {
    const first = await scan();
    const second = await scan();
    // spec: C-020
    expect(await subscribe(first, newPhone().subscription)).toBe("push_code_invalid");
    const both = await Promise.all([
      subscribe(second, newPhone().subscription),
      subscribe(second, newPhone().subscription),
    ]);
    // spec: C-020
    expect(both.sort()).toEqual(["bound", "push_code_invalid"]);
    expect(await subscribe(second, newPhone().subscription)).toBe("push_code_invalid");
    const late = await scan();
    house.advance(181);
    // spec: C-020
    expect(await subscribe(late, newPhone().subscription)).toBe("push_code_invalid");
    const stranger = await house.person();
    const foreign = (await scan()).replace(/^\d+/, String(stranger.ctx.actor.id));
    expect(await subscribe(foreign, newPhone().subscription)).toBe("push_code_invalid");
    for (const code of ["", "1.", "x", `0.${"a".repeat(32)}`])
      expect(await subscribe(code, newPhone().subscription)).toBe("push_code_invalid");
    expect(await phonesOf(stranger)).toEqual([]);
    expect(await phonesOf(person)).toHaveLength(1);
  });

  test("a subscription of another shape is refused and leaves the code to be used", async () => {
    const code = await scan();
    const { subscription } = newPhone();
    for (const bad of [
      { endpoint: "ftp://a.example/x" },
      { endpoint: "javascript:alert(1)" },
      { p256dh: "short" },
      { auth: "" },
      { auth: "!".repeat(22) },
    ]) {
      expect(await subscribe(code, { ...subscription, ...bad })).not.toBe("bound");
    }
    expect(await subscribe(code, subscription)).toBe("bound");
  });

  test("an address in a private network is not called, unless the operator allows it", async () => {
    await subscribe(await scan(), newPhone().subscription);
    const { services } = house;
    const strict = { ...services, env: { ...services.env, WEIR_ALLOW_PRIVATE_FETCH: false } };
    expect(await warnLowQuota(strict, [person.ctx.actor.id])).toBe(0);
    expect(received).toEqual([]);
  });

  test("a phone whose push service says that it is gone is forgotten; one that is only refused stays", async () => {
    await subscribe(await scan(), newPhone().subscription);
    answer = 500;
    expect(await person.call.notice.test().catch((error) => error.cause?.code)).toBe("notice_failed");
    expect(await phonesOf(person)).toHaveLength(1);
    answer = 410;
    await person.call.notice.test().catch(() => {});
    expect(await phonesOf(person)).toEqual([]);
  });

  test("a browser that is bound again belongs to the last account that bound it; the eleventh takes the place of the first", async () => {
    const other = await house.person();
    const { subscription } = newPhone();
    await subscribe(await scan(), subscription);
    await subscribe(await scan(other), subscription);
    expect([(await phonesOf(person)).length, (await phonesOf(other)).length]).toEqual([0, 1]);
    for (let i = 0; i < 11; i++) expect(await subscribe(await scan(), newPhone().subscription)).toBe("bound");
    expect(await phonesOf(person)).toHaveLength(10);
  });

  test("only its owner removes a phone, and a deleted or banned account has none to bind", async () => {
    await subscribe(await scan(), newPhone().subscription);
    const [bound] = await phonesOf(person);
    const other = await house.person();
    expect(await other.call.push.remove({ id: bound?.id ?? 0 }).catch((error) => error.cause?.code)).toBe(
      "phone_not_found",
    );
    await person.call.push.remove({ id: bound?.id ?? 0 });
    expect(await phonesOf(person)).toEqual([]);
    const { users, push_subscriptions } = house.services.db.t;
    const code = await scan();
    await house.services.db.q.update(users).set({ status: 2 }).where(eq(users.id, person.ctx.actor.id)).returning();
    expect(await subscribe(code, newPhone().subscription)).toBe("push_code_invalid");
    await subscribe(await scan(other), newPhone().subscription);
    await other.call.user.deleteSelf();
    expect(
      await house.services.db.q
        .select()
        .from(push_subscriptions)
        .where(eq(push_subscriptions.user_id, other.ctx.actor.id)),
    ).toEqual([]);
  });

  test("the keys are made once, kept encrypted, and survive a new master secret", async () => {
    const { services } = house;
    const both = await Promise.all([vapidKeys(services), vapidKeys(services)]);
    // spec: C-020
    expect(both[0]).toEqual(both[1]);
    const [row] = await services.db.q.select().from(services.db.t.meta).where(eq(services.db.t.meta.name, VAPID));
    expect(row?.value).not.toContain(both[0].privateKey);
    const next = createSecrets("another secret for tests");
    await services.db.q
      .update(services.db.t.meta)
      .set({ value: rotateVapid(row?.value ?? "", services.secrets, next) })
      .where(eq(services.db.t.meta.name, VAPID))
      .returning();
    expect(await vapidKeys({ ...services, secrets: next })).toEqual(both[0]);
    await services.db.q
      .update(services.db.t.meta)
      .set({ value: row?.value ?? "" })
      .where(eq(services.db.t.meta.name, VAPID))
      .returning();
  });
});
