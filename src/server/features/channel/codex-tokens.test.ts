/** Codex channels renew their own owner's token: in time, once, sealed; a refused refresh disables with a reason. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { NEVER_LOST } from "../../cluster/types";
import { eq } from "drizzle-orm";
import { ENGINES } from "../../../../tests/kit/databases";
import { type Harness, HOOK_MS, openHarness, type Person } from "../../../../tests/kit/harness";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { readStatusInfo } from "../../../shared/channel-operations";
import { ROLE } from "../../../shared/roles";
import { endOf, renewalAt, renewCodexTokens } from "./codex-tokens";

const token = (exp: number): string =>
  ["{}", JSON.stringify({ exp }), "sig"].map((part) => Buffer.from(part).toString("base64url")).join(".");
const seconds = (from = 0): number => Math.floor(Date.now() / 1000) + from;

let answer = (): Response => Response.json({});
/** What happens while the vendor is asked. */
let vendorDoes: (() => Promise<void>) | undefined;
const asked: unknown[] = [];
const vendor = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    asked.push(await request.json());
    await vendorDoes?.();
    return answer();
  },
});
const url = `http://127.0.0.1:${vendor.port}/oauth/token`;
afterAll(() => vendor.stop(true));
beforeEach(() => void (asked.length = 0));

test("the end of a token is read from its claims; what is no token has none", () => {
  expect(endOf(token(123))).toBe(123);
  expect([endOf("x"), endOf("a.b.c"), endOf(undefined), endOf(7)]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("a token is renewed 15 to 25 minutes before its end, each at its own moment, and not before half of its life", () => {
  const claims = (all: object): string => `e.${Buffer.from(JSON.stringify(all)).toString("base64url")}.s`;
  const left = (hash: string): number => 100_000 - (renewalAt(claims({ exp: 100_000, iat: 10_000 }), hash) ?? 0);
  expect([left("00000000"), left("00000257"), left("00000258")]).toEqual([900, 1499, 900]);
  expect(renewalAt(claims({ exp: 100_000, iat: 99_400 }), "00000000")).toBe(99_700);
  expect(renewalAt(claims({}), "00000000")).toBeUndefined();
});

describe.each([...ENGINES])("Codex tokens on %s", (engine) => {
  let house: Harness;
  let admin: Person;
  beforeAll(async () => {
    house = await openHarness(engine);
    admin = await house.person({ role: ROLE.admin });
  }, HOOK_MS);
  afterAll(() => house?.close());

  /** A channel whose pasted auth.json ends in `left` seconds. */
  async function make(left: number, refresh_token: string, flat = false): Promise<number> {
    const tokens = { id_token: "old", access_token: token(seconds(left)), refresh_token, account_id: "acc" };
    const file = flat ? tokens : { OPENAI_API_KEY: null, tokens, last_refresh: "2026-11-01T00:00:00Z" };
    const { body } = await admin.rest("POST", "/api/channel/", {
      type: 57,
      name: refresh_token,
      key: JSON.stringify(file),
      models: `codex-${refresh_token}`,
    });
    expect(body).toMatchObject({ success: true });
    return body.data[0].id;
  }
  const keyOf = (id: number): Record<string, any> => JSON.parse(house.services.pool.byId(id)?.channel.key ?? "{}");
  const rowOf = async (id: number) => {
    const { channels } = house.services.db.t;
    const [row] = await house.services.db.q.select().from(channels).where(eq(channels.id, id));
    return row;
  };

  test("a token that ends soon is renewed with the file's refresh token, stored sealed, and used at once", async () => {
    const id = await make(300, `one-${engine}`);
    const flat = await make(300, `flat-${engine}`, true);
    await make(7200, `later-${engine}`);
    const fresh = token(seconds(3600));
    answer = () => Response.json({ access_token: fresh, refresh_token: "next", id_token: "new" });
    expect(await renewCodexTokens(house.services, NEVER_LOST, url)).toBe(2);
    const sent = { client_id: "app_EMoamEEZ73f0CkXaXp7hrann", grant_type: "refresh_token" };
    expect(asked).toEqual([
      { ...sent, refresh_token: `one-${engine}` },
      { ...sent, refresh_token: `flat-${engine}` },
    ]);
    const tokens = { access_token: fresh, refresh_token: "next", id_token: "new", account_id: "acc" };
    expect(keyOf(id)).toEqual({ OPENAI_API_KEY: null, tokens, last_refresh: "2026-11-01T00:00:00Z" });
    expect(keyOf(flat)).toEqual(tokens);
    expect((await rowOf(id))?.key_cipher).not.toContain("next");
    expect(await renewCodexTokens(house.services, NEVER_LOST, url)).toBe(0);
  });

  test("a refresh token is sent once, however many rounds run at the same time", async () => {
    const id = await make(300, `twice-${engine}`);
    answer = () => Response.json({ access_token: token(seconds(3600)), refresh_token: "after" });
    const rounds = await Promise.all([1, 2, 3].map(() => renewCodexTokens(house.services, NEVER_LOST, url)));
    expect([rounds.toSorted(), asked.length]).toEqual([[0, 0, 1], 1]);
    expect(keyOf(id).tokens.refresh_token).toBe("after");
  });

  test("a refusal of a token that was replaced meanwhile disables nothing", async () => {
    const id = await make(300, `raced-${engine}`);
    const { channels } = house.services.db.t;
    const replace = () => house.services.db.q.update(channels).set({ key_hash: "another" }).where(eq(channels.id, id));
    vendorDoes = async () => void (await replace().returning({ id: channels.id }));
    answer = () => Response.json({ error: { code: "refresh_token_reused" } }, { status: 400 });
    expect(await renewCodexTokens(house.services, NEVER_LOST, url)).toBe(0);
    vendorDoes = undefined;
    expect((await rowOf(id))?.status).toBe(CHANNEL_STATUS.enabled);
    await house.services.db.q.delete(channels).where(eq(channels.id, id)).returning({ id: channels.id });
  });

  test("a refused refresh disables the channel and says what to do, and the token is not sent again", async () => {
    const id = await make(300, `over-${engine}`);
    answer = () => Response.json({ error: { code: "refresh_token_reused" } }, { status: 400 });
    expect(await renewCodexTokens(house.services, NEVER_LOST, url)).toBe(0);
    const row = await rowOf(id);
    expect(row?.status).toBe(CHANNEL_STATUS.auto_disabled);
    expect(readStatusInfo(row?.other_info ?? "", "en")?.reason).toContain("refresh_token_reused");
    await renewCodexTokens(house.services, NEVER_LOST, url);
    expect(asked).toHaveLength(1);
  });

  test("an outage of the vendor changes nothing: the next round tries again", async () => {
    const id = await make(300, `outage-${engine}`);
    answer = () => new Response("<html>", { status: 503 });
    expect(await renewCodexTokens(house.services, NEVER_LOST, url)).toBe(0);
    expect((await rowOf(id))?.status).toBe(CHANNEL_STATUS.enabled);
    answer = () => Response.json({ access_token: token(seconds(3600)) });
    expect(await renewCodexTokens(house.services, NEVER_LOST, url)).toBe(1);
    // The vendor gave no new refresh token: the old one stays.
    expect(keyOf(id).tokens.refresh_token).toBe(`outage-${engine}`);
  });
});
