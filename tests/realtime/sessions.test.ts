/**
 * Realtime sessions: frames, money, limits and ends. The upstream speaks OpenAI's protocol
 * (kit/fake-upstream/realtime).
 */
import { afterAll, describe, expect, test } from "bun:test";
import { channelType } from "../../src/shared/channel-types";
import { compilePrice, type CompiledPrice } from "../../src/shared/pricing";
import { REALTIME_USAGE, startFakeRealtime } from "../kit/fake-upstream/realtime";
import { type Bench, makeBench, makeChannel, TEST_KEY, VirtualTime } from "../relay/kit";
import { connectClient, serveSessions, type TestClient, until } from "./kit";

const upstream = startFakeRealtime();
const stops: (() => unknown)[] = [() => upstream.close()];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

function setUp(
  change: (bench: Bench) => void = () => undefined,
  channels = [makeChannel(1, upstream.url)],
  time?: VirtualTime,
) {
  const bench = makeBench(channels, time && { now: time.now, timers: time.timers });
  change(bench);
  const server = serveSessions(bench);
  stops.push(server.stop);
  return {
    bench,
    url: server.url,
    connect: (model: string, more?: Parameters<typeof connectClient>[2]) => connectClient(server.url, model, more),
  };
}

async function respond(client: TestClient, count = 1): Promise<void> {
  await client.open();
  client.say({ type: "response.create" });
  await client.heard("response.done", count);
}

/**
 * 132 in of which 64 cached and 9 uncached audio, 121 out of which 91 audio; at 1 in and 2 out: cached and audio cost
 * the same.
 */
const COST = REALTIME_USAGE.input_tokens + 2 * REALTIME_USAGE.output_tokens;

/** 1 unit a token in, 2 a token out, times the group's ratio. */
const ratioPrice = (model: string, group: string, ratio: number): CompiledPrice =>
  compilePrice(
    model,
    group,
    {
      model_ratio: { value: 1, source: "test" },
      completion_ratio: { value: 2, source: "test" },
      group_ratio: { value: ratio, source: "test" },
    },
    { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
  );

const noHolds = (bench: Bench): Promise<true> =>
  until("no hold", () => bench.ledger.holds.size === 0 && bench.relay.stats.open_streams === 0);

describe("frames", () => {
  test("text and binary pass byte for byte, both ways and in order, and only once the upstream is connected", async () => {
    const { connect } = setUp();
    const client = connect("gpt-realtime");
    await client.open();
    await client.heard("session.created");
    const odd = [
      '{"type":"x",  "n":1.0, "s":"\\u00e9 é 🎧"}',
      "123",
      '"text"',
      "not json",
      "",
      new Uint8Array([0, 255, 128, 1]),
      new Uint8Array(0),
      '{"type":"y"}',
    ];
    for (const frame of odd) client.say(frame);
    await until("all back", () => client.frames.length === odd.length + 1);
    const entry = upstream.last();
    expect(entry.received.map((frame) => (typeof frame === "string" ? frame : [...frame]))).toEqual(
      odd.map((frame) => (typeof frame === "string" ? frame : [...frame])),
    );
    expect(client.frames.map(String)).toEqual(entry.sent.map(String));
    expect(Buffer.isBuffer(client.frames[6])).toBe(true);
    client.socket.close();
  });

  test("a caller who reads slowly makes the upstream wait, and still gets every frame", async () => {
    const { bench, connect } = setUp();
    const client = connect("gpt-realtime+flood");
    await client.open();
    await client.heard("session.created");
    client.socket.pause();
    client.say({ type: "response.create" });
    await until("the flood was sent", () => upstream.last().sent.length > 400);
    // The flood waits at its source: neither the relay nor the sockets between take 40 MB.
    let waiting = -1;
    await until("nothing moves", async () => {
      const before = waiting;
      await Bun.sleep(100);
      waiting = upstream.last().waiting();
      return waiting === before;
    });
    expect(waiting).toBeGreaterThan(10 << 20);
    expect(client.frames.length).toBeLessThan(10);
    expect(client.closed).toBeUndefined();
    client.socket.resume();
    await client.heard("response.done");
    expect(client.frames.map(String)).toEqual(upstream.last().sent.map(String));
    client.socket.close();
    await noHolds(bench);
  });

  test("an upstream that reads slowly makes the caller wait, and still gets every frame", async () => {
    const { bench, connect } = setUp();
    const client = connect("gpt-realtime+deaf");
    await client.open();
    const frame = JSON.stringify({ type: "input_audio_buffer.append", audio: "A".repeat(200_000) });
    const count = 200;
    for (let i = 0; i < count; i++) client.say(frame);
    // The sockets between hold far less than 40 MB: the rest waits with the caller.
    let waiting = -1;
    await until("nothing moves", async () => {
      const before = waiting;
      await Bun.sleep(100);
      waiting = client.socket.bufferedAmount;
      return waiting === before;
    });
    expect(waiting).toBeGreaterThan(10 << 20);
    upstream.last().wake();
    await until("all arrived", () => upstream.last().received.length === count);
    expect(upstream.last().received.every((received) => received === frame)).toBe(true);
    client.socket.close();
    await noHolds(bench);
  });

  test("close codes travel both ways", async () => {
    const { connect } = setUp();
    const client = connect("gpt-realtime+close:4001");
    await respond(client);
    expect(await client.ended()).toEqual({ code: 4001, reason: "as asked" });
    const other = connect("gpt-realtime");
    await other.open();
    const entry = await until("connected", () => upstream.connections.at(-1));
    other.socket.close(3005);
    expect((await until("closed", () => entry.closed)).code).toBe(3005);
  });
});

describe("the handshake", () => {
  test("keys come by Authorization, api-key or sub-protocol; realtime is echoed, the key is not, and none of it goes upstream", async () => {
    const { connect } = setUp();
    const protocols = ["realtime", `openai-insecure-api-key.${TEST_KEY}`, "openai-beta.realtime-v1"];
    const ways: NonNullable<Parameters<typeof connectClient>[2]>[] = [
      { headers: { "api-key": TEST_KEY } },
      { headers: {}, protocols },
      {},
    ];
    for (const more of ways) {
      const client = connect("gpt-realtime", more);
      await client.open();
      expect(client.socket.protocol).toBe(more.protocols ? "realtime" : "");
      const { headers, path, query } = upstream.last();
      expect([path, query.model, headers.authorization]).toEqual([
        "/v1/realtime",
        "gpt-realtime",
        "Bearer upstream-key-1",
      ]);
      expect(JSON.stringify(upstream.last().headers)).not.toContain(TEST_KEY);
      expect(headers["openai-beta"]).toBe(more.protocols ? "realtime=v1" : undefined);
      client.socket.close();
    }
  });

  test("an error before the upgrade is an HTTP error in OpenAI's format: no key, wrong key, no model, unknown intent, no upgrade", async () => {
    const { bench, url } = setUp();
    const handshake = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    const ask = async (query: string, headers: Record<string, string>): Promise<unknown> => {
      const response = await fetch(`${url}/v1/realtime${query}`, { headers });
      return [response.status, ((await response.json()) as { error: { code: string } }).error.code];
    };
    const key = { authorization: `Bearer ${TEST_KEY}` };
    expect(await ask("?model=m", handshake)).toEqual([401, "token_missing"]);
    expect(await ask("?model=m", { ...handshake, authorization: "Bearer sk-wrong" })).toEqual([401, "token_invalid"]);
    expect(await ask("", { ...handshake, ...key })).toEqual([400, "model_missing"]);
    expect(await ask("?model=m&intent=spy", { ...handshake, ...key })).toEqual([400, "invalid_request"]);
    expect(await ask("?model=nobody", { ...handshake, ...key })).toEqual([404, "model_not_found"]);
    expect(await ask("?model=unpriced", { ...handshake, ...key })).toEqual([500, "model_price_missing"]);
    expect(await ask("?model=m", key)).toEqual([426, "upgrade_required"]);
    bench.caller.models = new Set(["other"]);
    expect(await ask("?model=m", { ...handshake, ...key })).toEqual([403, "token_model_denied"]);
    expect(bench.ledger.holdRequests).toEqual([]);
  });

  test("a session that only transcribes names its intent upstream and no model, and is routed as gpt-4o-transcribe", async () => {
    const { bench, connect } = setUp();
    const client = connect("", { query: "&intent=transcription" });
    await client.open();
    expect(upstream.last().query).toEqual({ intent: "transcription" });
    client.say({ type: "input_audio_buffer.commit" });
    await client.heard("conversation.item.input_audio_transcription.completed");
    client.socket.close();
    await noHolds(bench);
    expect(bench.ledger.settlements.map(({ log }) => log.model_name)).toEqual(["gpt-4o-transcribe"]);
  });

  test("a channel that refuses is skipped, put in cooldown and reported; the model is mapped in the address", async () => {
    const bad = makeChannel(1, upstream.url, { key: "bad-key", priority: 9 });
    const good = makeChannel(2, upstream.url, { model_mapping: new Map([["voice", "gpt-realtime+deltas:1"]]) });
    const { bench, connect } = setUp((b) => (b.options.retryTimes = 1), [bad, good]);
    const client = connect("voice");
    await respond(client);
    expect(upstream.last().query.model).toBe("gpt-realtime+deltas:1");
    expect(bench.troubles).toMatchObject([{ channel: 1, status: 401, disable: true, model: "voice" }]);
    client.socket.close();
    await noHolds(bench);
    const other = JSON.parse(bench.ledger.settlements[0]?.log.other ?? "{}");
    expect(other).toMatchObject({
      is_model_mapped: true,
      upstream_model_name: "gpt-realtime+deltas:1",
      request_path: "/v1/realtime",
    });
    expect(other.admin_info.attempts).toMatchObject([
      { channel: 1, status: 401, failure: "bad_credentials" },
      { channel: 2, status: 101, failure: "" },
    ]);
  });

  test("when every channel refuses the handshake fails with the failure's status, one row, and nothing held", async () => {
    const { bench, connect } = setUp();
    const client = connect("gpt-realtime+status:429");
    await until("failed", () => client.failure);
    expect(client.failure).toContain("429");
    expect(bench.failures).toMatchObject([
      { end_reason: "upstream_error", model_name: "gpt-realtime+status:429", channel: 1 },
    ]);
    await noHolds(bench);
    expect(bench.ledger.charged).toBe(0);
  });

  test("an upstream that does not answer the handshake is abandoned after the connect timeout, or at once when the caller disconnects", async () => {
    const { bench, connect } = setUp((b) => (b.options.connectTimeoutMs = 50));
    const client = connect("gpt-realtime+hang");
    expect(await until("failed", () => client.failure)).toContain("504");
    await noHolds(bench);
    bench.options.connectTimeoutMs = 600_000;
    const held = bench.ledger.holdRequests.length;
    const leaving = connect("gpt-realtime+hang");
    await until("held", () => bench.ledger.holdRequests.length > held);
    leaving.socket.terminate();
    await noHolds(bench);
  });
});

describe("money", () => {
  test("each response is one charge with its row, from its usage in disjoint buckets; the next one has its hold before it begins", async () => {
    const { bench, connect } = setUp();
    const client = connect("gpt-realtime");
    for (const count of [1, 2, 3]) {
      await respond(client, count);
      await until("held again", () => bench.ledger.holdRequests.length === count + 1);
      expect(bench.ledger.holds.size).toBe(1);
    }
    client.socket.close();
    await noHolds(bench);
    expect(bench.ledger.charged).toBe(3 * COST);
    expect(bench.ledger.balance).toBe(1_000_000 - 3 * COST);
    expect(new Set(bench.ledger.settlements.map(({ request_id }) => request_id)).size).toBe(3);
    for (const { log } of bench.ledger.settlements) {
      expect(log).toMatchObject({
        end_reason: "complete",
        quota: COST,
        prompt_tokens: 132,
        completion_tokens: 121,
        is_stream: true,
        model_name: "gpt-realtime",
      });
      const bill = JSON.parse(log.other ?? "{}").bill as { kind: string; count: number }[];
      expect(bill.map(({ kind, count }) => [kind, count])).toEqual([
        ["input", 59],
        ["cache_read", 64],
        ["audio_in", 9],
        ["output", 30],
        ["audio_out", 91],
      ]);
    }
    for (const ends of bench.ledger.ends.values()) expect(ends).toHaveLength(1);
  });

  test("response.done is sent only after its charge is committed", async () => {
    const { bench, connect } = setUp();
    const gate = Promise.withResolvers<void>();
    bench.ledger.gate = gate.promise;
    const client = connect("gpt-realtime");
    await client.open();
    client.say({ type: "response.create" });
    await client.heard("response.output_audio.delta", 2);
    client.say({ type: "ping" });
    await until("the echo came", () => upstream.last().sent.some((frame) => String(frame).includes("ping")));
    expect(client.events().map(({ type }) => type)).not.toContain("response.done");
    gate.resolve();
    await client.heard("ping");
    expect(
      client
        .events()
        .map(({ type }) => type)
        .slice(-2),
    ).toEqual(["response.done", "ping"]);
    client.socket.close();
    await noHolds(bench);
  });

  test("without balance: an error event, then 1008; the upstream is not called", async () => {
    const { bench, connect } = setUp((b) => (b.ledger.balance = 10));
    const before = upstream.connections.length;
    const client = connect("gpt-realtime");
    expect(await client.ended()).toEqual({ code: 1008, reason: "insufficient_user_quota" });
    expect(client.events()).toMatchObject([
      {
        type: "error",
        error: { code: "insufficient_quota", type: "insufficient_quota", message: expect.stringContaining("10") },
      },
    ]);
    expect(upstream.connections.length).toBe(before);
    expect(bench.failures).toMatchObject([{ end_reason: "refused", model_name: "gpt-realtime" }]);
  });

  test("a balance that ends inside a session ends it after the response that was paid: error event, then 1008", async () => {
    const { bench, connect } = setUp((b) => {
      b.options.preConsumedTokens = 100;
      b.ledger.balance = 600;
    });
    const client = connect("gpt-realtime");
    await respond(client);
    expect((await client.ended()).code).toBe(1008);
    expect(client.events().at(-1)).toMatchObject({ type: "error", error: { code: "insufficient_quota" } });
    await noHolds(bench);
    expect(bench.ledger.balance).toBe(600 - COST);
    expect((await until("closed", () => upstream.last().closed)).code).toBe(1000);
  });

  test("a second response costs at least what the last one did: the hold grows with the conversation", async () => {
    const { bench, connect } = setUp((b) => (b.options.preConsumedTokens = 16));
    const client = connect("gpt-realtime");
    await respond(client);
    await until("held again", () => bench.ledger.holdRequests.length === 2);
    expect(bench.ledger.holdRequests.map(({ amount }) => amount)).toEqual([16 + 32, COST]);
    client.socket.close();
    await noHolds(bench);
  });

  test("a transcription of the caller's audio is a separate charge, at its own model's price", async () => {
    const { bench, connect } = setUp();
    const client = connect("gpt-realtime+transcribe");
    await client.open();
    client.say({ type: "input_audio_buffer.commit" });
    await client.heard("conversation.item.input_audio_transcription.completed");
    expect(
      bench.ledger.settlements.map(({ log }) => [log.model_name, log.quota, log.prompt_tokens, log.completion_tokens]),
    ).toEqual([["gpt-4o-transcribe", 22 + 16, 22, 8]]);
    client.socket.close();
    await noHolds(bench);
    expect(bench.ledger.charged).toBe(38);
  });

  test("with group auto a session costs what it does in the group that serves, from its first transcription on", async () => {
    const { bench, connect } = setUp(({ caller, controlPlane }) => {
      Object.assign(caller, { group: "auto", groups: ["cheap", "dear"] });
      controlPlane.price = (model, group) => ratioPrice(model, group, group === "dear" ? 3 : 1);
    });
    const named = connect("gpt-realtime+transcribe");
    const unnamed = connect("", { query: "&intent=transcription" });
    for (const client of [named, unnamed]) {
      await client.open();
      client.say({ type: "input_audio_buffer.commit" });
      await client.heard("conversation.item.input_audio_transcription.completed");
      client.socket.close();
    }
    await noHolds(bench);
    expect(bench.ledger.settlements.map(({ log }) => [log.group, log.quota])).toEqual([
      ["cheap", 22 + 16],
      ["cheap", 22 + 16],
    ]);
    // Held before it was known who serves: at the dearest.
    expect(bench.ledger.holdRequests[0]?.draft).toContain('"group":"dear"');
  });

  test("a balance that ends in a session which only transcribes ends it after what was paid: error event, then 1008", async () => {
    const { bench, connect } = setUp();
    const client = connect("", { query: "&intent=transcription" });
    await client.open();
    client.say({ type: "input_audio_buffer.commit" });
    await client.heard("conversation.item.input_audio_transcription.completed");
    await until("held anew", () => bench.ledger.holdRequests.length === 2);
    // Spent elsewhere.
    bench.ledger.balance = -1_000_000;
    client.say({ type: "input_audio_buffer.commit" });
    await client.heard("conversation.item.input_audio_transcription.completed", 2);
    expect(await client.heard("error")).toMatchObject({ error: { code: "insufficient_quota" } });
    expect((await client.ended()).code).toBe(1008);
    await noHolds(bench);
    expect(bench.ledger.settlements).toHaveLength(2);
  });

  test("a response that failed upstream costs nothing; one without usage is estimated from its audio, and says so", async () => {
    const { bench, connect } = setUp();
    const failed = connect("gpt-realtime+failed");
    await respond(failed);
    const silent = connect("gpt-realtime+no-usage");
    await respond(silent);
    failed.socket.close();
    silent.socket.close();
    await noHolds(bench);
    const [first, second] = bench.ledger.settlements;
    expect(first?.log).toMatchObject({ quota: 0, end_reason: "upstream_error" });
    // Two pieces of 100 ms: two audio tokens each, and some JSON around them.
    expect(second?.log.completion_tokens).toBe(5);
    expect(JSON.parse(second?.log.other ?? "{}").estimated).toBe(true);
  });

  test("implausible counts of a response are estimated from the content on both sides, or charged at the bound", async () => {
    const { bench, connect } = setUp();
    const found: [number, number][] = [];
    for (const counts of ["0:0", "-1:1e99", "50:1000000000"]) {
      const client = connect(`gpt-realtime+usage:${counts}`);
      await client.open();
      // 400 bytes of text and 500 ms of audio: a hundred tokens and some JSON, and ten.
      client.say({
        type: "conversation.item.create",
        item: { type: "message", role: "user", content: [{ type: "input_text", text: "sea ".repeat(100) }] },
      });
      client.say({ type: "input_audio_buffer.append", audio: "A".repeat(32_000) });
      await respond(client);
      client.socket.close();
      await noHolds(bench);
      const { prompt_tokens = 0, completion_tokens = 0 } = bench.ledger.settlements.at(-1)?.log ?? {};
      found.push([prompt_tokens, completion_tokens]);
    }
    for (const [prompt] of found.slice(0, 2)) {
      expect(prompt).toBeGreaterThanOrEqual(110);
      expect(prompt).toBeLessThan(170);
    }
    expect(found.map(([, completion]) => completion)).toEqual([5, 5, 200_000]);
    expect(found[2]?.[0]).toBe(50);
    expect(bench.doubts.map(({ side, rule }) => `${side} ${rule}`)).toEqual([
      "input zero",
      "output zero",
      "input impossible",
      "output impossible",
      "output implausible",
    ]);
  });

  test("a price per call is taken once a response", async () => {
    const { bench, connect } = setUp();
    const client = connect("percall");
    await respond(client);
    await respond(client, 2);
    client.socket.close();
    await noHolds(bench);
    expect(bench.ledger.charged).toBe(200);
  });
});

describe("ends", () => {
  test("a caller who disconnects during a response: it is cancelled upstream, and its usage is charged", async () => {
    const { bench, connect } = setUp();
    const client = connect("gpt-realtime+slow");
    await client.open();
    client.say({ type: "response.create" });
    await client.heard("response.output_audio.delta", 2);
    client.socket.close();
    await noHolds(bench);
    expect(upstream.last().received.map(String)).toContain('{"type":"response.cancel"}');
    expect(bench.ledger.settlements.map(({ log }) => [log.end_reason, log.quota])).toEqual([["caller_left", COST]]);
  });

  test("a caller who disconnects, or a shutdown, while the next hold is being taken: the hold is released", async () => {
    for (const leave of [
      (client: TestClient) => client.socket.terminate(),
      (_: TestClient, bench: Bench) => void bench.relay.stop(0),
    ]) {
      const { bench, connect } = setUp();
      const client = connect("gpt-realtime");
      await client.open();
      const gate = Promise.withResolvers<void>();
      const hold = bench.ledger.hold.bind(bench.ledger);
      bench.ledger.hold = async (request) => {
        await gate.promise;
        return hold(request);
      };
      client.say({ type: "response.create" });
      await client.heard("response.done");
      leave(client, bench);
      await Bun.sleep(20);
      gate.resolve();
      await noHolds(bench);
      expect(bench.ledger.balance).toBe(1_000_000 - COST);
    }
  });

  test("an upstream that disconnects: 1011 to the caller, the response is billed by the received part", async () => {
    const { bench, connect } = setUp();
    const client = connect("gpt-realtime+cut");
    await client.open();
    client.say({ type: "response.create" });
    expect((await client.ended()).code).toBe(1011);
    await noHolds(bench);
    expect(bench.ledger.settlements.map(({ log }) => log.end_reason)).toEqual(["upstream_cut"]);
  });

  test("silence ends a session at the idle limit with an error event; frames of either side restart the limit", async () => {
    const time = new VirtualTime();
    const { bench, connect } = setUp((b) => (b.options.idleTimeoutMs = 1000), undefined, time);
    const client = connect("gpt-realtime");
    await client.heard("session.created");
    for (const count of [1, 2, 3]) {
      await time.advance(900);
      client.say({ type: "ping" });
      await client.heard("ping", count);
    }
    await time.advance(999);
    expect(client.closed).toBeUndefined();
    await time.advance(1);
    expect(await client.ended()).toEqual({ code: 1001, reason: "idle limit" });
    expect(client.events().at(-1)).toMatchObject({ type: "error", error: { code: "realtime_expired" } });
    await noHolds(bench);
  });

  test("a session lasts no longer than the total limit", async () => {
    const time = new VirtualTime();
    const { bench, connect } = setUp((b) => (b.options.totalTimeoutMs = 5000), undefined, time);
    const client = connect("gpt-realtime+slow");
    await client.open();
    await time.advance(4999);
    client.say({ type: "response.create" });
    await client.heard("response.output_audio.delta", 2);
    await time.advance(1);
    expect(await client.ended()).toEqual({ code: 1001, reason: "total limit" });
    await noHolds(bench);
    expect(bench.ledger.settlements.map(({ log }) => log.end_reason)).toEqual(["idle_timeout"]);
  });

  test("when their channel drains idle sessions close with 1001, and a running response may finish, charged", async () => {
    const { bench, connect } = setUp();
    const idle = connect("gpt-realtime");
    const busy = connect("gpt-realtime+slow");
    await Promise.all([idle.open(), busy.open()]);
    busy.say({ type: "response.create" });
    await busy.heard("response.created");
    bench.relay.endDrained();
    expect(bench.relay.running()).toEqual({ running: 2, channels: { 1: 2 }, keys: {} });
    bench.channels.splice(0, 1, makeChannel(1, upstream.url, { drain: { since: 1, deadline: 0 } }));
    bench.relay.endDrained();
    expect((await idle.ended()).code).toBe(1001);
    expect(busy.closed).toBeUndefined();
    busy.say({ type: "response.cancel" });
    await busy.heard("response.done");
    expect((await busy.ended()).code).toBe(1001);
    await noHolds(bench);
    expect(bench.relay.running().running).toBe(0);
    expect(bench.ledger.settlements.map(({ log }) => log.end_reason)).toEqual(["complete"]);
  });

  test("where drains leave sessions alone, they go on until the deadline", async () => {
    const { bench, connect } = setUp();
    bench.options.drainEndsRealtime = false;
    const session = connect("gpt-realtime");
    await session.open();
    const drained = (deadline: number) => {
      bench.channels.splice(0, 1, makeChannel(1, upstream.url, { drain: { since: 1, deadline } }));
      bench.relay.endDrained();
    };
    drained(0);
    drained(Math.floor(Date.now() / 1000) + 60);
    session.say({ type: "response.create" });
    await session.heard("response.done");
    expect(session.closed).toBeUndefined();
    drained(1);
    expect((await session.ended()).code).toBe(1001);
    await noHolds(bench);
  });

  test("at shutdown idle sessions close with 1001, a running response may finish, and one that does not is cut and charged", async () => {
    const time = new VirtualTime();
    const { bench, connect } = setUp(undefined, undefined, time);
    const idle = connect("gpt-realtime");
    const running = connect("gpt-realtime+slow");
    const endless = connect("gpt-realtime+slow");
    await Promise.all([idle.open(), running.open(), endless.open()]);
    for (const client of [running, endless]) {
      client.say({ type: "response.create" });
      await client.heard("response.created");
    }
    const stopped = bench.relay.stop(2000);
    expect((await idle.ended()).code).toBe(1001);
    expect(running.closed).toBeUndefined();
    running.say({ type: "response.cancel" });
    await running.heard("response.done");
    expect((await running.ended()).code).toBe(1001);
    expect(endless.closed).toBeUndefined();
    await time.advance(2000);
    await stopped;
    expect((await endless.ended()).code).toBe(1001);
    await noHolds(bench);
    expect(bench.ledger.settlements.map(({ log }) => log.end_reason).sort()).toEqual(["complete", "gateway_restart"]);
    const late = connect("gpt-realtime");
    expect(await until("refused", () => late.failure)).toContain("503");
    await noHolds(bench);
  });

  test("an exhausted account is reported inside the session: the error passes on, the channel is reported and put in cooldown", async () => {
    const { bench, connect } = setUp();
    const client = connect("gpt-realtime+exhausted");
    await respond(client);
    expect(client.events().find(({ type }) => type === "error")).toMatchObject({
      error: { code: "insufficient_quota" },
    });
    expect(bench.troubles).toMatchObject([{ channel: 1, disable: true }]);
    client.socket.close();
    await noHolds(bench);
  });
});

describe("limits", () => {
  test("a session is one concurrent call for as long as it lasts", async () => {
    const { bench, connect } = setUp((b) => (b.caller.concurrency = 1));
    const first = connect("gpt-realtime");
    await respond(first);
    const second = connect("gpt-realtime");
    expect(await until("refused", () => second.failure)).toContain("429");
    first.socket.close();
    await noHolds(bench);
    const third = connect("gpt-realtime");
    await third.open();
    third.socket.close();
    await noHolds(bench);
  });

  test("Azure: the deployment in the address, the key in api-key, the caller's model in the row", async () => {
    const azure = channelType(3);
    if (!azure) throw new Error("channel type 3 is missing");
    const { bench, connect } = setUp(undefined, [
      makeChannel(1, upstream.url, { type: azure, other: "2025-04-01-preview" }),
    ]);
    const client = connect("gpt-4.1-realtime");
    await respond(client);
    const { path, query, headers } = upstream.last();
    expect([path, query, headers["api-key"], headers.authorization]).toEqual([
      "/openai/realtime",
      { "api-version": "2025-04-01-preview", deployment: "gpt-41-realtime" },
      "upstream-key-1",
      undefined,
    ]);
    client.socket.close();
    await noHolds(bench);
    expect(bench.ledger.settlements.map(({ log }) => log.model_name)).toEqual(["gpt-4.1-realtime"]);
  });

  test("a channel at its own limit of calls is skipped by new sessions; a budget counts each response", async () => {
    const full = makeChannel(1, upstream.url, { priority: 5, limits: { concurrency: 1 } });
    const { bench, connect } = setUp((b) => (b.caller.budget_day = COST + 2000), [full, makeChannel(2, upstream.url)]);
    const first = connect("gpt-realtime");
    await respond(first);
    const second = connect("gpt-realtime");
    await second.open();
    expect(upstream.connections.slice(-2).map(({ headers }) => headers.authorization)).toEqual([
      "Bearer upstream-key-1",
      "Bearer upstream-key-2",
    ]);
    first.say({ type: "response.create" });
    await first.heard("response.done", 2);
    first.say({ type: "response.create" });
    second.say({ type: "response.create" });
    await until("one of them over the budget", () =>
      [first, second].some((client) => client.closed?.reason === "budget_day_used_up"),
    );
    for (const client of [first, second]) client.socket.close();
    await noHolds(bench);
  });

  test("the session and each response are requests: the one beyond the limit ends the session with 1008 and is still charged", async () => {
    const { bench, connect } = setUp((b) => (b.caller.rpm = 2));
    const client = connect("gpt-realtime");
    await respond(client);
    client.say({ type: "response.create" });
    expect(await client.ended()).toEqual({ code: 1008, reason: "rate_limited_requests" });
    expect(client.events().at(-1)).toMatchObject({ type: "error", error: { code: "rate_limited_requests" } });
    await noHolds(bench);
    expect(bench.ledger.settlements).toHaveLength(2);
  });
});

test("each response costs what the rule of its own hold's moment says", async () => {
  let now = Date.parse("2026-11-23T11:00:00Z");
  const hours = [{ zone: "UTC", from: "12:00", to: "13:00" }];
  const { bench, connect } = setUp(({ controlPlane, options }) => {
    // The estimate is then less than what the last response cost, which is held at least.
    options.preConsumedTokens = 16;
    const price = {
      ...ratioPrice("gpt-realtime", "default", 1),
      rules: [{ name: "noon", when: { hours }, then: { factor: 3 } }],
    };
    controlPlane.price = () => price;
    controlPlane.now = () => now;
  });
  const client = connect("gpt-realtime");
  await client.open();
  await client.heard("session.created");
  // The first response is held already, the second is held when the first is done.
  now += 3_600_000;
  for (const count of [1, 2]) {
    await respond(client, count);
    await until("charged", () => bench.ledger.settlements.length === count);
    await until("held", () => bench.ledger.holds.size === 1);
    now -= 3_600_000;
  }
  client.socket.close();
  await noHolds(bench);
  expect(bench.ledger.settlements.map(({ quota, log }) => [quota, log.price_rule])).toEqual([
    [COST, ""],
    [COST * 3, "noon"],
  ]);
  expect(bench.ledger.holdRequests[1]?.amount).toBe(COST * 3);
});
