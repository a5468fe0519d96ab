/**
 * Jobs on a real database, with a vendor in memory and time that tests advance: the services of the harness, a relay
 * over the real control plane, users with keys, and rounds of the poller.
 */
import { eq } from "drizzle-orm";
import { audit } from "../../src/server/features/wallet/audit";
import { fold } from "../../src/server/features/log/fold";
import type { LogRow, TaskRow } from "../../src/server/db/schema";
import { createRelay, type Relay } from "../../src/server/relay/entry/handle";
import type { ControlPlane } from "../../src/server/contracts/control-plane";
import { createControlPlane } from "../../src/server/wiring/control-plane";
import type { PriceRule } from "../../src/shared/price-rules";
import { LOG_TYPE } from "../../src/shared/log";
import { ROLE } from "../../src/shared/roles";
import type { Engine } from "../kit/databases";
import { type Harness, openHarness, type Person } from "../kit/harness";

/** One request to a vendor. */
export interface Asked {
  method: string;
  url: string;
  path: string;
  query: URLSearchParams;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Parsed if it is JSON, else as text; undefined without a body. */
  body: any;
  /** Values of the path's {parameters}. */
  params: Record<string, string>;
}

/**
 * An object is answered as JSON with status 200. "hang" answers when it is aborted; "dead" not even then, as if the
 * calling process were gone; "cut" breaks the connection.
 */
export type VendorAnswer = Response | object | "hang" | "dead" | "cut";
type Answerer = (asked: Asked) => VendorAnswer | Promise<VendorAnswer>;

/**
 * A vendor in memory: lines such as "POST /suno/submit/{action}" and their answers. The line added last wins. A request
 * without a line is a 404.
 */
export class FakeVendor {
  readonly asked: Asked[] = [];
  readonly #lines: { method: string; pattern: RegExp; names: string[]; answer: Answerer }[] = [];

  on(line: string, answer: VendorAnswer | Answerer): this {
    const [method = "", path = ""] = line.split(" ");
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    const source = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{\w+\}/g, "([^/]+)");
    const reply: Answerer =
      typeof answer === "function"
        ? (answer as Answerer)
        : () => (answer instanceof Response ? answer.clone() : answer);
    this.#lines.unshift({ method, pattern: new RegExp(`^${source}$`), names, answer: reply });
    return this;
  }

  /** Requests of a line. */
  count(method: string, path: string): number {
    return this.asked.filter((one) => one.method === method && one.path === path).length;
  }

  readonly fetch = async (address: string, init: BunFetchRequestInit): Promise<Response> => {
    const url = new URL(address);
    const method = init.method ?? "GET";
    const text =
      typeof init.body === "string"
        ? init.body
        : init.body === undefined || init.body === null
          ? undefined
          : await new Response(init.body).text();
    const asked: Asked = {
      method,
      url: address,
      path: url.pathname,
      query: url.searchParams,
      headers: Object.fromEntries(new Headers(init.headers as HeadersInit)),
      params: {},
      body: text === undefined ? undefined : parsed(text),
    };
    for (const { method: its, pattern, names, answer } of this.#lines) {
      const found = its === method ? pattern.exec(url.pathname) : null;
      if (!found) continue;
      asked.params = Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(found[i + 1] ?? "")]));
      this.asked.push(asked);
      const said = await answer(asked);
      if (said === "cut") throw Object.assign(new Error("cut"), { code: "ECONNRESET" });
      if (said === "dead") return new Promise(() => undefined);
      if (said === "hang") {
        return new Promise((_, reject) =>
          init.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))),
        );
      }
      return said instanceof Response ? said : Response.json(said);
    }
    this.asked.push(asked);
    return Response.json({ error: { message: "no such thing here", type: "not_found" } }, { status: 404 });
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export interface Caller {
  person: Person;
  user_id: number;
  token_id: number;
  key: string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The same, read as JSON. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: any }>;
}

export interface TaskBench {
  h: Harness;
  vendor: FakeVendor;
  relay: Relay;
  controlPlane: ControlPlane;
  root: Person;
  /** A user with `quota` units and a key; `token`: fields of POST /api/token/. */
  caller(quota?: number, token?: Record<string, unknown>): Promise<Caller>;
  /** A channel of a type; its address is https://vendor.test. Returns its id. */
  channel(type: number, models: readonly string[], more?: Record<string, unknown>): Promise<number>;
  setOption(key: string, value: unknown): Promise<void>;
  /** Advances time and polls the due jobs. */
  round(seconds?: number): Promise<void>;
  task(task_id: string): Promise<TaskRow>;
  tasks(): Promise<TaskRow[]>;
  /** Log rows of a job: its charges (2) and refunds (6), in order. */
  bills(task_id: string): Promise<Pick<LogRow, "type" | "quota" | "request_id" | "code" | "params" | "other">[]>;
  /** Spendable units, used units, calls; and held units. */
  money(
    caller: Caller,
  ): Promise<{ quota: number; used_quota: number; request_count: number; token_used: number; held: number }>;
  /** Folds, audits, and compares every job with its bills: its cost is its charges less its refunds. */
  balanced(): Promise<void>;
  close(): Promise<void>;
}

const VENDOR = "https://vendor.test";

/** A rule that makes everything three times as dear in these minutes from now on. */
export function dearBetween({ h }: TaskBench, from: number, to: number): PriceRule {
  const clock = (minutes: number) => new Date(h.services.now() + minutes * 60_000).toISOString().slice(11, 16);
  const hours = [{ zone: "UTC", from: clock(from), to: clock(to) }];
  return { name: "dear", when: { hours }, then: { factor: 3 } };
}

export interface BenchOptions {
  env?: Record<string, string>;
  /** Vendors are servers: none is in memory. */
  network?: boolean;
}

export async function openTaskBench(
  engine: Engine,
  partsOf: (controlPlane: ControlPlane) => Partial<ControlPlane> = () => ({}),
  { env = {}, network = false }: BenchOptions = {},
): Promise<TaskBench> {
  const h = await openHarness(engine, env);
  const { services } = h;
  const { db } = services;
  const vendor = new FakeVendor();
  const real = createControlPlane(services);
  // Not a copy: its options are read again at each use.
  const controlPlane = Object.create(real, Object.getOwnPropertyDescriptors(partsOf(real))) as ControlPlane;
  const relay = createRelay(controlPlane, {
    log: services.log,
    routing: h.routing,
    ...(!network && { fetch: vendor.fetch }),
  });
  const root = await h.person({ role: ROLE.root });
  let requests = 0;
  let names = 0;

  const bench: TaskBench = {
    h,
    vendor,
    relay,
    controlPlane,
    root,
    async caller(quota = 1_000_000, token = {}) {
      const person = await h.person();
      const user_id = person.ctx.actor.id;
      await services.ledger.credit({ user_id, amount: quota, kind: "setup", idempotency_key: `setup:${user_id}` });
      const [made] = await person.call.token.create({ name: "t", unlimited_quota: true, ...token });
      if (!made) throw new Error("no token");
      const send: Caller["send"] = (method, path, body, headers = {}) =>
        relay.handle(
          new Request(`http://weir.test${path}`, {
            method,
            headers: { authorization: `Bearer sk-${made.key}`, "accept-language": "en", ...headers },
            ...(body !== undefined && {
              body: typeof body === "string" || body instanceof FormData ? body : JSON.stringify(body),
            }),
          }),
          "198.51.100.9",
          `req-${engine}-${process.pid}-${++requests}`,
        );
      return {
        person,
        user_id,
        token_id: made.id,
        key: made.key,
        send,
        async ask(method, path, body, headers) {
          const answer = await send(method, path, body, headers);
          return { status: answer.status, body: parsed(await answer.text()) };
        },
      };
    },
    async channel(type, models, more = {}) {
      const [made] = await root.call.channel.create({
        type,
        name: `c${++names}`,
        key: "vendor-key",
        base_url: VENDOR,
        models: [...models],
        groups: ["default"],
        ...more,
      });
      if (!made) throw new Error("no channel");
      return made.id;
    },
    async setOption(key, value) {
      const { body } = await root.rest("PUT", "/api/option/", { key, value });
      if (!body.success) throw new Error(body.message);
    },
    async round(seconds = 15) {
      h.advance(seconds);
      await relay.tasks.poll();
    },
    async task(task_id) {
      const [row] = await db.q.select().from(db.t.tasks).where(eq(db.t.tasks.task_id, task_id));
      if (!row) throw new Error(`no task ${task_id}`);
      return row;
    },
    tasks: () =>
      db.q
        .select()
        .from(db.t.tasks)
        .then((rows) => rows),
    async bills(task_id) {
      const { charge_id } = await bench.task(task_id);
      const { logs } = db.t;
      const rows = await db.q
        .select({
          id: logs.id,
          type: logs.type,
          quota: logs.quota,
          request_id: logs.request_id,
          code: logs.code,
          params: logs.params,
          other: logs.other,
        })
        .from(logs);
      return rows
        .filter(
          (row) =>
            [charge_id, `${charge_id}/refund`, `${charge_id}/extra`].includes(row.request_id) &&
            (row.type === LOG_TYPE.consume || row.type === LOG_TYPE.refund),
        )
        .toSorted((a, b) => a.id - b.id)
        .map(({ type, quota, request_id, code, params, other }) => ({ type, quota, request_id, code, params, other }));
    },
    async money({ user_id, token_id }) {
      const [user] = await db.q.select().from(db.t.users).where(eq(db.t.users.id, user_id));
      const [token] = await db.q.select().from(db.t.tokens).where(eq(db.t.tokens.id, token_id));
      const holds = await db.q.select().from(db.t.holds).where(eq(db.t.holds.user_id, user_id));
      if (!user || !token) throw new Error("no such caller");
      return {
        quota: user.quota,
        used_quota: user.used_quota,
        request_count: user.request_count,
        token_used: token.used_quota,
        held: holds.reduce((sum, hold) => sum + hold.amount, 0),
      };
    },
    async balanced() {
      await fold(services);
      const found = await Array.fromAsync(audit(db));
      if (found.length > 0) throw new Error(`the books do not balance: ${JSON.stringify(found)}`);
      for (const task of await bench.tasks()) {
        const net = (await bench.bills(task.task_id)).reduce(
          (sum, row) => sum + (row.type === LOG_TYPE.consume ? row.quota : -row.quota),
          0,
        );
        const cost = task.status === "NOT_START" ? net : task.quota;
        if (net !== cost || (task.status === "FAILURE" && net !== 0)) {
          throw new Error(`job ${task.task_id} (${task.status}) was charged ${net} net and says ${task.quota}`);
        }
      }
    },
    close: () => h.close(),
  };
  return bench;
}
