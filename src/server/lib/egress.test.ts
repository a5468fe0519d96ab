import { afterAll, describe, expect, test } from "bun:test";
import { egressFetch, ResponseTooLarge } from "./egress";

const seen: { path: string; host: string | null; authorization: string | null }[] = [];
const server: Bun.Server<undefined> = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request): Response {
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
});
