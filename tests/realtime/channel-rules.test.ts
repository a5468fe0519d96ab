/** The effect of a channel's own settings on its realtime sessions: timeouts, headers, proxy, keys, API version. */
import { afterAll, describe, expect, test } from "bun:test";
import type { ChannelSetting } from "../../src/shared/channel-setting";
import { channelType } from "../../src/shared/channel-types";
import { compileHeaders } from "../../src/shared/header-override";
import { compilePrice } from "../../src/shared/pricing";
import { REALTIME_USAGE, startFakeRealtime } from "../kit/fake-upstream/realtime";
import { startSocks } from "../kit/socks-server";
import { type Bench, makeBench, makeChannel, VirtualTime } from "../relay/kit";
import { connectClient, serveSessions, type TestClient, until } from "./kit";

const upstream = startFakeRealtime();
const stops: (() => unknown)[] = [() => upstream.close()];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

type Channel = ReturnType<typeof makeChannel>;

function setUp(channels: Channel[], time?: VirtualTime) {
  const bench = makeBench(channels, time && { now: time.now, timers: time.timers });
  const server = serveSessions(bench);
  stops.push(server.stop);
  const connect = (query = "", model = "gpt-realtime"): TestClient => connectClient(server.url, model, { query });
  return { bench, connect };
}

const withSetting = (setting: ChannelSetting, more: Parameters<typeof makeChannel>[2] = {}): Channel =>
  makeChannel(1, upstream.url, { setting, ...more });
const over = (bench: Bench): Promise<true> =>
  until("no hold", () => bench.ledger.holds.size === 0 && bench.relay.stats.open_streams === 0);
const closed = async (bench: Bench, client: TestClient): Promise<void> => {
  client.socket.close();
  await over(bench);
};

describe("a channel's own timeouts", () => {
  test("silence and length are the channel's, not the system's", async () => {
    for (const [setting, reason] of [
      [{ idle_timeout: 2 }, "idle limit"],
      [{ total_timeout: 2 }, "total limit"],
    ] as const) {
      const time = new VirtualTime();
      const { bench, connect } = setUp([withSetting(setting)], time);
      const client = connect();
      await client.heard("session.created");
      await time.advance(1999);
      expect(client.closed).toBeUndefined();
      await time.advance(1);
      expect(await client.ended()).toEqual({ code: 1001, reason });
      await over(bench);
    }
  });

  test("the handshake timeout is the channel's", async () => {
    const time = new VirtualTime();
    const { bench, connect } = setUp([withSetting({ connect_timeout: 2 })], time);
    const before = upstream.connections.length;
    const client = connect("", "gpt-realtime+hang");
    await until("asked", () => upstream.connections.length > before);
    await time.advance(1999);
    expect(client.failure).toBeUndefined();
    await time.advance(1);
    expect(await until("refused", () => client.failure)).toContain("504");
    await over(bench);
  });

  test("when the caller leaves, a running response is cut at once where the channel says so", async () => {
    const { bench, connect } = setUp([withSetting({ on_disconnect: "cut" })]);
    const client = connect("", "gpt-realtime+slow");
    await client.open();
    client.say({ type: "response.create" });
    await client.heard("response.created");
    await closed(bench, client);
    expect(bench.ledger.settlements.map(({ log }) => log.end_reason)).toEqual(["caller_left"]);
  });
});

describe("a channel's pings", () => {
  /** Pings that a client hears within `ms` of virtual time. */
  async function pingsIn(setting: ChannelSetting, ms: number): Promise<number> {
    const time = new VirtualTime();
    const { bench, connect } = setUp([withSetting({ idle_timeout: 3_600, ...setting })], time);
    let pings = 0;
    const client = connect();
    client.socket.addEventListener("ping", () => void pings++);
    await client.heard("session.created");
    await time.advance(ms);
    // What comes back was sent after them.
    client.say({ type: "x" });
    await client.heard("x");
    await closed(bench, client);
    return pings;
  }

  test("reach an idle caller in the channel's interval; 0 is never", async () => {
    expect(await pingsIn({ ping_interval: 7 }, 22_000)).toBe(3);
    expect(await pingsIn({ ping_interval: 0 }, 600_000)).toBe(0);
  });
});

test("a session is billed by the name that the channel says, from its first response on, and its rows name it", async () => {
  for (const [setting, ratio] of [
    [{ bill_by: "upstream" }, 10],
    [{}, 1],
  ] as const) {
    const mapped = makeChannel(1, upstream.url, { setting, model_mapping: new Map([["asked", "gpt-realtime"]]) });
    const { bench, connect } = setUp([mapped]);
    const prices: Record<string, number> = { asked: 1, "gpt-realtime": 10 };
    bench.controlPlane.price = (model) => {
      const value = prices[model];
      if (value === undefined) return undefined;
      return compilePrice(
        model,
        "default",
        { model_ratio: { value, source: "test" }, completion_ratio: { value: 2, source: "test" } },
        { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
      );
    };
    const client = connect("", "asked");
    await client.open();
    for (const count of [1, 2]) {
      client.say({ type: "response.create" });
      await client.heard("response.done", count);
    }
    await closed(bench, client);
    const cost = (REALTIME_USAGE.input_tokens + 2 * REALTIME_USAGE.output_tokens) * ratio;
    expect(bench.ledger.settlements.map(({ quota }) => quota)).toEqual([cost, cost]);
    for (const { log } of bench.ledger.settlements) {
      const { billed_model, upstream_model_name } = JSON.parse(String(log.other));
      expect([log.model_name, upstream_model_name, billed_model]).toEqual([
        "asked",
        "gpt-realtime",
        ratio === 10 ? "gpt-realtime" : undefined,
      ]);
    }
  }
});

test("headers of the channel are sent with the handshake, and those it removes are not", async () => {
  const headers = compileHeaders({ "X-Org": "k={api_key}", authorization: null, "api-key": "{api_key}" });
  const { connect } = setUp([makeChannel(1, upstream.url, { headers, key: "good-7" })]);
  const client = connect();
  await until("refused or open", () => client.failure ?? client.socket.readyState === 1);
  const last = upstream.last().headers;
  expect([last["x-org"], last["api-key"], last.authorization]).toEqual(["k=good-7", "good-7", undefined]);
  client.socket.close();
});

test("the version of the API that the caller's address names wins over the channel's (C-237); an invalid one does not", async () => {
  const azure = channelType(3) ?? expect.unreachable("no channel type 3");
  const { bench, connect } = setUp([makeChannel(1, upstream.url, { type: azure, other: "2024-10-21" })]);
  const version = async (query: string): Promise<string | undefined> => {
    const client = connect(query);
    await client.open();
    await closed(bench, client);
    return upstream.last().query["api-version"];
  };
  expect(await version("")).toBe("2024-10-21");
  expect(await version("&api-version=2025-04-01-preview")).toBe("2025-04-01-preview");
  expect(await version(`&api-version=${encodeURIComponent("x&deployment=other")}`)).toBe("2024-10-21");
});

describe("a channel's proxy", () => {
  test("a SOCKS server carries the session, both ways, with names unresolved", async () => {
    using socks = await startSocks("ann:pw");
    const named = upstream.url.replace("127.0.0.1", "voice.invalid");
    const { bench, connect } = setUp([makeChannel(1, named, { setting: { proxy: socks.url } })]);
    const client = connect();
    await client.open();
    client.say({ type: "response.create" });
    await client.heard("response.done");
    client.say({ type: "x", text: "é".repeat(100_000) });
    await client.heard("x");
    expect(socks.asked).toEqual([`voice.invalid:${new URL(upstream.url).port}`]);
    await closed(bench, client);
  });

  test("one that is down, requires other credentials, or is not a proxy fails the handshake: nothing is sent directly", async () => {
    using socks = await startSocks("ann:pw");
    const before = upstream.connections.length;
    for (const proxy of [
      "http://127.0.0.1:1",
      "socks5://127.0.0.1:1",
      socks.url.replace("ann:pw@", ""),
      "ftp://x.test",
    ]) {
      const { bench, connect } = setUp([withSetting({ proxy })]);
      const client = connect();
      expect([proxy, await until("refused", () => client.failure)]).toEqual([proxy, expect.stringContaining("50")]);
      await over(bench);
    }
    expect(upstream.connections.length).toBe(before);
  });

  test.each(["NO_PROXY", "no_proxy"])("%s of the environment does not bypass it", async (name) => {
    const before = upstream.connections.length;
    const saved = process.env[name];
    process.env[name] = "127.0.0.1";
    try {
      const { bench, connect } = setUp([withSetting({ proxy: "http://127.0.0.1:1" })]);
      const client = connect();
      expect(await until("refused", () => client.failure)).toContain("50");
      await over(bench);
      expect(process.env[name]).toBe("127.0.0.1");
    } finally {
      if (saved === undefined) delete process.env[name];
      else process.env[name] = saved;
    }
    expect(upstream.connections.length).toBe(before);
  });
});

describe("several keys", () => {
  /** A channel with these keys, as the pool makes it. */
  function many(...names: string[]): Channel {
    const channel = makeChannel(1, upstream.url);
    const keys = names.map((key, index) => ({
      ...channel,
      key,
      key_row: { id: index + 10, position: index + 1, hint: "…" },
    }));
    return { ...channel, key: "", keys, multi_key_mode: "polling" };
  }
  const used = (count: number): (string | undefined)[] =>
    upstream.connections.slice(-count).map(({ headers }) => headers.authorization);

  test("sessions use them in turn, and the row names the key", async () => {
    const { bench, connect } = setUp([many("one", "two")]);
    for (let i = 0; i < 3; i++) {
      const client = connect();
      await client.open();
      client.say({ type: "response.create" });
      await client.heard("response.done");
      await closed(bench, client);
    }
    expect(used(3)).toEqual(["Bearer one", "Bearer two", "Bearer one"]);
    const keys = bench.ledger.settlements.map(({ log }) => JSON.parse(log.other ?? "{}").admin_info.attempts[0].key.id);
    expect(keys).toEqual([10, 11, 10]);
  });

  test("one that is refused is reported as that key, and the same handshake continues with the next", async () => {
    const { bench, connect } = setUp([many("bad-1", "two")]);
    bench.options.retryTimes = 1;
    const client = connect();
    await client.open();
    expect(used(1)).toEqual(["Bearer two"]);
    expect(bench.troubles).toMatchObject([{ channel: 1, status: 401, disable: true }]);
    await closed(bench, client);
  });
});
