/** A relay over real services and a fake Midjourney, with a clock that tests move; no port is opened but the fake's. */
import { eq } from "drizzle-orm";
import type { TaskRow } from "../../src/server/db/schema";
import { audit } from "../../src/server/features/wallet/audit";
import { relaySeams } from "../../src/server/relay-seams";
import { createRelay } from "../../src/server/relay/handle";
import { ROLE } from "../../src/shared/roles";
import type { Engine } from "../kit/databases";
import { type FakeMidjourney, startFakeMidjourney } from "../kit/fake-midjourney";
import { type Harness, openHarness, type Person } from "../kit/harness";

export interface MjAnswer {
  status: number;
  headers: Headers;
  // Tests look into answers of every shape.
  body: any;
}

export interface Caller {
  id: number;
  token_id: number;
  key: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<MjAnswer>;
  /** Submits an imagine and answers the job's id. */
  imagine(body?: object, path?: string): Promise<string>;
  fetch(id: string): Promise<any>;
}

export interface MjBench {
  h: Harness;
  fake: FakeMidjourney;
  root: Person;
  ann: Caller;
  /** Somebody else. */
  bob: Caller;
  /** A call without a key. */
  open(method: string, path: string, init?: RequestInit): Promise<Response>;
  /** A caller with a user of his own. */
  newCaller(token?: object, quota?: number): Promise<Caller>;
  newChannel(fields?: object): Promise<number>;
  /** The price of a model in units: 0.1 USD. */
  set(option: string, value: unknown): Promise<void>;
  /** Moves the clock past the next poll of every job, and polls. */
  poll(times?: number): Promise<void>;
  row(task_id: string): Promise<TaskRow>;
  /** Units of user and token, and what each has used. */
  money(caller: Caller): Promise<{ quota: number; used: number; remain: number; token_used: number }>;
  /** Types and units of a user's log rows, oldest first. */
  logs(caller: Caller): Promise<[type: number, quota: number, model: string][]>;
  faults(): Promise<unknown[]>;
  close(): Promise<void>;
}

const START = 10_000_000;

export async function openMjBench(engine: Engine, env: Record<string, string> = { WEIR_ALLOW_PRIVATE_FETCH: "true" }): Promise<MjBench> {
  const h = await openHarness(engine, env);
  const { services } = h;
  const { db } = services;
  const fake = startFakeMidjourney();
  const relay = createRelay(relaySeams(services), { log: services.log, routing: services.routing });
  const root = await h.person({ role: ROLE.root });
  let requests = 0;
  const open: MjBench["open"] = (method, path, init) =>
    relay.handle(new Request(`http://weir.test${path}`, { method, ...init }), "198.51.100.7", `req-${++requests}`);

  const bench: MjBench = {
    h, fake, root, open,
    ann: undefined as unknown as Caller,
    bob: undefined as unknown as Caller,
    async newCaller(token = {}, quota = START) {
      const person = await h.person();
      const { id } = person.ctx.actor;
      if (quota > 0) await services.ledger.credit({ user_id: id, amount: quota, kind: "adjust", idempotency_key: `bench:${id}` });
      const made = await person.rest("POST", "/api/token/", { name: "t", remain_quota: START, ...token });
      if (!made.body.success) throw new Error(made.text);
      const { id: token_id, key } = made.body.data as { id: number; key: string };
      const call: Caller["call"] = async (method, path, body, headers = {}) => {
        const response = await open(method, path, {
          headers: { authorization: `Bearer sk-${key}`, "content-type": "application/json", "accept-language": "en", ...headers },
          ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
        });
        const text = await response.text();
        try {
          return { status: response.status, headers: response.headers, body: JSON.parse(text) };
        } catch {
          return { status: response.status, headers: response.headers, body: text };
        }
      };
      return {
        id, token_id, key: `sk-${key}`, call,
        imagine: async (body = {}, path = "/mj") => {
          const answer = await call("POST", `${path}/submit/imagine`, { prompt: "Cat", ...body });
          if (answer.body.code !== 1) throw new Error(JSON.stringify(answer.body));
          return String(answer.body.result);
        },
        fetch: async (job) => (await call("GET", `/mj/task/${job}/fetch`)).body,
      };
    },
    async newChannel(fields = {}) {
      const models = "mj_imagine,mj_variation,mj_reroll,mj_blend,mj_upscale,mj_describe,mj_upload,swap_face,mj_zoom,mj_shorten,mj_modal,mj_inpaint,mj_custom_zoom,mj_high_variation,mj_low_variation,mj_pan,mj_edits,mj_video";
      const made = await root.rest("POST", "/api/channel/", { type: 5, name: "mj", key: "mj-secret", group: "default", base_url: fake.url, models, ...fields });
      if (!made.body.success) throw new Error(made.text);
      const rows = await db.q.select({ id: db.t.channels.id }).from(db.t.channels);
      await services.pool.reload();
      return Math.max(...rows.map(({ id }) => id));
    },
    async set(option, value) {
      const answer = await root.rest("PUT", "/api/option/", { key: option, value: typeof value === "object" ? JSON.stringify(value) : value });
      if (!answer.body.success) throw new Error(answer.text);
    },
    async poll(times = 1) {
      for (let i = 0; i < times; i++) {
        h.advance(61);
        await relay.tasks.poll();
      }
    },
    async row(task_id) {
      const [row] = await db.q.select().from(db.t.tasks).where(eq(db.t.tasks.task_id, task_id));
      if (!row) throw new Error(`no job ${task_id}`);
      return row;
    },
    async money({ id, token_id }) {
      await services.ledger.flush();
      const [user] = await db.q.select().from(db.t.users).where(eq(db.t.users.id, id));
      const [token] = await db.q.select().from(db.t.tokens).where(eq(db.t.tokens.id, token_id));
      return { quota: user?.quota ?? -1, used: user?.used_quota ?? -1, remain: token?.remain_quota ?? -1, token_used: token?.used_quota ?? -1 };
    },
    async logs({ id }) {
      await services.ledger.flush();
      const rows = await db.q.select().from(db.t.logs).where(eq(db.t.logs.user_id, id)).orderBy(db.t.logs.id);
      return rows.map(({ type, quota, model_name }) => [type, quota, model_name]);
    },
    faults: async () => {
      await services.ledger.flush();
      return Array.fromAsync(audit(db));
    },
    async close() {
      await fake.stop();
      await h.close();
    },
  };
  bench.ann = await bench.newCaller();
  bench.bob = await bench.newCaller();
  return bench;
}

/** What a user and his token have before anything was charged. */
export const untouched = { quota: START, used: 0, remain: START, token_used: 0 } as const;

/** The same after charges of `units` together. */
export const charged = (units: number) => ({ quota: START - units, used: units, remain: START - units, token_used: units });
