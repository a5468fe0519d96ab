/** A vendor with a WebSocket (Spark): the outcome of a call when the connection misbehaves. */
import { afterAll, expect, test } from "bun:test";
import { channelType } from "../../src/shared/channel-types";
import { probe } from "../../src/server/features/channel/probe";
import { type Bench, makeBench, makeChannel, pieces, VirtualTime } from "./kit";

const frame = (status: number, content: string): string =>
  JSON.stringify({
    header: { code: 0, message: "Success", sid: "s1", status },
    payload: { choices: { status, seq: status, text: [{ content, role: "assistant", index: 0 }] } },
  });

interface Vendor {
  /** The behaviour when the call's frame arrives. */
  asked?(socket: Bun.ServerWebSocket<undefined>): void;
  closed?(): void;
  /** Instead of the handshake. */
  refuse?: Response;
}

const stops: (() => void)[] = [];
afterAll(() => stops.forEach((stop) => stop()));

function benchWith(vendor: Vendor, time?: VirtualTime): Bench {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, self) =>
      vendor.refuse?.clone() ?? (self.upgrade(request) ? undefined : new Response("", { status: 400 })),
    websocket: { message: (socket) => vendor.asked?.(socket as never), close: () => vendor.closed?.() },
  });
  stops.push(() => void server.stop(true));
  const type = channelType(18);
  if (!type) throw new Error("no channel type 18");
  return makeBench(
    [makeChannel(1, `ws://127.0.0.1:${server.port}`, { type, key: "app|secret|key", other: "v3.5" })],
    time && { timers: time.timers, now: time.now },
  );
}

const call = (bench: Bench, stream: boolean) =>
  bench.send("/v1/chat/completions", { model: "generalv3.5", stream, messages: [{ role: "user", content: "hello" }] });
const attempts = (bench: Bench): unknown =>
  (JSON.parse(bench.failures[0]?.other ?? "{}") as { admin_info?: { attempts?: unknown } }).admin_info?.attempts;

test.each([
  [401, "bad_credentials"],
  [403, "forbidden"],
  [404, "unreachable"],
])("a handshake refused with %d is judged as %s", async (status, failure) => {
  const bench = benchWith({ refuse: Response.json({ message: "HMAC signature does not match" }, { status }) });
  expect((await call(bench, false)).status).toBe(502);
  // A dead key is not tried again at once.
  expect((await call(bench, true)).status).toBe(status === 401 ? 503 : 502);
  await bench.quiet();
  expect(attempts(bench)).toMatchObject([{ failure }]);
  expect(bench.ledger.charged).toBe(0);
});

test("a plain answer that never ends counts as cut, and nothing is charged", async () => {
  const bench = benchWith({
    asked(socket) {
      socket.send(frame(0, "half an"));
      socket.close();
    },
  });
  expect((await call(bench, false)).status).toBe(502);
  await bench.quiet();
  expect(attempts(bench)).toMatchObject([{ failure: "cut" }]);
  expect(bench.ledger.charged).toBe(0);
});

test("a stream that breaks ends with an error and without the final frame", async () => {
  const bench = benchWith({
    asked(socket) {
      socket.send(frame(0, "half an"));
      socket.terminate();
    },
  });
  const text = await (await call(bench, true)).text();
  await bench.quiet();
  expect(text).toContain("half an");
  expect(text).toContain('"error"');
  expect(text).not.toContain("[DONE]");
  expect(bench.ledger.settlements.at(-1)?.log.end_reason).toBe("upstream_cut");
});

test("the channel test calls it too, and says why it was refused", async () => {
  const usage = { usage: { text: { question_tokens: 1, prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } } };
  const last = JSON.parse(frame(2, "hi")) as { payload: object };
  const good = benchWith({
    asked: (socket) => void socket.send(JSON.stringify({ ...last, payload: { ...last.payload, ...usage } })),
  });
  const [channel] = good.channels;
  if (!channel) throw new Error("no channel");
  expect(await probe(channel, "generalv3.5", 10_000)).toMatchObject({
    problem: "",
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  });
  const bad = benchWith({ refuse: Response.json({ message: "HMAC signature does not match" }, { status: 401 }) });
  const [refused] = bad.channels;
  if (!refused) throw new Error("no channel");
  expect(await probe(refused, "generalv3.5", 10_000)).toMatchObject({
    problem: "HTTP 401: HMAC signature does not match",
    trouble: { status: 401, disable: true },
  });
});

test("a frame that is not JSON is malformed", async () => {
  const bench = benchWith({ asked: (socket) => void socket.send("<html>") });
  expect((await call(bench, true)).status).toBe(502);
  await bench.quiet();
  expect(attempts(bench)).toMatchObject([{ failure: "malformed" }]);
});

test("a caller's disconnect closes the vendor's connection too", async () => {
  const closed = Promise.withResolvers<void>();
  const time = new VirtualTime();
  // An answer without end.
  const bench = benchWith({ asked: (socket) => void socket.send(frame(0, "word ")), closed: closed.resolve }, time);
  const reader = pieces(await call(bench, true));
  await reader.next();
  await reader.leave();
  // Weir waits briefly for the rest.
  await time.advance(10_000);
  await bench.quiet();
  await closed.promise;
  expect(bench.ledger.holds.size).toBe(0);
  expect(bench.ledger.settlements.at(-1)?.log.end_reason).toBe("caller_left");
}, 20_000);
