/**
 * Requests that are sent on one connection before the first is answered (pipelining, RFC 9112, 9.3.2): Bun closes the
 * connection, so what nothing can be delivered of is not asked of any channel and not charged.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { LOG_TYPE } from "../../src/shared/log";
import { ENGINES } from "../kit/databases";
import { type FakeUpstream, startFakeUpstream } from "../kit/fake-upstream/server";
import { until } from "../kit/until";
import { startWeir, type Weir } from "../kit/weir";

const FAST = "echo";

describe.each(ENGINES)("pipelined requests on %s", (engine) => {
  let upstream: FakeUpstream;
  let weir: Weir;
  let key = "";
  beforeAll(async () => {
    upstream = startFakeUpstream();
    weir = await startWeir({ engine });
    await weir.newChannel({ base_url: upstream.url, models: [FAST] });
    await weir.priceModels({ [FAST]: 1 });
    ({ key } = await weir.newToken());
  }, 60_000);
  afterAll(async () => {
    await weir.stop();
    upstream.close();
  });

  const post = (stream = false): string => {
    const body = JSON.stringify({ model: FAST, stream, messages: [{ role: "user", content: "hello" }] });
    return (
      `POST /v1/chat/completions HTTP/1.1\r\nhost: weir\r\nauthorization: Bearer ${key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    );
  };
  const get = (): string => `GET /v1/models HTTP/1.1\r\nhost: weir\r\nauthorization: Bearer ${key}\r\n\r\n`;

  /** Sends the text at once; resolves with what came back when the connection is closed, or when `enough` came. */
  const exchange = (text: string, enough: (got: string) => boolean = () => false): Promise<string> =>
    new Promise((resolve, reject) => {
      let got = "";
      const { hostname, port } = new URL(weir.url);
      const socket = connect(Number(port), hostname, () => void socket.write(text));
      socket.on("data", (bytes) => {
        got += bytes.toString("latin1");
        if (enough(got)) socket.destroy();
      });
      socket.on("error", reject);
      socket.on("close", () => resolve(got));
    });

  for (const [title, text] of [
    ["two calls", () => post() + post()],
    ["five calls", () => post().repeat(5)],
    ["twenty calls", () => post().repeat(20)],
    ["a streamed call and another", () => post(true) + post()],
    ["a call and a list of models", () => post() + get()],
  ] as const) {
    test(`${title} in one packet are not answered, not asked of the channel and not charged`, async () => {
      const before = (await weir.logs()).length;
      const asked = upstream.journal.entries.length;
      expect(await exchange(text())).toBe("");
      await until("its row is written", async () => (await weir.logs()).length > before);
      expect((await weir.logs()).slice(before)).toMatchObject([
        { type: LOG_TYPE.error, code: "caller_left", quota: 0, end_reason: "refused", model_name: FAST },
      ]);
      expect(await weir.holds()).toBe(0);
      expect(upstream.journal.entries.length).toBe(asked);
      expect(await weir.audit()).toEqual([]);
    });
  }

  test("calls one after the other on one connection are answered and charged", async () => {
    const before = (await weir.logs()).length;
    const { hostname, port } = new URL(weir.url);
    const socket = connect(Number(port), hostname);
    let got = "";
    socket.on("data", (bytes) => (got += bytes.toString("latin1")));
    for (let call = 1; call <= 3; call++) {
      socket.write(post());
      await until("an answer", async () => got.split("HTTP/1.1 200").length === call + 1 && got.endsWith("}"));
    }
    socket.destroy();
    await until("three rows", async () => (await weir.logs()).length === before + 3);
    for (const row of (await weir.logs()).slice(before)) expect(row).toMatchObject({ end_reason: "complete" });
  });
});
