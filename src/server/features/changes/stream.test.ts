/** What open pages are told of changes made elsewhere. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ENGINES } from "../../../../tests/kit/databases";
import { HOOK_MS } from "../../../../tests/kit/harness";
import { until } from "../../../../tests/kit/until";
import { type Session, startWeir, type Weir } from "../../../../tests/kit/weir";
import { ROLE } from "../../../shared/roles";

setDefaultTimeout(HOOK_MS);

/** Follows the changes; `nouns` grows with what is told. */
async function follow(weir: Weir, who: Session) {
  const leave = new AbortController();
  const response = await fetch(`${weir.url}/api/changes`, { headers: who.headers, signal: leave.signal });
  const nouns: string[] = [];
  const stream = { response, nouns, began: false, over: false, leave: () => leave.abort() };
  const read = async () => {
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        if (!frame.startsWith("data: ")) continue;
        stream.began = true;
        nouns.push(...(JSON.parse(frame.slice("data: ".length)) as { nouns: string[] }).nouns);
      }
    }
  };
  const ended = () => void (stream.over = true);
  read().then(ended, ended);
  await until("the stream begins", () => stream.began || stream.over);
  return stream;
}

describe.each(ENGINES)("changes on %s", (engine) => {
  let weir: Weir;
  let ann: Session;
  let bob: Session;
  beforeAll(async () => {
    weir = await startWeir({ engine });
    ann = await weir.newUser();
    bob = await weir.newUser({ role: ROLE.admin });
  });
  afterAll(() => weir?.stop());

  test("an open page hears within two seconds what was changed by another, and a user of nothing that is not theirs", async () => {
    const [admin, user] = await Promise.all([follow(weir, bob), follow(weir, ann)]);
    const heard = (stream: typeof admin, noun: string) =>
      until(`${noun} is told`, () => stream.nouns.includes(noun), 2000);

    await weir.newChannel({ base_url: "http://127.0.0.1:9", models: ["m"] });
    await heard(admin, "channel");
    await weir.newToken({ name: "root's" });
    await weir.newToken({ name: "ann's" }, ann);
    await heard(user, "token");
    await weir.setOption("SystemName", "Another");
    await heard(admin, "option");
    await heard(user, "option");
    // The models that everyone sees follow from the channels.
    const told = new Set(user.nouns);
    told.delete("auth"); // their own sign-in
    expect([...told].toSorted()).toEqual(["option", "pricing", "token"]);
    expect(admin.nouns).not.toContain("token");
    admin.leave();
    user.leave();
  });

  test("every mutation tells its noun: a code and who redeems it, an order and its payer, marks, targets", async () => {
    const [admin, user] = await Promise.all([follow(weir, bob), follow(weir, ann)]);
    const heard = async (noun: string, ...streams: (typeof admin)[]) => {
      await until(`${noun} is told`, () => streams.every(({ nouns }) => nouns.includes(noun)), 2000);
      for (const { nouns } of [admin, user]) nouns.length = 0;
    };

    const made = await weir.root.ok("POST", "/api/redemption/", { name: "gift", quota: 5, count: 1 });
    await heard("redemption", admin);
    await ann.ok("POST", "/api/user/topup", { key: (made as string[])[0] });
    await heard("redemption", admin, user);

    const order = {
      trade_no: `USR${ann.id}NO${"a".repeat(16)}`,
      user_id: ann.id,
      amount: 1,
      quota: 500_000,
      money: "1.00",
      currency: "usd",
    };
    await weir.db.q
      .insert(weir.db.t.orders)
      .values({ ...order, provider: "stripe", status: "pending", create_time: 1, payment_method: "card" })
      .returning();
    await weir.root.ok("POST", "/api/user/topup/complete", { trade_no: order.trade_no });
    await heard("order", admin, user);

    await weir.root.ok("POST", "/api/incident/seen", {});
    await heard("incident", admin);
    await weir.root.ok("PUT", "/api/incident/target", {
      name: "hook",
      type: "webhook",
      url: "https://example.com/hook",
    });
    await heard("incident", admin);
    expect(user.nouns).toEqual([]);
    admin.leave();
    user.leave();
  });

  test("who is not signed in and a fifth page hear nothing, which is no error, and a ban ends the streams", async () => {
    const stranger = await fetch(`${weir.url}/api/changes`);
    expect(stranger.status).toBe(204);
    const pages = await Promise.all([1, 2, 3, 4].map(() => follow(weir, ann)));
    expect((await fetch(`${weir.url}/api/changes`, { headers: ann.headers })).status).toBe(204);
    await weir.root.ok("POST", "/api/user/manage", { id: ann.id, action: "disable" });
    await until("all streams end", () => pages.every(({ over }) => over));
  });
});

test("a shutdown does not wait for open pages", async () => {
  const weir = await startWeir({ env: { WEIR_SHUTDOWN_SECONDS: "120" } });
  const page = await follow(weir, weir.root);
  await weir.stop();
  await until("the stream ends", () => page.over);
});
