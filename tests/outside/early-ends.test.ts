/**
 * The cost of a stream that ends early: the vendor's count in the last frame that counts output, and an estimate of the
 * content delivered after it. The same for every vendor dialect and every caller dialect.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { LogRow } from "../../src/server/db/schema";
import { ENGINES } from "../kit/databases";
import {
  askIn,
  callerKeys,
  type CallerKey,
  channelOf,
  type End,
  pairs,
  type Piece,
  startFakeVendors,
  vendorKeys,
  type VendorKey,
} from "../kit/fake-vendors";
import { startWeir, type Weir } from "../kit/weir";

/** The last text that a caller waits for before hanging up. */
const LAST = "omega";
const words = (bytes: number): string => "sea ".repeat(bytes / 4);
const many = (pieces: number, make: (words: string) => Piece): Piece[] =>
  Array.from({ length: pieces }, () => make(words(200)));

/** 24,000 bytes of content: thoughts, arguments of a tool call, text. Four bytes count as a token. */
const TOKENS = 6000;
const story = (vendor: VendorKey): Piece[] => {
  const text = many(vendor === "dify" ? 120 : 40, (said) => ({ text: said }));
  const last: Piece = { text: LAST };
  if (vendor === "dify") return [...text, last];
  const thoughts = many(40, (thought) => ({ thought }));
  // Google's arrive whole.
  const call: Piece[] = [{ call: vendor === "gemini" ? JSON.stringify({ note: words(7960) }) : words(8000) }];
  return [...thoughts, ...call, ...text, last];
};

const ends = ["left", "idle", "cut", "error"] as const;
type Early = (typeof ends)[number];
const endOf: Readonly<Record<Early, End>> = { left: "silence", idle: "silence", cut: "cut", error: "error" };
const reasons: Readonly<Record<Early, string>> = {
  left: "caller_left",
  idle: "idle_timeout",
  cut: "upstream_cut",
  error: "upstream_error",
};
/** Vendors that can report usage before the end. */
const COUNTING = ["chat", "anthropic", "gemini"] as const;

const settings = (vendor: VendorKey, end: Early, more: object = {}): string =>
  // The wait for a disconnected caller's usage is off, so the test need not wait for it.
  JSON.stringify({
    ...channelOf[vendor].setting,
    ...(end === "idle" && { idle_timeout: 1 }),
    ...(end === "left" && { on_disconnect: "cut" }),
    ...more,
  });

for (const engine of ENGINES) {
  describe(engine, () => {
    let vendors: Awaited<ReturnType<typeof startFakeVendors>>;
    let weir: Weir;
    let key = "";

    beforeAll(async () => {
      vendors = await startFakeVendors();
      weir = await startWeir({ engine });
      const models: string[] = [];
      const open = async (
        name: string,
        vendor: VendorKey,
        end: Early,
        pieces: Piece[],
        more: object = {},
      ): Promise<void> => {
        vendors.scripts.set(name, { vendor, pieces, end: endOf[end] });
        models.push(name);
        await weir.newChannel({
          type: channelOf[vendor].type,
          base_url: `${vendors.url}/${name}`,
          models: [name],
          setting: settings(vendor, end, more),
        });
      };
      for (const vendor of vendorKeys)
        for (const end of ends) await open(`${vendor}-${end}`, vendor, end, story(vendor));
      for (const vendor of COUNTING) {
        const counted: Piece[] = [
          ...many(20, (text) => ({ text })),
          { counts: { input: 100, output: 3000 } },
          ...many(20, (text) => ({ text })),
          { text: LAST },
        ];
        for (const end of ["left", "cut"] as const) await open(`counted-${vendor}-${end}`, vendor, end, counted);
      }
      for (const end of ends)
        await open(`free-${end}`, "anthropic", end, story("anthropic"), { bill_left: "free", bill_broken: "free" });
      for (const vendor of ["chat", "anthropic"] as const) {
        const name = `endless-${vendor}`;
        vendors.scripts.set(name, {
          vendor,
          pieces: story(vendor),
          end: "silence",
          endless: { piece: { text: words(200) }, everyMs: 2 },
        });
        models.push(name);
        await weir.newChannel({ type: channelOf[vendor].type, base_url: `${vendors.url}/${name}`, models: [name] });
      }
      await weir.priceModels(Object.fromEntries(models.map((model) => [model, 1])));
      ({ key } = await weir.newToken());
    }, 60_000);
    afterAll(async () => {
      await weir.stop();
      vendors.close();
    });

    /** Calls and reads to the end, or to the last text where the caller hangs up. Returns the row. */
    async function run(caller: CallerKey, model: string, end: Early): Promise<LogRow> {
      const leaving = new AbortController();
      const response = await askIn(weir.url, caller, key, model, { signal: leaving.signal });
      const id = response.headers.get("x-request-id") ?? response.headers.get("x-oneapi-request-id") ?? "";
      const reader = response.body?.getReader();
      const decoder = new TextDecoder();
      let text = "";
      try {
        for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
          text += decoder.decode(part.value, { stream: true });
          if (end === "left" && text.includes(LAST)) break;
        }
      } catch {
        // A broken connection is an end as well.
      }
      leaving.abort();
      expect(text).toContain(LAST);
      return weir.waitForLog((row) => (id === "" ? row.model_name === model : row.request_id === id), 15_000);
    }

    for (const end of ends) {
      test(`a stream that ends early (${end}) costs the content that was delivered, in every dialect of vendor and caller`, async () => {
        const found = await Promise.all(
          pairs.map(async ([vendor, caller]) => ({
            pair: `${vendor} -> ${caller}`,
            vendor,
            row: await run(caller, `${vendor}-${end}`, end),
          })),
        );
        const wrong = found
          .filter(({ row }) => Math.abs(row.completion_tokens - TOKENS) > TOKENS / 100)
          .map(({ pair, row }) => `${pair}: ${row.completion_tokens} ${row.end_reason}`);
        expect(wrong).toEqual([]);
        for (const { vendor, row } of found) {
          expect(row.end_reason).toBe(reasons[end]);
          expect(row.quota).toBe(row.prompt_tokens + row.completion_tokens);
          expect(JSON.parse(row.other)).toMatchObject({ estimated: true });
          // The vendor's count of the input is used.
          if (vendor === "anthropic" || vendor === "gemini") expect(row.prompt_tokens).toBe(100);
        }
        expect(await weir.holds()).toBe(0);
        expect(await weir.audit()).toEqual([]);
      }, 60_000);
    }

    test("an intermediate count is used, and only content delivered after it is estimated", async () => {
      const runs = COUNTING.flatMap((vendor) =>
        callerKeys.flatMap((caller) => (["left", "cut"] as const).map((end) => [vendor, caller, end] as const)),
      );
      const rows = await Promise.all(
        runs.map(
          async ([vendor, caller, end]) =>
            [`${vendor} -> ${caller} ${end}`, await run(caller, `counted-${vendor}-${end}`, end)] as const,
        ),
      );
      const wrong = rows.filter(([, row]) => Math.abs(row.completion_tokens - 4002) > 20 || row.prompt_tokens !== 100);
      expect(wrong.map(([name, row]) => `${name}: ${row.prompt_tokens} + ${row.completion_tokens}`)).toEqual([]);
    }, 60_000);

    test("a channel that does not charge such an end charges nothing", async () => {
      const rows = await Promise.all(ends.map((end) => run("anthropic", `free-${end}`, end)));
      expect(rows.map((row) => [row.end_reason, row.quota])).toEqual(ends.map((end) => [reasons[end], 0]));
    }, 60_000);

    test("a caller of Anthropic who hangs up in the middle pays about what a caller of OpenAI pays", async () => {
      const [chat, claude] = await Promise.all(
        (["chat", "anthropic"] as const).map((vendor) => run("anthropic", `endless-${vendor}`, "left")),
      );
      for (const row of [chat, claude]) {
        expect(row?.end_reason).toBe("caller_left");
        // The content read, and what the upstream sent while Weir waited for its count.
        expect(row?.completion_tokens).toBeGreaterThanOrEqual(TOKENS - 60);
        expect(row?.completion_tokens).toBeLessThan(TOKENS + 3000);
      }
      expect(Math.abs((chat?.quota ?? 0) - (claude?.quota ?? 0))).toBeLessThan(TOKENS / 5);
    }, 60_000);
  });

  test(`${engine}: a process that has to end while streams are open charges what they have delivered, and leaves no hold`, async () => {
    const vendors = await startFakeVendors();
    await using weir = await startWeir({
      engine,
      child: true,
      env: { WEIR_DRAIN_SECONDS: "0", WEIR_SHUTDOWN_SECONDS: "1" },
    });
    const models = vendorKeys.map((vendor) => `${vendor}-drain`);
    for (const vendor of vendorKeys) {
      vendors.scripts.set(`${vendor}-drain`, { vendor, pieces: story(vendor), end: "silence" });
      await weir.newChannel({
        type: channelOf[vendor].type,
        base_url: `${vendors.url}/${vendor}-drain`,
        models: [`${vendor}-drain`],
        setting: JSON.stringify(channelOf[vendor].setting ?? {}),
      });
    }
    await weir.priceModels(Object.fromEntries(models.map((model) => [model, 1])));
    const { key } = await weir.newToken();
    const before = (await weir.logs()).length;

    const reading = pairs.map(async ([vendor, caller]) => {
      const model = `${vendor}-drain`;
      const response = await askIn(weir.url, caller, key, model);
      const reader = response.body?.getReader();
      let text = "";
      while (!text.includes(LAST)) {
        const part = await reader?.read();
        if (!part || part.done) throw new Error(`${model}: ended before the last word`);
        text += new TextDecoder().decode(part.value);
      }
      return async (): Promise<void> => {
        // To its end, however it ends.
        for (
          let part = await reader?.read().catch(() => undefined);
          part && !part.done;
          part = await reader?.read().catch(() => undefined)
        );
      };
    });
    const opened = await Promise.all(reading);
    expect(await weir.holds()).toBe(pairs.length);
    const rest = Promise.all(opened.map((read) => read()));
    weir.process?.kill("SIGTERM");
    expect(await weir.process?.exited).toBe(0);
    await rest;

    const charged = (await weir.logs()).slice(before);
    expect(
      charged
        .filter((row) => Math.abs(row.completion_tokens - TOKENS) > TOKENS / 100)
        .map((row) => `${row.model_name} ${row.completion_tokens}`),
    ).toEqual([]);
    expect(charged).toHaveLength(pairs.length);
    expect(new Set(charged.map((row) => row.end_reason))).toEqual(new Set(["gateway_restart"]));
    expect(await weir.holds()).toBe(0);
    expect(await weir.audit()).toEqual([]);
    vendors.close();
  }, 60_000);
}
