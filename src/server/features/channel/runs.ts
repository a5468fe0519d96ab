/**
 * Runs over many channels (test all, update all balances): in the background, a few channels at a time, at most one run
 * of a kind in the cluster (a lease). Its progress is a row of `meta`, so every instance can report it, and a run whose
 * process died does not look alive.
 */
import type { ChannelRun, RunKind } from "../../../shared/channel-operations";
import { AppError, type ErrorCode } from "../../../shared/errors";
import type { Held } from "../../cluster/types";
import { type Services, seconds } from "../../contracts/context";
import { readRunState, saveRunState } from "../run/run-state";

/** Channels that are called at the same time. */
const PARALLEL = 8;
/** How often progress is written, in ms. */
const SAVE_EVERY = 500;
/** A run writes at least this often; silent for SILENT_SECONDS it is dead. */
const BEAT_SECONDS = 5;
const SILENT_SECONDS = 20;

/** Thousands of channels take long; each step has a deadline of its own. */
const LEASE = { release: true, mostMs: Infinity } as const;

const REFUSED: Record<RunKind, ErrorCode> = { test: "channel_test_running", balance: "channel_balance_running" };

/** What one channel adds to the run. */
export interface StepResult {
  result: "ok" | "failed" | "skipped";
  /** What the run did to the channel's status. */
  status?: "disabled" | "enabled";
}

export interface RunPlan<Item> {
  kind: RunKind;
  /** '' = the timer. */
  started_by: string;
  items(): Promise<Item[]>;
  /** Must end within a deadline. `signal` is aborted when the process stops. */
  step(item: Item, signal: AbortSignal): Promise<StepResult>;
}

type Stored = Omit<ChannelRun, "running"> & { updated_at: number };

const rowName = (kind: RunKind): string => `channel-run:${kind}`;

/** The run that is under way, else the last one; undefined before the first. */
export const readRun = (services: Pick<Services, "db" | "now">, kind: RunKind): Promise<ChannelRun | undefined> =>
  readRunState<Stored>(services, rowName(kind), SILENT_SECONDS);

/**
 * Starts a run. Resolves once it has begun; `done` resolves when it has ended. Throws channel_test_running or
 * channel_balance_running while one is under way anywhere.
 */
export async function startRun<Item>(
  services: Services,
  plan: RunPlan<Item>,
): Promise<{ run: ChannelRun; done: Promise<void> }> {
  const begun = Promise.withResolvers<ChannelRun>();
  const work = async (held: Held) => {
    const items = await plan.items();
    const now = seconds(services);
    const run: Stored = {
      id: crypto.randomUUID(),
      kind: plan.kind,
      started_by: plan.started_by,
      started_at: now,
      finished_at: 0,
      updated_at: now,
      total: items.length,
      done: 0,
      ok: 0,
      failed: 0,
      skipped: 0,
      disabled: 0,
      enabled: 0,
    };
    await saveRunState(services.db, rowName(run.kind), run);
    services.changes.tell("channel");
    const { updated_at: _updated, ...first } = run;
    begun.resolve({ ...first, running: true });
    await carryOut(services, plan, items, run, held);
  };
  const held = services.cluster.lease.hold(rowName(plan.kind), work, LEASE);
  const done = held.then((got) => {
    if (!got) throw new AppError(REFUSED[plan.kind]);
  });
  done.catch(begun.reject);
  const run = await begun.promise;
  services.background.track(`run over all channels (${plan.kind})`, done);
  return { run, done };
}

async function carryOut<Item>(
  services: Services,
  { step }: RunPlan<Item>,
  items: Item[],
  run: Stored,
  held: Held,
): Promise<void> {
  const { signal } = services.background;
  let saving = Promise.resolve();
  let saved = -1;
  const beat = setInterval(() => {
    const now = seconds(services);
    if (held.lost) return;
    if (saved === run.done && now - run.updated_at < BEAT_SECONDS) return;
    saved = run.done;
    run.updated_at = now;
    // One after the other; the next one makes up for one that failed.
    saving = saving.then(() => saveRunState(services.db, rowName(run.kind), run)).catch(() => {});
  }, SAVE_EVERY);
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) {
      if (signal.aborted || held.lost) return;
      const { result, status } = await step(item, signal).catch((err: unknown): StepResult => {
        if (!signal.aborted) services.log.error({ err, run: run.kind }, "a channel broke its step of a run");
        return { result: "failed" };
      });
      if (signal.aborted) return;
      run.done++;
      run[result]++;
      if (status) run[status]++;
    }
  };
  try {
    await Promise.all(Array.from({ length: PARALLEL }, worker));
  } finally {
    clearInterval(beat);
    await saving;
    // Else the row is another run's by now.
    if (!held.lost) {
      run.finished_at = run.updated_at = Math.max(1, seconds(services));
      await saveRunState(services.db, rowName(run.kind), run);
      services.changes.tell("channel");
    }
  }
}
