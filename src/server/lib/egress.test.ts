import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { EGRESS_MAX_BYTES, EGRESS_TIMEOUT_MS, egressFetch, egressOpen, readLimited, ResponseTooLarge } from "./egress";

const seen: { path: string; host: string | null; authorization: string | null }[] = [];
const server: Bun.Server<undefined> = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request): Response | Promise<Response> {
    const { pathname } = new URL(request.url);
    seen.push({
      path: pathname,
      host: request.headers.get("host"),
      authorization: request.headers.get("authorization"),
    });
    if (pathname === "/to-metadata") return Response.redirect("http://169.254.169.254/latest", 302);
    if (pathname === "/to-other-host") return Response.redirect(`http://other.example:${server.port}/end`, 302);
    if (pathname === "/to-self") return Response.redirect("/end", 302);
    if (pathname === "/loop") return Response.redirect("/loop", 302);
    if (pathname === "/asked") return new Response(`${request.method} ${request.headers.get("x-own") ?? ""}`);
    if (pathname === "/said") return request.text().then((text) => new Response(`${request.method} ${text}`));
    const hops = /^\/hops\/(\d+)$/.exec(pathname)?.[1];
    if (hops !== undefined)
      return Number(hops) === 0 ? new Response("end") : Response.redirect(`/hops/${Number(hops) - 1}`, 307);
    const status = /^\/status\/(\d+)$/.exec(pathname)?.[1];
    if (status !== undefined)
      return new Response("as it is", { status: Number(status), headers: { location: "/end" } });
    if (pathname === "/nowhere") return new Response("no location", { status: 302 });
    if (pathname === "/slow") return new Promise(() => undefined);
    if (pathname === "/big") return new Response("x".repeat(100_000));
    return new Response("end");
  },
});
afterAll(() => server.stop(true));

const at = (path: string, host = "127.0.0.1") => `http://${host}:${server.port}${path}`;
const toServer = async () => ["127.0.0.1"];
const code = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error) => error.code ?? error.name,
  );

describe("egress", () => {
  const forms = [
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "0.0.0.0",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "localhost",
    "127.1",
  ];
  for (const host of forms) {
    test(`refuses to reach this machine as ${host}, without connecting`, async () => {
      const before = seen.length;
      expect(await code(egressFetch(at("/x", host), { allowPrivate: false }))).toBe("address_forbidden");
      expect(seen.length).toBe(before);
    });
  }

  test("refuses a name when any of its addresses is not public", async () => {
    const resolve = async () => ["8.8.8.8", "127.0.0.1"];
    expect(await code(egressFetch(at("/x", "two.example"), { allowPrivate: false, resolve }))).toBe(
      "address_forbidden",
    );
  });

  test("refuses other schemes, credentials in the address and what is no address", async () => {
    for (const url of ["file:///etc/passwd", "ftp://a.example/", "http://u:p@a.example/", "", "http://"]) {
      expect(await code(egressFetch(url, { allowPrivate: true, resolve: toServer }))).toBe("address_forbidden");
    }
  });

  test("connects to the address it checked, under the name in the URL, and asks the resolver once", async () => {
    let asked = 0;
    const resolve = async () => (asked++, ["127.0.0.1"]);
    const answer = await egressFetch(at("/end", "name.example"), { allowPrivate: true, resolve });
    expect(answer).toMatchObject({ status: 200, text: "end" });
    expect(seen.at(-1)).toMatchObject({ path: "/end", host: `name.example:${server.port}` });
    expect(asked).toBe(1);
  });

  test("checks the target of a redirect like the first address", async () => {
    let first = true;
    // The first host counts as public; the redirect leads to the metadata address.
    const isAllowed = {
      resolve: toServer,
      get allowPrivate() {
        return first && !(first = false);
      },
    };
    expect(await code(egressFetch(at("/to-metadata", "public.example"), isAllowed))).toBe("address_forbidden");
  });

  test("drops the caller's headers when a redirect leaves the origin, and keeps them within it", async () => {
    const headers = { authorization: "Bearer secret" };
    await egressFetch(at("/to-other-host", "a.example"), { allowPrivate: true, resolve: toServer, headers });
    expect(seen.at(-1)).toMatchObject({ path: "/end", authorization: null });
    await egressFetch(at("/to-self", "a.example"), { allowPrivate: true, resolve: toServer, headers });
    expect(seen.at(-1)).toMatchObject({ path: "/end", authorization: "Bearer secret" });
  });

  test("gives up on a redirect loop", async () => {
    expect(await code(egressFetch(at("/loop"), { allowPrivate: true }))).toBe("address_forbidden");
  });

  test("stops reading a response that is too large", async () => {
    await expect(egressFetch(at("/big"), { allowPrivate: true, maxBytes: 1000 })).rejects.toBeInstanceOf(
      ResponseTooLarge,
    );
  });

  test("reads an answer that is as large as it may be, and not a byte more", async () => {
    const answer = await egressFetch(at("/big"), { allowPrivate: true, maxBytes: 100_000 });
    expect(answer.text).toHaveLength(100_000);
    expect(await code(egressFetch(at("/big"), { allowPrivate: true, maxBytes: 99_999 }))).toBe("ResponseTooLarge");
    expect([EGRESS_MAX_BYTES, EGRESS_TIMEOUT_MS]).toEqual([4_194_304, 15_000]);
  });

  test("lets go of an answer that is too large", async () => {
    let cancelled = false;
    const endless = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
      cancel: () => void (cancelled = true),
    });
    await expect(readLimited(new Response(endless), 10_000)).rejects.toBeInstanceOf(ResponseTooLarge);
    expect(cancelled).toBe(true);
    expect(await readLimited(new Response(null), 0)).toBe("");
  });

  test("refuses a user's name without a password, and a password without a name", async () => {
    for (const url of ["http://u@a.example/", "http://:p@a.example/"])
      expect(await code(egressFetch(url, { allowPrivate: true, resolve: toServer }))).toBe("address_forbidden");
  });

  test("refuses a name that has no address", async () => {
    expect(await code(egressFetch(at("/x", "none.example"), { allowPrivate: true, resolve: async () => [] }))).toBe(
      "address_forbidden",
    );
  });

  test("asks no resolver for an address", async () => {
    const resolve = async (host: string): Promise<string[]> => {
      throw new Error(`asked for ${host}`);
    };
    expect((await egressFetch(at("/end"), { allowPrivate: true, resolve })).text).toBe("end");
    // Four numbers and more are a name.
    expect(await code(egressFetch(at("/end", "1.2.3.4.example"), { allowPrivate: true, resolve }))).toBe("Error");
  });

  test("connects to an address of IPv6, found or typed", async () => {
    const asked: string[] = [];
    const fetches = spyOn(globalThis, "fetch").mockImplementation(((url: URL) => {
      asked.push(url.href);
      return Promise.resolve(new Response("six"));
    }) as typeof fetch);
    const found = "2001:4860:4860::8888";
    const resolve = async (): Promise<string[]> => [found];
    await egressFetch("http://six.example:8080/x", { allowPrivate: false, resolve });
    const never = async (): Promise<string[]> => ["127.0.0.1"];
    await egressFetch(`http://[${found}]/y`, { allowPrivate: false, resolve: never });
    fetches.mockRestore();
    expect(asked).toEqual([`http://[${found}]:8080/x`, `http://[${found}]/y`]);
  });

  test("asks by GET unless told otherwise, with the headers and the body that it is given", async () => {
    const headers = { "x-own": "mine" };
    expect((await egressFetch(at("/asked"), { allowPrivate: true, headers })).text).toBe("GET mine");
    expect((await egressFetch(at("/said"), { allowPrivate: true, method: "POST", body: "hello" })).text).toBe(
      "POST hello",
    );
  });

  test("follows three redirects and no fourth, or as many as it is told", async () => {
    expect((await egressFetch(at("/hops/3"), { allowPrivate: true })).text).toBe("end");
    expect(await code(egressFetch(at("/hops/4"), { allowPrivate: true }))).toBe("address_forbidden");
    expect(await code(egressFetch(at("/hops/1"), { allowPrivate: true, maxRedirects: 0 }))).toBe("address_forbidden");
    expect((await egressFetch(at("/hops/4"), { allowPrivate: true, maxRedirects: 4 })).text).toBe("end");
  });

  test("never sends a body twice", async () => {
    const before = seen.length;
    expect(await code(egressFetch(at("/hops/1"), { allowPrivate: true, method: "POST", body: "x" }))).toBe(
      "address_forbidden",
    );
    expect(seen.length).toBe(before + 1);
  });

  test("follows what redirects, and nothing else that names a place", async () => {
    for (const status of [201, 299, 400, 404, 500])
      expect(await egressFetch(at(`/status/${status}`), { allowPrivate: true })).toMatchObject({
        status,
        text: "as it is",
      });
    for (const status of [300, 303, 308, 399])
      expect([status, (await egressFetch(at(`/status/${status}`), { allowPrivate: true })).text]).toEqual([
        status,
        "end",
      ]);
    expect(await egressFetch(at("/nowhere"), { allowPrivate: true })).toMatchObject({
      status: 302,
      text: "no location",
    });
  });

  test("is over when its time is, or when its caller says so", async () => {
    expect(await code(egressFetch(at("/slow"), { allowPrivate: true, timeoutMs: 30 }))).toBe(23);
    const stop = new AbortController();
    const asking = code(egressFetch(at("/slow"), { allowPrivate: true, signal: stop.signal }));
    stop.abort();
    expect(await asking).toBe(20);
  });
});

describe("a worker that fetches in this server's place", () => {
  const heard: { url: string; body: unknown }[] = [];
  const worker = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      heard.push({ url: request.url, body: await request.json() });
      return new Response("by the worker", { status: 203 });
    },
  });
  afterAll(() => worker.stop(true));
  const by = { url: `http://127.0.0.1:${worker.port}/fetch`, key: "worker-key" };
  const publicly = async (): Promise<string[]> => ["8.8.8.8"];

  test("is told address, key, method, headers and body, and its answer is the answer", async () => {
    const options = { allowPrivate: false, worker: by, resolve: publicly };
    expect(await egressFetch("http://far.example/x?y=1", options)).toMatchObject({
      status: 203,
      text: "by the worker",
    });
    expect(heard.at(-1)?.body).toEqual({
      url: "http://far.example/x?y=1",
      key: "worker-key",
      method: "GET",
      headers: {},
      body: "",
    });
    await egressFetch("http://far.example/x", { ...options, method: "POST", headers: { a: "b" }, body: "text" });
    expect(heard.at(-1)?.body).toMatchObject({ method: "POST", headers: { a: "b" }, body: "text" });
  });

  test("is not asked for what is known here to be private", async () => {
    const before = heard.length;
    const options = { allowPrivate: false, worker: by };
    expect(await code(egressFetch("http://127.0.0.1/", options))).toBe("address_forbidden");
    const inside = async (): Promise<string[]> => ["10.0.0.1"];
    expect(await code(egressFetch("http://inside.example/", { ...options, resolve: inside }))).toBe(
      "address_forbidden",
    );
    expect(await code(egressFetch("ftp://far.example/", { ...options, resolve: publicly }))).toBe("address_forbidden");
    expect(heard.length).toBe(before);
  });

  test("is asked for a name that only it may know", async () => {
    const resolve = (): Promise<string[]> => Promise.reject(new Error("no such name"));
    expect((await egressFetch("http://unknown.example/", { allowPrivate: false, worker: by, resolve })).status).toBe(
      203,
    );
  });

  test("takes no bytes: they are sent from here", async () => {
    const before = heard.length;
    const bytes = new TextEncoder().encode("bytes");
    const response = await egressOpen(
      at("/said"),
      { allowPrivate: true, worker: by, method: "POST", body: bytes },
      AbortSignal.timeout(5_000),
    );
    expect([await response.text(), heard.length]).toEqual(["POST bytes", before]);
  });
});
