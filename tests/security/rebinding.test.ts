/**
 * Names that resolve to one address when they are checked and to another when they are used, by a resolver of the
 * test's own: a whole server connects to the checked address and to no other (docs/security.md).
 */
import dns from "node:dns/promises";
import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import { HOOK_MS } from "../kit/harness";
import { type Session, startWeir, type Weir } from "../kit/weir";

/** TEST-NET addresses count as private, so this is a public one; the sockets to it go nowhere. */
const PUBLIC = "203.0.114.10";
const PUBLIC_SIX = "2606:4700::1111";

/** What each name resolves to, one answer a look-up; the last one stays. */
const names = new Map<string, string[][]>();
let lookedUp: string[] = [];
/** `address host` of each connection of the server that goes outside. */
let connected: string[] = [];
/** The next answer of the public server; undefined: 200. */
let location: string | undefined;

const realFetch = globalThis.fetch;
const lookups = spyOn(dns, "lookup").mockImplementation(((name: string) => {
  lookedUp.push(name);
  const answers = names.get(name) ?? [];
  const found = answers.length > 1 ? answers.shift() : answers[0];
  if (!found) return Promise.reject(new Error(`ENOTFOUND ${name}`));
  return Promise.resolve(found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
}) as unknown as typeof dns.lookup);
let weir: Weir;
let user: Session;
// Only what fetches for others names a host beside its address.
const fetches = spyOn(globalThis, "fetch").mockImplementation(((target: string | URL, init?: RequestInit) => {
  const host = new Headers(init?.headers).get("host");
  if (host === null) return realFetch(target, init);
  connected.push(`${new URL(target).hostname} ${host}`);
  const headers = location === undefined ? undefined : { location };
  location = undefined;
  return Promise.resolve(new Response("{}", { status: headers ? 302 : 200, ...(headers && { headers }) }));
}) as typeof fetch);

beforeAll(async () => {
  weir = await startWeir();
  user = await weir.newUser({ quota: 1 });
}, HOOK_MS);
afterAll(async () => {
  fetches.mockRestore();
  lookups.mockRestore();
  await weir?.stop();
});
beforeEach(() => {
  names.clear();
  lookedUp = [];
  connected = [];
  location = undefined;
});

/** Every way by which a user or root lets the server ask an address. */
const DOORS = {
  webhook: (url: string) => noticed({ notify_type: "webhook", webhook_url: url }),
  bark: (url: string) => noticed({ notify_type: "bark", bark_url: url }),
  gotify: (url: string) => noticed({ notify_type: "gotify", gotify_url: url, gotify_token: "secret-token" }),
  import: (url: string) =>
    weir.root.trpc.pricing.remote.mutate({ url }).then(
      () => true,
      () => false,
    ),
};
async function noticed(setting: Record<string, string>): Promise<boolean> {
  await user.ok("PUT", "/api/user/setting", setting);
  return (await user.api("POST", "/api/user/setting/test", {})).body.success === true;
}
const doors = Object.entries(DOORS);

test.each(doors)(
  "%s: a name that is public at first and private afterwards is looked up once, and reached at the checked address",
  async (_, ask) => {
    for (const after of ["127.0.0.1", "169.254.169.254", "::1"]) {
      names.set("rebind.example", [[PUBLIC], [after]]);
      [lookedUp, connected] = [[], []];
      await ask("http://rebind.example/x");
      expect([lookedUp, connected]).toEqual([["rebind.example"], [`${PUBLIC} rebind.example`]]);
      // From now on it is private, and refused before any connection.
      expect(await ask("http://rebind.example/x")).toBe(false);
      expect(connected).toEqual([`${PUBLIC} rebind.example`]);
    }
  },
);

test.each(doors)("%s: a name with one address that is not public is refused, whichever comes first", async (_, ask) => {
  for (const inside of [
    "127.0.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "169.254.169.254",
    "100.64.0.1",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "fe80::1",
    "fd00:ec2::254",
    "",
  ])
    for (const found of [[inside], [PUBLIC, inside], [inside, PUBLIC], [PUBLIC_SIX, inside]]) {
      names.set("mixed.example", [found]);
      expect([found, await ask("http://mixed.example/x")]).toEqual([found, false]);
    }
  expect(connected).toEqual([]);
});

test("a redirect to a name that has become private is refused", async () => {
  names.set("first.example", [[PUBLIC]]);
  names.set("second.example", [["127.0.0.1"]]);
  for (const target of ["http://second.example/", "http://127.0.0.1/", "http://[::ffff:169.254.169.254]/", "//0/"]) {
    location = target;
    expect(await DOORS.import("http://first.example/x")).toBe(false);
  }
  expect(connected).toEqual(Array(4).fill(`${PUBLIC} first.example`));
  // A name of its own that changes between the two look-ups of its redirect.
  names.set("first.example", [[PUBLIC], ["127.0.0.1"]]);
  [connected, location] = [[], "http://first.example/again"];
  expect(await DOORS.import("http://first.example/x")).toBe(false);
  expect(connected).toEqual([`${PUBLIC} first.example`]);
});
