import { describe, expect, test } from "bun:test";
import { BUCKETS, CallCounts, OTHER } from "./calls";
import { createScrapeGuard } from "./page";

type Ended = Parameters<CallCounts["ended"]>;

/** The part of a call that is counted. */
const call = (model: string, ms = 0): Ended[0] => {
  const facts = {
    asked: {
      caller: { group: "auto" },
      request: { model, stream: true },
      operation: { key: "chat" },
      engine: { controlPlane: { now: () => 1000 + ms } },
    },
    progress: { began: 1000, first_content_at: 1000 + ms / 2 },
  };
  return facts as unknown as Ended[0];
};
/** The attempt that served, in another group than the one that was asked for. */
const served = { caller: { group: "vip" }, channel: { type: { key: "openai" } } } as unknown as Ended[1]["attempt"];
const end = {
  attempt: served,
  end_reason: "complete",
  quota: 7,
  usage: { input: 10, cache_read: 30, output: 5, reasoning: 2 },
} as const;

describe("counting calls", () => {
  test("tokens, units and ends are summed per group that served, model and channel type", () => {
    const counts = new CallCounts();
    counts.ended(call("m"), end);
    counts.ended(call("m"), { ...end, end_reason: "upstream_cut", usage: undefined });
    const [series] = counts.series.values();
    expect(series).toMatchObject({
      group: "vip",
      model: "m",
      channel_type: "openai",
      input: 40,
      cached: 30,
      output: 7,
      units: 14,
    });
    expect([...(series?.ends ?? [])]).toEqual([
      ["complete", 1],
      ["upstream_cut", 1],
    ]);
  });

  test("however many models are asked for, the number of series is bounded: the rest is other", () => {
    const counts = new CallCounts();
    for (let i = 0; i < 10_000; i++) counts.ended(call(`model-${i}`), end);
    expect(counts.series.size).toBe(2001);
    const total = [...counts.series.values()].reduce((sum, { units }) => sum + units, 0);
    expect(total).toBe(70_000);
    expect(counts.series.get(`${OTHER}\n${OTHER}\n${OTHER}`)?.units).toBe(8_000 * 7);
  });

  test("a duration falls into the first bucket that holds it, bounds included, and beyond all bounds into the last", () => {
    const counts = new CallCounts();
    for (const ms of [0, 50, 51, 600_000, 600_001]) counts.ended(call("m", ms), end);
    const filled = counts.times.get("chat")?.duration.counts ?? [];
    expect(filled.length).toBe(BUCKETS.length + 1);
    expect([filled[0], filled[1], filled[BUCKETS.length - 1], filled[BUCKETS.length]]).toEqual([2, 1, 1, 1]);
  });
});

describe("who may read /metrics", () => {
  const from = (peer: string, headers: Record<string, string> = {}) => ({
    peer,
    headers: new Headers({ host: "localhost:3000", ...headers }),
  });
  const bearer = (authorization: string) => from("203.0.113.9", { authorization });

  test("no one while neither token nor addresses are set, this machine included", () => {
    const mayScrape = createScrapeGuard({ WEIR_METRICS_TOKEN: "", WEIR_METRICS_ADDRESSES: [] });
    for (const peer of ["127.0.0.1", "::1", "10.0.0.5"]) expect(mayScrape(from(peer))).toBe(false);
    expect(mayScrape(bearer("Bearer "))).toBe(false);
  });

  test("a scraper with the token, from anywhere, and no other", () => {
    const mayScrape = createScrapeGuard({ WEIR_METRICS_TOKEN: "secret-token", WEIR_METRICS_ADDRESSES: [] });
    expect(mayScrape(bearer("Bearer secret-token"))).toBe(true);
    for (const authorization of ["", "secret-token", "Bearer ", "Bearer secret-toke", "bearer secret-token"])
      expect(mayScrape(bearer(authorization))).toBe(false);
    expect(mayScrape(from("127.0.0.1"))).toBe(false);
  });

  test("sockets of the listed addresses, whatever their headers say", () => {
    const mayScrape = createScrapeGuard({
      WEIR_METRICS_TOKEN: "secret-token",
      WEIR_METRICS_ADDRESSES: ["10.0.0.0/8", "::1"],
    });
    for (const peer of ["10.1.2.3", "::ffff:10.1.2.3", "::1"]) expect(mayScrape(from(peer))).toBe(true);
    expect(mayScrape(from("127.0.0.1", { "x-forwarded-for": "10.1.2.3" }))).toBe(false);
    expect(mayScrape(bearer("Bearer secret-token"))).toBe(true);
  });
});
