import { describe, expect, test } from "bun:test";
import { makeChannel, VirtualTime } from "../../../../tests/relay/kit";
import { UpstreamError } from "../../protocol/upstream-error";
import { AccessTokenCache } from "./access-token-cache";
import { tokenRefused, type ProviderServices, providerContextFor } from "./provider-context";

const channel = makeChannel(1, "https://up.example");

describe("a channel's access token", () => {
  test("is fetched once for all waiting calls, cached, and renewed a minute before it expires", async () => {
    let now = 0;
    let asked = 0;
    const tokens = new AccessTokenCache();
    const get = () =>
      tokens.get(
        channel,
        () => now,
        async () => ({ token: `t${++asked}`, expires_in: 3600 }),
      );
    expect(await Promise.all([get(), get(), get()])).toEqual(["t1", "t1", "t1"]);
    now = 3_539_999;
    expect(await get()).toBe("t1");
    now = 3_540_000;
    expect(await get()).toBe("t2");
  });

  test("with a short lifetime is cached for half of it; one without a lifetime is fetched for every call", async () => {
    let now = 0;
    let asked = 0;
    const tokens = new AccessTokenCache();
    const get = (expires_in: number) =>
      tokens.get(
        channel,
        () => now,
        async () => ({ token: `t${++asked}`, expires_in }),
      );
    await get(60);
    now = 29_999;
    expect(await get(60)).toBe("t1");
    now = 30_000;
    expect(await get(0)).toBe("t2");
    expect(await get(0)).toBe("t3");
  });

  test("belongs to the channel and its key: a changed key, another channel or a dropped token is fetched again", async () => {
    let asked = 0;
    const tokens = new AccessTokenCache();
    const get = (of: typeof channel) =>
      tokens.get(
        of,
        () => 0,
        async () => ({ token: `t${++asked}`, expires_in: 60 }),
      );
    expect(await get(channel)).toBe("t1");
    expect(await get({ ...channel, key: "new" })).toBe("t2");
    expect(await get({ ...channel, id: 2 })).toBe("t3");
    expect(await get(channel)).toBe("t1");
    tokens.drop(channel);
    expect(await get(channel)).toBe("t4");
  });

  test("an aborted call cancels only its own fetch: waiting calls fetch themselves, and failures are not cached", async () => {
    const tokens = new AccessTokenCache();
    const first = Promise.withResolvers<{ token: string; expires_in: number }>();
    const left = tokens.get(
      channel,
      () => 0,
      () => first.promise,
    );
    const waited = tokens.get(
      channel,
      () => 0,
      async () => ({ token: "mine", expires_in: 60 }),
    );
    first.reject(new Error("left"));
    await expect(left).rejects.toThrow("left");
    expect(await waited).toBe("mine");
  });
});

test("a vendor that refuses the credentials faults the key, one that is down or busy does not", () => {
  const classOf = (status: number): string => {
    const failed = tokenRefused(status, "no");
    expect(failed).toBeInstanceOf(UpstreamError);
    return failed.failure.kind;
  };
  expect([200, 400, 401, 403].map(classOf)).toEqual(Array(4).fill("bad_credentials"));
  expect([429, 500, 503].map(classOf)).toEqual(["rate_limited", "server_error", "overloaded"]);
});

test("tools fetch under the call's signal and the channel's proxy, follow no redirect, and wait only as long as the call", async () => {
  const time = new VirtualTime();
  const seen: BunFetchRequestInit[] = [];
  const box: ProviderServices = {
    timers: time.timers,
    accessTokens: new AccessTokenCache(),
    fetch: async (_, init) => {
      seen.push(init);
      return new Response();
    },
  };
  const leaving = new AbortController();
  const context = providerContextFor(box, { ...channel, setting: { proxy: "http://p" } }, leaving.signal, time.now);
  await context.fetch("https://x", { method: "POST" });
  expect(seen).toMatchObject([{ method: "POST", redirect: "manual", proxy: "http://p", signal: leaving.signal }]);
  const waited = context.wait(1000);
  await time.advance(1000);
  await waited;
  const endless = context.wait(1_000_000);
  leaving.abort();
  await expect(endless).rejects.toThrow();
  await expect(context.wait(1)).rejects.toThrow();
  expect(time.waiting).toBe(0);
});
