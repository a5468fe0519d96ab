/** A small control plane in memory for tests of the relay, which counts every unit, and a served relay. */
import pino from "pino";
import { channelType } from "../../src/shared/channel-types";
import type { UsageDoubt } from "../../src/shared/usage-doubt";
import { AppError } from "../../src/shared/errors";
import { defaultText, type OptionKey, type OptionValue, parseOption } from "../../src/shared/options";
import { compilePrice, type CompiledPrice } from "../../src/shared/pricing";
import { localCounter } from "../../src/server/cluster/local";
import type { Counter } from "../../src/server/cluster/types";
import type { ChannelTrouble } from "../../src/server/contracts/channel-trouble";
import { createLimits } from "../../src/server/features/limit/rate-limiter";
import type { Budget, SpendStore } from "../../src/server/features/limit/spend";
import type { AdmittingLedger, CallLog, HoldRequest, LateEnd, Settlement } from "../../src/server/contracts/ledger";
import { createAdmit } from "../../src/server/features/wallet/admission";
import { granted } from "../../src/server/features/wallet/hold-result";
import { realTimers, type Timers } from "../../src/server/lib/timers";
import type { RelayDeps } from "../../src/server/relay/call/call";
import { createRelay, type Relay } from "../../src/server/relay/entry/handle";
import type { Limits } from "../../src/server/contracts/rate-limits";
import type { RelayOptions, ControlPlane } from "../../src/server/contracts/control-plane";
import type { PoolChannel } from "../../src/server/contracts/channel";
import type { Caller } from "../../src/server/contracts/caller";
import type { StoredObjectStore, Stored } from "../../src/server/contracts/stored-objects";
import type { TaskStore } from "../../src/server/contracts/task-store";

const silent = pino({ level: "silent" });

function defaultValue(key: OptionKey): unknown {
  const parsed = parseOption(key, defaultText(key));
  return parsed.ok ? parsed.value : undefined;
}

/** A ledger of one user and one token: counts, and how every hold ended. */
export class MemoryLedger implements AdmittingLedger {
  balance: number;
  readonly holds = new Map<string, { amount: number; running: number }>();
  readonly ends = new Map<string, string[]>();
  readonly settlements: Settlement[] = [];
  readonly holdRequests: HoldRequest[] = [];
  readonly extends: { request_id: string; amount: number; running: number; granted: boolean }[] = [];
  /** Ends to be retried. */
  readonly late: LateEnd[] = [];
  /** Awaited before such an end is stored. */
  keeping: Promise<void> = Promise.resolve();
  charged = 0;
  /** Awaited before every settle, so that tests can delay it. */
  gate: Promise<void> = Promise.resolve();
  /** Started settles, including those that wait at the gate. */
  asked = 0;

  constructor(balance = 1_000_000) {
    this.balance = balance;
  }

  #end(request_id: string, how: string): void {
    this.ends.set(request_id, [...(this.ends.get(request_id) ?? []), how]);
  }

  async hold(request: HoldRequest) {
    this.holdRequests.push(request);
    const { least = request.amount } = request;
    const amount = Math.min(request.amount, Math.max(least, Math.floor(this.balance / 4)));
    if (amount > this.balance) return { ok: false as const, reason: "user_quota" as const, balance: this.balance };
    this.balance -= amount;
    this.holds.set(request.request_id, { amount, running: 0 });
    return granted(request, amount);
  }

  async extend(request_id: string, amount: number, running: number) {
    const hold = this.holds.get(request_id);
    if (hold) hold.running = running;
    const granted = hold !== undefined && amount <= this.balance;
    this.extends.push({ request_id, amount, running, granted });
    if (!granted) return false;
    this.balance -= amount;
    hold.amount += amount;
    return true;
  }

  async settle(settlement: Settlement) {
    this.asked++;
    await this.gate;
    this.#end(settlement.request_id, "settle");
    const hold = this.holds.get(settlement.request_id);
    this.holds.delete(settlement.request_id);
    this.balance += (hold?.amount ?? 0) - settlement.quota;
    this.charged += settlement.quota;
    this.settlements.push(settlement);
    return { settled: true as const, hold_missing: hold === undefined };
  }

  async later(end: LateEnd) {
    this.late.push(end);
    await this.keeping;
  }

  async release(request_id: string) {
    this.#end(request_id, "release");
    const hold = this.holds.get(request_id);
    this.holds.delete(request_id);
    this.balance += hold?.amount ?? 0;
    return hold !== undefined;
  }
}

/** Budgets in memory; the real store is tested on both engines. */
export class MemorySpend implements SpendStore {
  readonly amounts = new Map<string, number>();

  async take(budgets: readonly Budget[], units: number): Promise<string | undefined> {
    const full = budgets.find(({ name, limit }) => this.#of(name) + units > limit);
    if (!full) for (const { name } of budgets) this.amounts.set(name, this.#of(name) + units);
    return full?.name;
  }

  async correct(names: readonly string[], units: number): Promise<void> {
    for (const name of names) this.amounts.set(name, this.#of(name) + units);
  }

  async spent(): Promise<ReadonlyMap<string, number>> {
    return this.amounts;
  }

  #of(name: string): number {
    return this.amounts.get(name) ?? 0;
  }
}

export function makeChannel(id: number, base_url: string, more: Partial<PoolChannel> = {}): PoolChannel {
  const type = channelType(1);
  if (!type) throw new Error("channel type 1 is missing");
  return {
    id,
    name: `channel ${id}`,
    type,
    key: `upstream-key-${id}`,
    base_url,
    other: "",
    organization: "",
    models: new Set(),
    groups: new Set(["default"]),
    priority: 0,
    weight: 0,
    auto_ban: true,
    model_mapping: new Map(),
    status_mapping: new Map(),
    setting: {},
    test_model: "",
    ...more,
  };
}

/** 1 unit a token in, 2 a token out. */
export const simplePrice: CompiledPrice = compilePrice(
  "any",
  "default",
  { model_ratio: { value: 1, source: "test" }, completion_ratio: { value: 2, source: "test" } },
  { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
);

/** 100 units a call. */
const callPrice: CompiledPrice = compilePrice(
  "any",
  "default",
  { model_price: { value: 0.0002, source: "test" } },
  { QuotaPerUnit: 500_000, "tool_price_setting.prices": {} },
);

/** What callers left behind, in memory: enough for one user. */
function memoryStoredObjects(now: () => number): StoredObjectStore {
  const entries = new Map<string, Stored>();
  const at = (kind: string, id: string): string => `${kind} ${id}`;
  const seconds = (): number => Math.floor(now() / 1000);
  return {
    lifetime: 2_592_000,
    fileLimit: 1 << 30,
    find: async (kind, id, user) => {
      const entry = entries.get(at(kind, id));
      return entry?.user_id === user && (entry.expires_at === 0 || entry.expires_at > seconds()) ? entry : undefined;
    },
    put: async (entry) =>
      void entries.set(at(entry.kind, entry.object_id), { bytes: 0, created_at: seconds(), ...entry }),
    prolong: async () => undefined,
    remove: async (kind, id) => void entries.delete(at(kind, id)),
    list: async (kind) => [...entries.values()].filter((entry) => entry.kind === kind),
    size: async () => 0,
  };
}

/** Jobs need a database: tests/tasks/kit.ts. */
const noTasks = new Proxy({} as TaskStore, { get: () => () => Promise.reject(new Error("this bench keeps no jobs")) });

export interface Bench {
  controlPlane: ControlPlane;
  ledger: MemoryLedger;
  limits: Limits;
  /** Behind the budgets. */
  spend: MemorySpend;
  failures: CallLog[];
  options: { -readonly [Key in keyof RelayOptions]: RelayOptions[Key] };
  caller: Caller;
  channels: PoolChannel[];
  relay: Relay;
  /** Behind the limits. */
  counter: Counter;
  /** Options that the control plane's other features read. */
  set: Map<OptionKey, unknown>;
  /** Reports of the relay about failed channels. */
  troubles: (ChannelTrouble & { channel: number })[];
  /** Reported implausible usage of upstreams. */
  doubts: UsageDoubt[];
  /** Calls the relay without a server. */
  send(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** Resolves when no call and no stream is open. */
  quiet(): Promise<void>;
}

export const TEST_KEY = "sk-test";

/** A relay over a control plane in memory. */
export function makeBench(
  channels: PoolChannel[],
  deps: Partial<RelayDeps> & { now?: () => number; random?: () => number } = {},
): Bench {
  const ledger = new MemoryLedger();
  const failures: CallLog[] = [];
  const options: Bench["options"] = {
    retryTimes: 0,
    repeatBelowUnits: 50_000,
    preConsumedTokens: 500,
    maxHoldOutputTokens: 4096,
    logConsume: true,
    pingAfterMs: 15_000,
    connectTimeoutMs: 10_000,
    firstByteTimeoutMs: 120_000,
    idleTimeoutMs: 120_000,
    totalTimeoutMs: 3_600_000,
    attemptBudgetMs: 60_000,
    drainEndsRealtime: true,
    drainEndsJobs: false,
    maxBodyBytes: 4 << 20,
    balanceUnit: 500_000,
    batchRatio: 0.5,
    currencyRates: {},
    drawing: true,
    tasks: true,
    serverAddress: "",
    midjourney: { notify: false, accountFilter: false, modeClear: false, checkSuccess: true, forwardUrl: true },
  };
  const caller: Caller = {
    user_id: 1,
    username: "ann",
    role: 1,
    user_group: "default",
    group: "default",
    token_id: 7,
    token_name: "t",
    rpm: 0,
    tpm: 0,
    concurrency: 0,
    lang: "en",
  };
  const { now = Date.now, ...rest } = deps;
  const counter = localCounter(now);
  const set = new Map<OptionKey, unknown>();
  const spend = new MemorySpend();
  const troubles: Bench["troubles"] = [];
  const doubts: Bench["doubts"] = [];
  // Tests set values of the right type; all others have the registry's default.
  const stored = {
    get: <K extends OptionKey>(key: K) => (set.has(key) ? set.get(key) : defaultValue(key)) as OptionValue<K>,
  };
  const limits = createLimits({ cluster: { counter }, options: stored, now, spend });
  const controlPlane: ControlPlane = {
    async authenticate(key) {
      if (key === undefined) throw new AppError("token_missing");
      if (key !== TEST_KEY) throw new AppError("token_invalid");
      return caller;
    },
    watchKey: () => () => {},
    price: (model) =>
      model.startsWith("unpriced") ? undefined : model.startsWith("percall") ? callPrice : simplePrice,
    pool: {
      candidates: (_group, model) => (model.startsWith("nobody") ? [] : channels),
      byId(id) {
        const channel = channels.find((candidate) => candidate.id === id);
        return channel && { channel, enabled: !channel.name.endsWith("disabled") };
      },
      all: () => channels,
      inGroup: () => channels,
      broken: (_group, model) => model.startsWith("nobody-broken"),
      off: (_group, model) => model.startsWith("nobody-off"),
      models: () => ["a-model", "gpt-4o"],
    },
    admit: createAdmit({ limits, ledger, log: silent }),
    ledger,
    funds: async () => ({ remain: ledger.balance, used: ledger.charged, unlimited: false, expires: 0 }),
    async recordFailure(log) {
      failures.push(log);
    },
    async recordRefusal(log) {
      failures.push(log);
    },
    limits,
    storedObjects: memoryStoredObjects(now),
    tasks: noTasks,
    openAddress: (address) => Promise.reject(new Error(`this bench opens no addresses: ${address}`)),
    sendWebhook: () => undefined,
    usageDoubted: (_, found) => void doubts.push(...found),
    channelFailed: (channel, trouble) => void troubles.push({ channel: channel.id, ...trouble }),
    option: options,
    now,
  };
  const relay = createRelay(controlPlane, { log: silent, ...rest });
  let requests = 0;
  return {
    controlPlane,
    ledger,
    limits,
    spend,
    failures,
    options,
    caller,
    channels,
    relay,
    counter,
    troubles,
    doubts,
    set,
    send(path, body, init = {}) {
      const request = new Request(`http://weir.test${path}`, {
        method: body === undefined ? "GET" : "POST",
        body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
        ...init,
        headers: { authorization: `Bearer ${TEST_KEY}`, "accept-language": "en", ...init.headers },
      });
      return relay.handle(request, "127.0.0.1", `req-${++requests}`);
    },
    async quiet() {
      while (relay.stats.open_calls > 0 || relay.stats.open_streams > 0) await Bun.sleep(1);
    },
  };
}

/** The relay behind a real server, for SDKs and for callers that disconnect. */
export function serve(bench: Bench): { url: string; [Symbol.dispose](): void } {
  let requests = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: (request) => bench.relay.handle(request, "127.0.0.1", `req-${++requests}`),
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
}

/** A chat body for a model whose name says what the fake upstream does. */
export const chatBody = (model: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  model,
  messages: [{ role: "user", content: "hello there my friend" }],
  ...more,
});

/** For calls that are tried again: the waits in between take no time. Other timers run as usual. */
export const atOnce: Timers = {
  after: (ms, run) => realTimers.after(ms > 4_000 ? ms : 0, run),
};

/** Time that only tests advance. */
export class VirtualTime {
  #now = 1_700_000_000_000;
  #timers = new Set<{ at: number; run: () => void }>();

  now = (): number => this.#now;
  readonly timers: Timers = {
    after: (ms, run) => {
      const timer = { at: this.#now + ms, run };
      this.#timers.add(timer);
      return () => void this.#timers.delete(timer);
    },
  };

  /** Timers that wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets everything that is ready run, without advancing time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Advances time, timer by timer. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.settle();
    for (;;) {
      const next = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await this.settle();
    }
    this.#now = end;
  }
}

/** The actions of a scripted upstream on one stream. */
export interface ScriptedStream {
  /** Sends text at once. */
  write(text: string): void;
  /** Ends the body. */
  end(): void;
  /** Breaks the connection. */
  cut(): void;
  /** The relay has aborted the request. */
  readonly aborted: boolean;
}

/**
 * An upstream in memory: `answer` gets each request and may keep its stream to write later. The request's signal ends
 * it, like a connection.
 */
export function scripted(
  answer: (stream: ScriptedStream, request: { url: string; body: Record<string, unknown> }) => Response | void | "hang",
) {
  return async (url: string, init: BunFetchRequestInit): Promise<Response> => {
    const { signal } = init;
    const abortError = (): DOMException => new DOMException("aborted", "AbortError");
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (c) => void (controller = c) });
    const stream: ScriptedStream = {
      write: (text) => controller.enqueue(Buffer.from(text)),
      end: () => controller.close(),
      cut: () => controller.error(Object.assign(new Error("cut"), { code: "ECONNRESET" })),
      get aborted() {
        return signal?.aborted ?? false;
      },
    };
    const made = answer(stream, { url, body: JSON.parse(String(init.body)) });
    if (made === "hang") {
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(abortError())));
    }
    signal?.addEventListener("abort", () => {
      try {
        controller.error(abortError());
      } catch {
        // It had ended.
      }
    });
    return made ?? new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
}

/** Frames of an OpenAI stream. */
export const frames = {
  role: `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n`,
  text: (text: string) =>
    `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`,
  finish: `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
  usage: (input: number, output: number) =>
    `data: {"choices":[],"usage":{"prompt_tokens":${input},"completion_tokens":${output},"total_tokens":${input + output}}}\n\n`,
  done: "data: [DONE]\n\n",
};

/** Reads a streamed answer chunk by chunk. */
export function pieces(response: Response): {
  next(): Promise<string | undefined>;
  rest(): Promise<string>;
  leave(): Promise<void>;
} {
  const reader = response.body?.getReader();
  if (!reader) throw new Error("an answer without a body");
  const next = async (): Promise<string | undefined> => {
    const { done, value } = await reader.read();
    return done ? undefined : Buffer.from(value).toString();
  };
  return {
    next,
    async rest() {
      let text = "";
      for (let piece = await next(); piece !== undefined; piece = await next()) text += piece;
      return text;
    },
    leave: () => reader.cancel(),
  };
}
