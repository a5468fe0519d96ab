/** A real Redis server that can be killed and started again on its port. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { RedisClient } from "bun";

export interface Redis {
  readonly url: string;
  /** SIGKILL; what it knew is lost. */
  kill(): Promise<void>;
  start(): Promise<void>;
  suspend(): void;
  resume(): void;
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });

/** `program`: the path of a redis-server (tests/kit/required.ts). `more`: options beside the usual ones. */
export async function startRedis(program: string, more: readonly string[] = []): Promise<Redis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let running: { child: ChildProcess; ended: Promise<unknown> } | undefined;
  const redis: Redis = {
    url,
    kill: async () => {
      running?.child.kill("SIGKILL");
      await running?.ended;
      running = undefined;
    },
    suspend: () => void running?.child.kill("SIGSTOP"),
    resume: () => void running?.child.kill("SIGCONT"),
    start: async () => {
      if (running) return;
      const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...more];
      const child = spawn(program, options, { stdio: "ignore" });
      running = { child, ended: new Promise((resolve) => child.once("exit", resolve)) };
      for (let tries = 0; tries < 200; tries++) {
        const probe = new RedisClient(url, { autoReconnect: false, enableOfflineQueue: false });
        try {
          await probe.connect();
          return;
        } catch {
          await Bun.sleep(20);
        } finally {
          probe.close();
        }
      }
      throw new Error("redis-server did not start");
    },
  };
  await redis.start();
  return redis;
}
