import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { startWeir, type Weir } from "../../../../tests/kit/weir";
import { builtInTables } from "../../../shared/price-rows";
import { signPricesCommand } from "../../commands/prices";
import { readEnv } from "../../env";
import { isDue } from "./feed";
import { signPrices } from "./feed-file";

let weir: Weir;
/** What the feeds' server answers, by path. */
let pages: Record<string, () => Response> = {};
const other = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => pages[new URL(request.url).pathname]?.() ?? new Response("no", { status: 404 }),
});
const url = (path: string) => `http://127.0.0.1:${other.port}${path}`;
const ratios = (model_ratio: Record<string, number>) => () => Response.json({ data: { model_ratio } });

const feeds = (...list: object[]) => weir.setOption("PriceFeeds", list);
const read = (name: string) => weir.root.trpc.pricing.readFeed.mutate({ name });
const proposals = () => weir.root.trpc.pricing.proposals.query();
const open = async () => (await proposals()).filter(({ status }) => status === "open");
const ratioOf = async (model: string): Promise<number | undefined> => {
  const options = await weir.root.trpc.option.list.query();
  return JSON.parse(options.find(({ key }) => key === "ModelRatio")?.value ?? "{}")[model];
};
const problem = (promise: Promise<unknown>) =>
  promise.then(
    () => "none",
    (error) => error.data?.app ?? error.message,
  );

beforeAll(async () => {
  weir = await startWeir({ env: { WEIR_ALLOW_PRIVATE_FETCH: "true" } });
}, 60_000);
afterAll(async () => {
  await weir?.stop();
  await other.stop(true);
});
beforeEach(async () => {
  pages = {};
  await weir.setOption("ModelRatio", { a: 1, b: 2, c: 3 });
});

describe("a price feed by hand", () => {
  test("proposes what differs, changes nothing until it is approved, and refuses what was not chosen", async () => {
    pages["/p"] = ratios({ a: 1.5, b: 4, c: 3, "unknown-here": 9 });
    await feeds({ name: "hand", url: url("/p"), hours: 0 });
    expect(await read("hand")).toEqual({ open: 2, taken: 0 });
    const [proposal] = await open();
    expect(proposal?.changes).toMatchObject([
      { name: "a", before: { ModelRatio: 1 }, after: { ModelRatio: 1.5 }, held: "by-hand", effect: 0 },
      { name: "b", after: { ModelRatio: 4 } },
    ]);
    expect(await ratioOf("a")).toBe(1);

    expect(await weir.root.trpc.pricing.decide.mutate({ id: proposal?.id ?? 0, models: ["a"] })).toEqual({ taken: 1 });
    expect([await ratioOf("a"), await ratioOf("b"), await ratioOf("c")]).toEqual([1.5, 2, 3]);
    expect(await problem(weir.root.trpc.pricing.decide.mutate({ id: proposal?.id ?? 0, models: ["b"] }))).toBe(
      "price_proposal_gone",
    );
    const [act] = (await weir.root.trpc.audit.list.query({ target_type: "option", target_id: "ModelRatio" })).items;
    expect(act).toMatchObject({ action: "option.update", actor_name: "root" });
    // What was refused does not come back, another price of the same model does.
    expect(await read("hand")).toEqual({ open: 0, taken: 0 });
    pages["/p"] = ratios({ b: 5 });
    expect(await read("hand")).toEqual({ open: 1, taken: 0 });
  });

  test("a proposal whose model has got another price meanwhile is not taken", async () => {
    pages["/q"] = ratios({ c: 4 });
    await feeds({ name: "stale", url: url("/q"), hours: 0 });
    await read("stale");
    const id = (await open()).find(({ source }) => source === "stale")?.id ?? 0;
    await weir.setOption("ModelRatio", { a: 1, b: 2, c: 3.5 });
    expect(await problem(weir.root.trpc.pricing.decide.mutate({ id, models: ["c"] }))).toBe("price_proposal_stale");
    expect(await ratioOf("c")).toBe(3.5);
  });

  test("of two who decide at once one takes it, and the prices are that one's", async () => {
    pages["/r"] = ratios({ a: 2, b: 3 });
    await feeds({ name: "race", url: url("/r"), hours: 0 });
    await read("race");
    const id = (await open()).find(({ source }) => source === "race")?.id ?? 0;
    const results = await Promise.all(
      [["a"], ["b"]].map((models) => problem(weir.root.trpc.pricing.decide.mutate({ id, models }))),
    );
    expect(results.toSorted()).toEqual(["none", "price_proposal_gone"]);
    expect([await ratioOf("a"), await ratioOf("b")]).toEqual(results[0] === "none" ? [2, 2] : [1, 3]);
  });

  test("a file that cannot be read is told, and only root may ask", async () => {
    await feeds({ name: "dead", url: url("/none"), hours: 0 });
    expect(await problem(read("dead"))).toBe("price_import_failed");
    expect((await weir.root.trpc.pricing.feeds.query())[0]).toMatchObject({
      name: "dead",
      error: expect.stringContaining("404"),
    });
    expect(await problem(read("no such"))).toBe("price_feed_unknown");
    const admin = await weir.newUser({ role: 10 });
    for (const ask of [admin.trpc.pricing.feeds.query(), admin.trpc.pricing.proposals.query()])
      expect(await problem(ask)).not.toBe("none");
  });
});

describe("an automatic price feed", () => {
  test("takes what is within the bounds at once, and proposes the rest", async () => {
    pages["/auto"] = ratios({ a: 0.9, b: 0.1, c: 3 });
    await feeds({ name: "auto", url: url("/auto"), hours: 0, automatic: true });
    expect(await read("auto")).toEqual({ open: 1, taken: 1 });
    expect([await ratioOf("a"), await ratioOf("b")]).toEqual([0.9, 2]);
    const mine = (await proposals()).filter(({ source }) => source === "auto");
    expect(mine.map(({ status, changes }) => [status, changes[0]?.name, changes[0]?.held])).toEqual([
      ["open", "b", "falls"],
      ["automatic", "a", undefined],
    ]);
  });

  test("never goes below what a channel says that it pays, nor further down than half in a day", async () => {
    await weir.newChannel({
      base_url: "http://127.0.0.1:1",
      models: ["c"],
      setting: JSON.stringify({ cost_prices: JSON.stringify({ c: { input: 5, output: 5 } }) }),
    });
    pages["/low"] = ratios({ a: 0.8, c: 2.4 });
    await feeds({ name: "low", url: url("/low"), hours: 0, automatic: true });
    expect(await read("low")).toEqual({ open: 1, taken: 1 });
    expect([await ratioOf("a"), await ratioOf("c")]).toEqual([0.8, 3]);
    pages["/low"] = ratios({ a: 0.45 });
    expect(await read("low")).toEqual({ open: 1, taken: 0 });
    expect((await open()).find(({ source }) => source === "low")?.changes[0]?.held).toBe("falls");
  });

  test("a new model that is served is taken when two feeds agree", async () => {
    await weir.newChannel({ base_url: "http://127.0.0.1:1", models: ["fresh"] });
    pages["/one"] = ratios({ fresh: 2 });
    pages["/two"] = ratios({ fresh: 2 });
    await feeds(
      { name: "one", url: url("/one"), hours: 0, automatic: true },
      { name: "two", url: url("/two"), hours: 0, automatic: true },
    );
    expect(await read("one")).toEqual({ open: 1, taken: 0 });
    expect(await read("two")).toEqual({ open: 0, taken: 1 });
    expect(await ratioOf("fresh")).toBe(2);
  });
});

describe("a signed price feed", () => {
  const made = async (): Promise<JWK & { x: string }> => {
    const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
    const key = await exportJWK(privateKey);
    return { ...key, x: key.x ?? "" };
  };
  const signed = (key: JWK, at: number, ModelRatio: Record<string, number>) =>
    signPrices({ ...builtInTables, ModelRatio, CompletionRatio: {} }, key, at);

  test("is read with its key only, and never an older one than before", async () => {
    const [key, foreign] = [await made(), await made()];
    let text = await signed(key, 1000, { a: 1.2 });
    pages["/signed"] = () => new Response(text);
    await feeds({ name: "signed", url: url("/signed"), key: key.x, hours: 0 });
    expect((await read("signed")).open).toBeGreaterThan(0);
    text = await signed(foreign, 2000, { a: 1.3 });
    expect(await problem(read("signed"))).toBe("price_import_failed");
    text = await signed(key, 999, { a: 1.4 });
    expect(await problem(read("signed"))).toBe("price_import_failed");
    text = JSON.stringify({ data: { model_ratio: { a: 9 } } });
    expect(await problem(read("signed"))).toBe("price_import_failed");
    text = (await signed(key, 3000, { a: 1.5 })).replace(/\.[^.]+\./, `.${Buffer.from("{}").toString("base64url")}.`);
    expect(await problem(read("signed"))).toBe("price_import_failed");
    expect(
      (await open()).find(({ source }) => source === "signed")?.changes.find(({ name }) => name === "a")?.after,
    ).toEqual({
      ModelRatio: 1.2,
    });
  });

  test("`weir prices sign` writes a file that a feed reads, with a key that only its owner can", async () => {
    const [keyFile, file] = [join(weir.dataDir, "feed.key"), join(weir.dataDir, "prices.jws")];
    const env = readEnv(
      weir.engine === "sqlite" ? { WEIR_DATA_DIR: weir.dataDir } : { DATABASE_URL: weir.databaseUrl },
    );
    expect(await signPricesCommand(env, keyFile, file)).toBe(0);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.new`)).toBe(false);
    const { x } = JSON.parse(readFileSync(keyFile, "utf8"));
    pages["/own"] = () => new Response(readFileSync(file, "utf8"));
    await feeds({ name: "own", url: url("/own"), key: x, hours: 0 });
    expect(await read("own")).toEqual({ open: 0, taken: 0 });
  });
});

test("a feed is read when its hours have passed, an hour after a failure, and never by the clock when it is by hand", () => {
  const [daily, failed] = [{ hours: 24 }, { code: "price_import_empty", values: {} } as const];
  expect(isDue(daily, { read_at: 1000 }, 1000 + 86_399)).toBe(false);
  expect(isDue(daily, { read_at: 1000 }, 1000 + 86_400)).toBe(true);
  expect(isDue(daily, { read_at: 1000, problem: failed }, 1000 + 3600)).toBe(true);
  expect(isDue({ hours: 0 }, { read_at: 0 }, 1e9)).toBe(false);
});
