/** Several Weirs on one Postgres, each in its own process, with one root account; each may use its own database URL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeUpstream, startFakeUpstream } from "./fake-upstream/server";
import { freshPostgres, type FreshDatabase } from "./databases";
import { startProcess, type WeirProcess } from "./weir-process";

const ACCOUNT = { username: "root", password: "correct-horse-9" };
/** The model of the fake upstream. */
export const MODEL = "echo";

export interface Called {
  status: number;
  body: string;
  ms: number;
}

export interface Instances {
  readonly fresh: FreshDatabase;
  readonly fake: FakeUpstream;
  /** Starts one that reaches the database at `url` (default: directly). */
  start(url?: string, env?: Record<string, string>): Promise<WeirProcess>;
  /** /api as root; throws unless it succeeds. */
  api<T = unknown>(at: WeirProcess, method: string, path: string, body?: object): Promise<T>;
  /** The same, with any result. */
  ask(
    at: WeirProcess,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: { success?: boolean; code?: string; data?: unknown } }>;
  setOption(at: WeirProcess, key: string, value: string): Promise<void>;
  /** A priced model, a channel and a token, created at one of them. */
  prepare(at: WeirProcess): Promise<{ key: string; token_id: number; channel_id: number }>;
  call(at: WeirProcess, key: string, model?: string): Promise<Called>;
  stop(): Promise<void>;
}

export async function openInstances(): Promise<Instances> {
  const [fresh, fake] = [await freshPostgres(2), startFakeUpstream({ port: 0 })];
  const running: WeirProcess[] = [];
  const folders: string[] = [];
  let signedIn: Promise<Record<string, string>> | undefined;

  const signIn = async (at: WeirProcess): Promise<Record<string, string>> => {
    const answer = await fetch(`${at.url}/api/user/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ACCOUNT),
    });
    const { data } = (await answer.json()) as { data: { id: number } };
    return { cookie: answer.headers.getSetCookie()[0]?.split(";")[0] ?? "", "new-api-user": String(data.id) };
  };

  const all: Instances = {
    fresh,
    fake,
    start: async (url = fresh.url, env = {}) => {
      const folder = mkdtempSync(join(tmpdir(), "weir-instance-"));
      folders.push(folder);
      const started = await startProcess(undefined, {
        PORT: "0",
        WEIR_HOST: "127.0.0.1",
        WEIR_DATA_DIR: folder,
        DATABASE_URL: url,
        WEIR_PG_POOL: "4",
        WEIR_ROOT_USERNAME: ACCOUNT.username,
        WEIR_ROOT_PASSWORD: ACCOUNT.password,
        WEIR_API_RATE_LIMIT: "0",
        WEIR_CRITICAL_RATE_LIMIT: "0",
        WEIR_DRAIN_SECONDS: "0",
        ...env,
      });
      running.push(started);
      return started;
    },
    ask: async (at, method, path, body) => {
      signedIn ??= signIn(at);
      const headers = { "content-type": "application/json", ...(await signedIn) };
      const answer = await fetch(at.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
      return {
        status: answer.status,
        body: (await answer.json()) as { success?: boolean; code?: string; data?: unknown },
      };
    },
    api: async <T>(at: WeirProcess, method: string, path: string, body?: object) => {
      const answer = await all.ask(at, method, path, body);
      if (!answer.body.success) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body.data as T;
    },
    setOption: async (at, key, value) => void (await all.api(at, "PUT", "/api/option/", { key, value })),
    prepare: async (at) => {
      await all.setOption(at, "ModelRatio", JSON.stringify({ [MODEL]: 1 }));
      await all.api(at, "POST", "/api/channel/", {
        type: 1,
        name: "fake",
        key: "good",
        base_url: fake.url,
        models: MODEL,
      });
      const channels = await all.api<{ id: number }[]>(at, "GET", "/api/channel/");
      const token = await all.api<{ id: number; key: string }>(at, "POST", "/api/token/", {
        name: "t",
        unlimited_quota: true,
      });
      return { key: `sk-${token.key}`, token_id: token.id, channel_id: channels[0]?.id ?? 0 };
    },
    call: async (at, key, model = MODEL) => {
      const began = performance.now();
      const answer = await fetch(`${at.url}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
      });
      const body = await answer.text();
      return { status: answer.status, body, ms: performance.now() - began };
    },
    stop: async () => {
      for (const one of running) one.kill("SIGKILL");
      await Promise.all(running.map((one) => one.exited));
      fake.close();
      await fresh.close();
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
  return all;
}

/** Waits until `holds` returns true; returns how many milliseconds that took, or fails. */
export async function until(what: string, ms: number, holds: () => Promise<boolean> | boolean): Promise<number> {
  const began = performance.now();
  for (;;) {
    if (await holds()) return performance.now() - began;
    if (performance.now() - began > ms) throw new Error(`${what}: not within ${ms} ms`);
    await Bun.sleep(25);
  }
}
