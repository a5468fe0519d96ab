/** The measured processes: the fake upstream itself, the bare pass-through, Weir on SQLite and on Postgres. */
import { join } from "node:path";
import { type Engine } from "../../tests/kit/databases";
import { type Session, startWeir, type Weir } from "../../tests/kit/weir";
import { MODELS } from "./scenarios";

export interface MeasuredProcess {
  name: string;
  url: string;
  key: string;
  pid: number;
  stop(): Promise<void>;
}

export interface MeasuredWeir extends MeasuredProcess {
  engine: Engine;
  weir: Weir;
  /** Calls the server has counted so far. */
  counted(): Promise<number>;
}

/** A script that prints `listening <url>`. */
async function startScript(name: string, file: string, args: string[] = []): Promise<MeasuredProcess> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, file), ...args], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true });
    const url = /listening (\S+)\n/.exec(output)?.[1];
    if (url) {
      return {
        name,
        url,
        key: "good-key",
        pid: child.pid,
        stop: async () => {
          child.kill("SIGTERM");
          await child.exited;
        },
      };
    }
  }
  throw new Error(`${file} did not start: ${output}`);
}

export const startUpstream = (): Promise<MeasuredProcess> => startScript("upstream, direct", "upstream.ts");
export const startBare = (upstream: string): Promise<MeasuredProcess> =>
  startScript("bare pass-through", "bare.ts", [upstream]);

/** With authentication, hold, settle and log on: nothing is switched off. `command`: a binary instead of the source. */
export async function startMeasuredWeir(
  engine: Engine,
  upstream: string,
  command?: readonly string[],
): Promise<MeasuredWeir> {
  const weir = await startWeir({ engine, child: command ?? true });
  const { process: running, root } = weir;
  if (!running) throw new Error("Weir is not a process of its own");
  await weir.newChannel({ base_url: upstream, models: MODELS });
  // Cheap, so that the first account's balance lasts; every call is still priced, held and settled.
  await weir.priceModels(Object.fromEntries(MODELS.map((model) => [model, 0.05])));
  const { key } = await weir.newToken();
  let stopping = false;
  void running.exited.then((code) => {
    if (!stopping) console.error(`Weir ended by itself, exit code ${code}:\n${running.output().slice(-5000)}`);
  });
  return {
    name: `Weir, ${engine === "sqlite" ? "SQLite" : "Postgres"}`,
    engine,
    weir,
    key,
    url: weir.url,
    pid: running.pid,
    counted: () => callsOf(root),
    stop: () => {
      stopping = true;
      return weir.stop();
    },
  };
}

const callsOf = async (user: Session): Promise<number> =>
  (await user.ok<{ request_count: number }>("GET", "/api/user/self")).request_count;
