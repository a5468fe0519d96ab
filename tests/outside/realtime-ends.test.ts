/** A realtime session lasts only as long as its key and its account, on every instance. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ENGINES } from "../kit/databases";
import { type FakeRealtime, startFakeRealtime } from "../kit/fake-upstream/realtime";
import { HOOK_MS } from "../kit/harness";
import { type Node, type Nodes, startNodes } from "../kit/trial/nodes";
import type { Session } from "../kit/weir";
import { connectClient, until } from "../realtime/kit";

setDefaultTimeout(HOOK_MS);

/** Far below what ends a session without this: its time limits, of many minutes. */
const SOON_MS = 5_000;
const MODEL = "gpt-realtime+slow";

describe.each(ENGINES)("a realtime session on %s", (engine) => {
  let nodes: Nodes;
  let served: Node;
  let upstream: FakeRealtime;
  beforeAll(async () => {
    upstream = startFakeRealtime();
    nodes = await startNodes({ engine, count: 2, hurried: false });
    // The change is made at another process than the one that serves the session, where there is another.
    served = nodes.node(engine === "postgres" ? 1 : 0);
    await nodes.weir.newChannel({ base_url: upstream.url, models: [MODEL] });
    await nodes.weir.priceModels({ [MODEL]: 1 });
  }, HOOK_MS);
  afterAll(async () => {
    await nodes?.stop();
    upstream?.close();
  });

  const start = async (key: string) => {
    const client = connectClient(served.url, MODEL, { headers: { authorization: `Bearer ${key}` } });
    await client.heard("session.created");
    return client;
  };
  const manage = (id: number, action: string) => nodes.weir.root.ok("POST", "/api/user/manage", { id, action });

  const endings: [string, string, (who: Session, token: number) => Promise<unknown>][] = [
    [
      "its key is switched off",
      "token_disabled",
      (who, id) => who.ok("PUT", "/api/token/?status_only=true", { id, status: 2 }),
    ],
    ["its key is deleted", "token_invalid", (who, id) => who.ok("DELETE", `/api/token/${id}`)],
    ["its account is banned", "user_banned", (who) => manage(who.id, "disable")],
    ["its account is deleted", "token_invalid", (who) => manage(who.id, "delete")],
  ];
  test.each(endings)("ends when %s, also while it responds, and all money is accounted for", async (_, code, act) => {
    const who = await nodes.weir.newUser({ quota: 1_000_000 });
    const [token, other] = [await nodes.weir.newToken({}, who), await nodes.weir.newToken({}, nodes.weir.root)];
    const [quiet, busy, bystander] = [await start(token.key), await start(token.key), await start(other.key)];
    busy.say({ type: "response.create" });
    await busy.heard("response.created");
    await act(who, token.id);
    for (const client of [quiet, busy]) {
      await until("the session ends", () => client.closed, SOON_MS);
      expect(client.closed).toEqual({ code: 1008, reason: code });
      expect(client.events().at(-1)).toMatchObject({ type: "error", error: { code } });
    }
    expect(bystander.closed).toBeUndefined();
    bystander.socket.close();
    await until("no holds", async () => (await nodes.weir.holds()) === 0);
    expect(await nodes.weir.audit()).toEqual([]);
  });

  test("goes on when its key or its account changes otherwise", async () => {
    const who = await nodes.weir.newUser({ quota: 1_000_000 });
    const token = await nodes.weir.newToken({}, who);
    const client = await start(token.key);
    await who.ok("PUT", "/api/token/", { id: token.id, name: "renamed", unlimited_quota: true });
    await who.ok("PUT", "/api/user/self", { display_name: "Another Name", password: "another-horse-10" });
    client.say({ type: "response.create" });
    await client.heard("response.output_audio.delta");
    expect(client.closed).toBeUndefined();
    client.socket.close();
  });
});
