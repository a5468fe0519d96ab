/** The test setup for jobs with a fake Midjourney on a port, and callers whose tokens are limited. */
import { eq } from "drizzle-orm";
import type { TaskRow } from "../../src/server/db/schema";
import { MJ_MODELS } from "../../src/shared/midjourney";
import type { Engine } from "../kit/databases";
import { type FakeMidjourney, startFakeMidjourney } from "../kit/fake-midjourney";
import type { Harness, Person } from "../kit/harness";
import { openTaskBench } from "./kit";

export interface MjAnswer {
  status: number;
  headers: Headers;
  // Tests inspect responses of every shape.
  body: any;
}

export interface Caller {
  id: number;
  token_id: number;
  key: string;
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<MjAnswer>;
  /** Submits an imagine and returns the job's id. */
  imagine(body?: object, path?: string): Promise<string>;
  fetch(id: string): Promise<any>;
}

export interface MjBench {
  h: Harness;
  fake: FakeMidjourney;
  root: Person;
  /** A user who owns no job of a test. */
  bob: Caller;
  /** A call without a key. */
  open(method: string, path: string, init?: RequestInit): Promise<Response>;
  /** A caller with their own user. */
  newCaller(token?: object, quota?: number): Promise<Caller>;
  newChannel(fields?: { type?: number; models?: string; [field: string]: unknown }): Promise<number>;
  set(option: string, value: unknown): Promise<void>;
  /** Advances the clock past the next poll of every job, and polls. */
  poll(times?: number): Promise<void>;
  row(task_id: string): Promise<TaskRow>;
  rowsOf(caller: Caller): Promise<TaskRow[]>;
  /** Units of user and token, and their used units. */
  money(caller: Caller): Promise<{ quota: number; used: number; remain: number; token_used: number }>;
  /** Types, units and models of a user's log rows, oldest first. */
  logs(caller: Caller): Promise<[type: number, quota: number, model: string][]>;
  /** Throws when the ledger does not balance. */
  balanced(): Promise<void>;
  close(): Promise<void>;
}

const START = 10_000_000;

export async function openMjBench(
  engine: Engine,
  env: Record<string, string> = { WEIR_ALLOW_PRIVATE_FETCH: "true" },
): Promise<MjBench> {
  const bench = await openTaskBench(engine, undefined, { env, network: true });
  const { h, relay, root } = bench;
  const { db, ledger, pool } = h.services;
  const fake = startFakeMidjourney();
  let requests = 0;

  const newCaller = async (token: object = {}, quota = START): Promise<Caller> => {
    const { user_id, token_id, key, send } = await bench.caller(quota, {
      unlimited_quota: false,
      remain_quota: START,
      ...token,
    });
    const call: Caller["call"] = async (method, path, body, headers) => {
      const response = await send(method, path, body, headers);
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
    };
    return {
      id: user_id,
      token_id,
      key: `sk-${key}`,
      call,
      imagine: async (body = {}, path = "/mj") => {
        const answer = await call("POST", `${path}/submit/imagine`, { prompt: "Cat", ...body });
        if (answer.body.code !== 1) throw new Error(JSON.stringify(answer.body));
        return String(answer.body.result);
      },
      fetch: async (job) => (await call("GET", `/mj/task/${job}/fetch`)).body,
    };
  };

  return {
    h,
    fake,
    root,
    newCaller,
    bob: await newCaller(),
    open: (method, path, init) =>
      relay.handle(
        new Request(`http://weir.test${path}`, { method, ...init }),
        "198.51.100.7",
        `open-${engine}-${++requests}`,
      ),
    async newChannel({ type = 5, models = Object.values(MJ_MODELS).join(","), ...fields } = {}) {
      const id = await bench.channel(type, models.split(","), {
        name: "mj",
        key: "mj-secret",
        base_url: fake.url,
        ...fields,
      });
      await pool.reload();
      return id;
    },
    set: bench.setOption,
    async poll(times = 1) {
      for (let i = 0; i < times; i++) await bench.round(61);
    },
    row: bench.task,
    rowsOf: ({ id }) =>
      db.q
        .select()
        .from(db.t.tasks)
        .where(eq(db.t.tasks.user_id, id))
        .then((rows) => rows),
    async money({ id, token_id }) {
      await ledger.flush();
      const [user] = await db.q.select().from(db.t.users).where(eq(db.t.users.id, id));
      const [token] = await db.q.select().from(db.t.tokens).where(eq(db.t.tokens.id, token_id));
      return {
        quota: user?.quota ?? -1,
        used: user?.used_quota ?? -1,
        remain: token?.remain_quota ?? -1,
        token_used: token?.used_quota ?? -1,
      };
    },
    async logs({ id }) {
      await ledger.flush();
      const rows = await db.q.select().from(db.t.logs).where(eq(db.t.logs.user_id, id)).orderBy(db.t.logs.id);
      return rows.map(({ type, quota, model_name }) => [type, quota, model_name]);
    },
    async balanced() {
      await ledger.flush();
      await bench.balanced();
    },
    async close() {
      await fake.stop();
      await bench.close();
    },
  };
}

/** The balances of a user and their token before any charge. */
export const untouched = { quota: START, used: 0, remain: START, token_used: 0 } as const;

/** The same after charges of `units` in total. */
export const charged = (units: number) => ({
  quota: START - units,
  used: units,
  remain: START - units,
  token_used: units,
});
