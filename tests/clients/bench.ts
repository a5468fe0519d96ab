/**
 * Runs a cell of the certification: a client, a scenario, and where the client is pointed: at its vendor (the
 * baseline), or at a Weir whose channel is one of four upstreams.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FakeUsage } from "../kit/fake-upstream/behaviours";
import { startWeir, type Weir } from "../kit/weir";
import { type Client, NATURAL_MODELS, type Outcome } from "./client";
import { CHAT_MODEL, RESPONSES_MODEL } from "./vendors/openai";
import { NOTES, promptFor } from "./vendors/script";
import { type CellRecord, type Fate, startStrictVendors } from "./vendors/server";

/** A channel that a client's calls are served by. */
export const UPSTREAMS = {
  oc: { title: "OpenAI, chat", type: 1, model: CHAT_MODEL, setting: { native_calls: "never" } },
  or: { title: "OpenAI, Responses", type: 1, model: RESPONSES_MODEL, setting: { native_calls: "always" } },
  an: { title: "Anthropic", type: 14, model: NATURAL_MODELS.anthropic, setting: {} },
  ge: { title: "Gemini", type: 24, model: NATURAL_MODELS.gemini, setting: {} },
} as const;
export type Upstream = keyof typeof UPSTREAMS;
export const UPSTREAM_KEYS = Object.keys(UPSTREAMS) as Upstream[];

/** No channel has it. */
const UNKNOWN_MODEL = "no-such-model-1";

/** Units a token: input, cached input, output. All stay whole with the vendors' even counts. */
const RATIO = { input: 1, cacheRead: 0.5, output: 4 };

/** What a client asked for, counted before its vendor or Weir. */
export interface Entrance {
  /** Status of each call of a model, in order. */
  readonly statuses: number[];
  /** Paths that were not served. */
  readonly lost: Set<string>;
}

export interface Run {
  readonly outcome: Outcome;
  readonly vendor: CellRecord;
  readonly door: Entrance;
  /** What differs between the vendor's usage and the bill; "" is right. */
  readonly bill: string;
  readonly seconds: number;
}

export interface Bench {
  run(client: Client, fate: Fate, upstream: Upstream | undefined): Promise<Run>;
  stop(): Promise<void>;
}

const MODEL_PATH = /\/(chat\/completions|responses|messages)$|:(generateContent|streamGenerateContent)$/;

/** Counts the calls on their way to `to`. */
function startDoor(to: string): { url: string; door: Entrance; close(): void } {
  const door: Entrance = { statuses: [], lost: new Set() };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 120,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.delete("host");
      // Unpacked here otherwise, with headers that say it is packed.
      headers.set("accept-encoding", "identity");
      const response = await fetch(to + pathname + search, {
        method: request.method,
        headers,
        body: request.method === "GET" || request.method === "HEAD" ? undefined : await request.arrayBuffer(),
        redirect: "manual",
        signal: request.signal,
      });
      if (MODEL_PATH.test(pathname)) door.statuses.push(response.status);
      else if (response.status === 404 || response.status === 405) door.lost.add(`${request.method} ${pathname}`);
      return response;
    },
    error: () => new Response(null, { status: 502 }),
  });
  return { url: `http://127.0.0.1:${server.port}`, door, close: () => void server.stop(true) };
}

const chargeOf = ({ input, cacheRead, output }: FakeUsage): number =>
  (input - cacheRead) * RATIO.input + cacheRead * RATIO.cacheRead + output * RATIO.output;

interface Billed {
  input: number;
  output: number;
  units: number;
}
const billText = (rows: readonly Billed[]): string =>
  rows
    .map(({ input, output, units }) => `${input} in, ${output} out, ${units} units`)
    .sort()
    .join("; ");

/** Cells that one server is prepared for: a group of its own for each keeps their channels apart. */
export async function startBench(cells: number): Promise<Bench> {
  const vendors = startStrictVendors();
  const folder = mkdtempSync(join(tmpdir(), "weir-clients-"));
  const notes = join(folder, "notes");
  mkdirSync(notes);
  for (const [name, word] of Object.entries(NOTES))
    writeFileSync(join(notes, name), `The word of this note is ${word}.\n`);
  let weir: Weir | undefined;
  let begun = 0;
  const groups = Array.from({ length: cells }, (_, at) => `cell-${at + 1}`);

  const openWeir = async (): Promise<Weir> => {
    const started = await startWeir({ child: true });
    const ones = (value: number, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, value]));
    await started.setOption("GroupRatio", { default: 1, ...ones(1, groups) });
    await started.setOption("UserUsableGroups", {
      default: "default",
      ...Object.fromEntries(groups.map((name) => [name, name])),
    });
    return started;
  };
  let opening: Promise<Weir> | undefined;
  const priced = new Set<string>();
  let pricing = Promise.resolve();

  /** A model's prices, before a client that asks for it. One after the other: an option is set as a whole. */
  const price = (server: Weir, models: readonly string[]): Promise<void> =>
    (pricing = pricing.then(() => setPrices(server, models)));

  async function setPrices(server: Weir, models: readonly string[]): Promise<void> {
    if (models.every((model) => priced.has(model))) return;
    for (const model of models) priced.add(model);
    const all = (value: number) => Object.fromEntries([...priced].map((model) => [model, value]));
    await server.setOption("ModelRatio", all(RATIO.input));
    await server.setOption("CompletionRatio", all(RATIO.output));
    await server.setOption("CacheRatio", all(RATIO.cacheRead));
  }

  /** What the log says of a token's calls, once every served answer has its row. */
  async function billOf(server: Weir, tokenId: number, vendor: CellRecord): Promise<string> {
    const expected = vendor.asked.flatMap(({ usage }) =>
      usage ? [{ input: usage.input, output: usage.output, units: chargeOf(usage) }] : [],
    );
    const rows = async (): Promise<Billed[]> =>
      (await server.logs())
        .filter((row) => row.token_id === tokenId && row.type === 2)
        .map((row) => ({ input: row.prompt_tokens, output: row.completion_tokens, units: row.quota }));
    let found = await rows();
    for (const limit = Date.now() + 5000; Date.now() < limit && found.length < expected.length; found = await rows())
      await Bun.sleep(50);
    // A stream that the vendor breaks off is estimated.
    const judged =
      vendor.fate === "error_in_stream"
        ? found.filter(({ units }) => expected.some((row) => row.units === units))
        : found;
    const [want, have] = [billText(expected), billText(judged)];
    return want === have ? "" : `the vendor said ${want || "nothing"}, the log says ${have || "nothing"}`;
  }

  async function run(client: Client, fate: Fate, upstream: Upstream | undefined): Promise<Run> {
    const number = ++begun;
    const key = `sk-vendor-${number}`;
    const home = join(folder, `home-${number}`);
    mkdirSync(home);
    // A caller whose own balance is spent never reaches the vendor.
    const spent = fate === "out_of_quota" && upstream !== undefined;
    const vendor = vendors.plan(key, spent ? "answers" : fate);
    let tokenId = 0;
    let clientKey = key;
    let address = vendors.url;
    if (upstream !== undefined) {
      weir ??= await (opening ??= openWeir());
      const { type, model, setting } = UPSTREAMS[upstream];
      await price(weir, client.models);
      const group = groups[number - 1];
      await weir.newChannel({
        type,
        name: `cell-${number}`,
        group,
        key,
        base_url: vendors.url,
        models: client.models,
        model_mapping: JSON.stringify(Object.fromEntries(client.models.map((name) => [name, model]))),
        setting: JSON.stringify(setting),
      });
      ({ id: tokenId, key: clientKey } = await weir.newToken({
        name: `cell-${number}`,
        group,
        ...(spent && { quota: 1 }),
      }));
      address = weir.url;
    }
    const { url, door, close } = startDoor(address);
    const began = Date.now();
    const outcome = await client.run({
      url,
      key: clientKey,
      model: fate === "unknown_model" ? UNKNOWN_MODEL : client.models[0],
      folder: notes,
      home,
      prompt: promptFor(notes),
    });
    const seconds = (Date.now() - began) / 1000;
    close();
    const bill = weir && upstream !== undefined ? await billOf(weir, tokenId, vendor) : "";
    rmSync(home, { recursive: true, force: true });
    return { outcome, vendor, door, bill, seconds };
  }

  return {
    run,
    stop: async () => {
      vendors.close();
      await (await opening)?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
