/** Addresses entered by users lead only to the public Internet (docs/security.md). */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { egressFetch } from "../../src/server/lib/egress";
import { HOOK_MS } from "../kit/harness";
import { type Session, startWeir, type Weir } from "../kit/weir";

const seen: string[] = [];
const trap = Bun.serve({
  port: 0,
  hostname: "0.0.0.0",
  fetch(request) {
    seen.push(`${request.method} ${request.url}`);
    return Response.json({ success: true, data: [] });
  },
});

/** Every spelling of this machine and of networks that are not public, as a host. */
const HOSTS = [
  "127.0.0.1",
  "127.1",
  "localhost",
  "localhost.",
  "LOCALHOST",
  "0.0.0.0",
  "0",
  "2130706433",
  "0x7f000001",
  "0x7f.0.0.1",
  "0177.0.0.1",
  "017700000001",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[2002:7f00:0001::]",
  "[64:ff9b::7f00:1]",
  "[64:ff9b:1::7f00:1]",
  "[fec0::1]",
  "[fe80::1]",
  "[fc00::1]",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "169.254.169.254",
  "[fd00:ec2::254]",
  "198.18.0.1",
  "192.0.0.192",
  "224.0.0.1",
  "255.255.255.255",
  "①②⑦.0.0.1",
];
const addresses = HOSTS.map((host) => `http://${host}:${trap.port}/x`);
const ODD = [
  `http://127.0.0.1:${trap.port}@example.com:99999/`,
  `http://user:password@127.0.0.1:${trap.port}/`,
  "file:///etc/passwd",
  "gopher://127.0.0.1/",
  "ftp://127.0.0.1/",
  "javascript:alert(1)",
  "data:text/plain,x",
  "//127.0.0.1/",
  " ",
];

let weir: Weir;
let user: Session;
beforeAll(async () => {
  weir = await startWeir();
  user = await weir.newUser({ quota: 1 });
}, HOOK_MS);
afterAll(async () => {
  await weir?.stop();
  await trap.stop(true);
});
beforeEach(() => void seen.splice(0));

test("PYSEC-2026-4069: an import from an address reaches nothing that is not public, in any spelling", async () => {
  const reached: string[] = [];
  for (const url of [...addresses, ...ODD]) {
    await weir.root.trpc.pricing.remote.mutate({ url }).then(
      () => reached.push(url),
      () => {},
    );
  }
  expect(reached).toEqual([]);
  expect(seen).toEqual([]);
});

test("CVE-2026-86242: only the super administrator can import from an address, and nothing that is fetched is run", async () => {
  const admin = await weir.newUser({ role: 10 });
  for (const session of [user, admin]) {
    await expect(session.trpc.pricing.remote.mutate({ url: "https://example.com/" })).rejects.toThrow();
  }
  expect((await weir.anonymous("POST", "/trpc/pricing.remote", { url: "https://example.com/" })).status).toBe(401);
});

test("CVE-2026-108719: the addresses a user is notified at reach nothing that is not public, in any spelling", async () => {
  const reached: string[] = [];
  for (const [type, field] of [
    ["webhook", "webhook_url"],
    ["bark", "bark_url"],
    ["gotify", "gotify_url"],
  ] as const) {
    for (const url of [...addresses, ...ODD]) {
      const set = await user.api("PUT", "/api/user/setting", {
        notify_type: type,
        [field]: url,
        ...(type === "gotify" ? { gotify_token: "t" } : {}),
      });
      if (!set.body.success) continue;
      const tried = await user.api("POST", "/api/user/setting/test", {});
      if (tried.body.success) reached.push(`${type} ${url}`);
    }
  }
  expect(reached).toEqual([]);
  expect(seen).toEqual([]);
});

test("GO-2025-4154: a redirect is checked like the first address, hop by hop, and so is the last of a chain", async () => {
  const targets = [
    `http://127.0.0.1:${trap.port}/`,
    `http://0.0.0.0:${trap.port}/`,
    "http://169.254.169.254/latest/meta-data/",
    `http://[::1]:${trap.port}/`,
    `http://2130706433:${trap.port}/`,
  ];
  for (const target of targets) {
    const paths: string[] = [];
    const door = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const { pathname } = new URL(request.url);
        paths.push(pathname);
        return new Response(null, { status: 302, headers: { location: pathname === "/1" ? "/2" : target } });
      },
    });
    // The first name stands for a public server: the resolver returns it once, the sockets go to the test's server.
    const first = { allowPrivate: true, resolve: async () => ["127.0.0.1"] };
    const policy = {
      ...first,
      get allowPrivate() {
        return paths.length < 2;
      },
    };
    const outcome = await egressFetch(`http://public.example:${door.port}/1`, policy).then(
      () => "reached",
      (error: { code?: string }) => error.code,
    );
    expect([target, outcome]).toEqual([target, "address_forbidden"]);
    expect(paths).toEqual(["/1", "/2"]);
    await door.stop(true);
  }
  expect(seen).toEqual([]);
});

test("CVE-2026-55245: a name is looked up once, so that a second look-up cannot lead elsewhere; every address of it must be public", async () => {
  let asked = 0;
  const rebinding = async (): Promise<string[]> => (++asked === 1 ? ["192.0.2.1"] : ["127.0.0.1"]);
  await egressFetch(`http://rebind.example:${trap.port}/`, {
    allowPrivate: false,
    resolve: rebinding,
    timeoutMs: 300,
  }).catch(() => {});
  expect(asked).toBeLessThanOrEqual(1);
  for (const mixed of [
    ["93.184.216.34", "127.0.0.1"],
    ["93.184.216.34", "::1"],
    ["2606:4700::1", "64:ff9b::7f00:1"],
  ]) {
    await expect(
      egressFetch("http://mixed.example/", { allowPrivate: false, resolve: async () => mixed }),
    ).rejects.toMatchObject({ code: "address_forbidden" });
  }
  expect(seen).toEqual([]);
});
