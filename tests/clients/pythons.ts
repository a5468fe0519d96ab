/** The vendors' SDKs in Python: one process serves all their runs, because loading an SDK takes longer than a run. */
import { join } from "node:path";
import { type Client, type Door, NATURAL_MODELS, type Outcome, type Target, TOO_LONG } from "./client";
import { FATES } from "./vendors/server";
import { hasPip, type PipClient, PYTHON, VERSIONS } from "./install";

const LIMIT_MS = 60_000;
const PROGRAM = join(import.meta.dir, "python/clients.py");

interface Worker {
  ask(job: object): Promise<Outcome>;
  stop(): void;
}

function startWorker(): Worker {
  const waiting = new Map<number, (outcome: Outcome) => void>();
  let asked = 0;
  const child = Bun.spawn([PYTHON, PROGRAM], {
    env: { PATH: process.env.PATH ?? "", PYTHONUNBUFFERED: "1" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  void (async () => {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const { id, ...outcome } = JSON.parse(line) as Outcome & { id: number };
        waiting.get(id)?.(outcome);
        waiting.delete(id);
      }
    }
    for (const end of waiting.values()) end({ ended: "failed", says: "the Python process has ended" });
  })();
  return {
    ask: (job) =>
      new Promise((resolve) => {
        const id = ++asked;
        const timer = setTimeout(() => {
          waiting.delete(id);
          resolve({ ended: "too late", says: "" });
        }, LIMIT_MS);
        waiting.set(id, (outcome) => {
          clearTimeout(timer);
          resolve(outcome);
        });
        child.stdin.write(`${JSON.stringify({ id, ...job })}\n`);
        void child.stdin.flush();
      }),
    stop: () => child.kill(),
  };
}

let worker: Worker | undefined;

/** Ends the process that serves the runs. */
export const stopPython = (): void => worker?.stop();

const sdk = (name: string, client: string, pip: PipClient, door: Door): Client => ({
  name,
  version: VERSIONS.pip[pip],
  kind: "sdk",
  from: "pip",
  obeys: true,
  door,
  models: [NATURAL_MODELS[door]],
  fates: FATES,
  tooLong: TOO_LONG[door],
  missing: () => (hasPip() ? undefined : "its virtual environment is not there"),
  run: ({ url, key, model, prompt }: Target) => (worker ??= startWorker()).ask({ client, url, key, model, prompt }),
});

export const pythonSdks: readonly Client[] = [
  sdk("openai (Python), chat", "openai_chat", "openai", "openai-chat"),
  sdk("openai (Python), Responses", "openai_responses", "openai", "openai-responses"),
  sdk("anthropic (Python)", "anthropic", "anthropic", "anthropic"),
  sdk("google-genai (Python)", "google_genai", "google-genai", "gemini"),
];
