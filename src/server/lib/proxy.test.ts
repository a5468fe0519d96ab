import { afterAll, describe, expect, test } from "bun:test";
import { startSocks } from "../../../tests/kit/socks-server";
import { fetchThrough, ProxyFailed } from "./proxy";

const seen: string[] = [];
const upstream = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    seen.push(
      `${request.method} ${new URL(request.url).pathname} ${request.headers.get("proxy-authorization") ?? "-"}`,
    );
    return new Response(`said ${await request.text()}`);
  },
});
afterAll(() => upstream.stop(true));

const address = (path: string): string => `http://127.0.0.1:${upstream.port}${path}`;
const post = (proxy: string, body: string): BunFetchRequestInit => ({ method: "POST", body, proxy });

/** The error of a call through a proxy that does not work. */
async function failure(proxy: string, url = address("/never")): Promise<unknown> {
  try {
    await fetchThrough(url, { proxy });
    return "answered";
  } catch (error) {
    return error;
  }
}

describe("a call through a SOCKS server", () => {
  test("arrives with its body and without the bridge's credentials, and the answer comes back", async () => {
    using socks = await startSocks();
    const response = await fetchThrough(address("/socks?x=1"), post(socks.url, "hello"));
    expect(await response.text()).toBe("said hello");
    expect(socks.asked).toEqual([`127.0.0.1:${upstream.port}`]);
    expect(seen).toContain("POST /socks -");
  });

  test("names reach the SOCKS server unresolved", async () => {
    using socks = await startSocks();
    const response = await fetchThrough(`http://nowhere.invalid:${upstream.port}/named`, post(socks.url, "a"));
    expect(response.status).toBe(200);
    expect(socks.asked).toEqual([`nowhere.invalid:${upstream.port}`]);
  });

  test("its user and password are used, escaped ones too, and wrong ones fail", async () => {
    using socks = await startSocks("ann:p@ss");
    expect((await fetchThrough(address("/login"), post(socks.url.replace("p@ss", "p%40ss"), "b"))).status).toBe(200);
    expect(await failure(socks.url.replace("ann:p@ss", "ann:other"))).toBeInstanceOf(ProxyFailed);
    expect(await failure(socks.url.replace("ann:p@ss@", ""))).toBeInstanceOf(ProxyFailed);
  });

  test("a large body and many calls at once arrive whole", async () => {
    using socks = await startSocks();
    const body = "x".repeat(2_000_000);
    const lengths = await Promise.all(
      Array.from(
        { length: 8 },
        async () => (await (await fetchThrough(address("/large"), post(socks.url, body))).text()).length,
      ),
    );
    expect(lengths).toEqual(Array.from({ length: 8 }, () => body.length + 5));
  });

  test("https goes through a tunnel that the SOCKS server opened", async () => {
    using socks = await startSocks();
    // The upstream speaks no TLS: that the handshake reached it and failed there is enough.
    const error = await failure(socks.url, `https://127.0.0.1:${upstream.port}/tls`);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(ProxyFailed);
    expect(socks.asked).toEqual([`127.0.0.1:${upstream.port}`]);
  });
});

describe("a proxy that does not work", () => {
  test.each(["socks5://127.0.0.1:1", "http://127.0.0.1:1", "ftp://127.0.0.1:1", "nonsense", "socks5://", "http://"])(
    "%s fails the call, and nothing goes directly",
    async (proxy) => {
      const before = seen.length;
      expect(await failure(proxy)).toBeInstanceOf(Error);
      expect(seen.length).toBe(before);
    },
  );

  test("a host that the SOCKS server cannot reach fails as the proxy does, for https too", async () => {
    using socks = await startSocks();
    expect(await failure(socks.url, "http://127.0.0.1:1/")).toBeInstanceOf(ProxyFailed);
    expect(await failure(socks.url, "https://127.0.0.1:1/")).toBeInstanceOf(Error);
  });

  test("an HTTP proxy that refuses fails the call instead of answering it", async () => {
    using proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("denied", { status: 407 }) });
    expect(await failure(`http://127.0.0.1:${proxy.port}`)).toBeInstanceOf(ProxyFailed);
  });

  test("NO_PROXY of the environment does not open a way past it", async () => {
    const saved = process.env.NO_PROXY;
    process.env.NO_PROXY = "127.0.0.1";
    try {
      const before = seen.length;
      expect(await failure("http://127.0.0.1:1")).toBeInstanceOf(Error);
      expect(seen.length).toBe(before);
    } finally {
      if (saved === undefined) delete process.env.NO_PROXY;
      else process.env.NO_PROXY = saved;
    }
  });
});
