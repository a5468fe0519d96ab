/**
 * The test of all channels, by hand or by the timer: every channel that was not disabled by hand, a few at a time, each
 * with its own deadline. Failing and slow ones are disabled, recovered ones enabled, as far as the options and the
 * channel allow (C-331 to C-333, C-510, C-511).
 */
import { asc, inArray } from "drizzle-orm";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { isMultiKeyMode } from "../../../shared/channel-keys";
import type { ChannelRun } from "../../../shared/channel-operations";
import { AppError } from "../../../shared/errors";
import { type Services, seconds, type UserCtx } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import { autoDisable, autoEnable, disables, type Suspect } from "./auto-disable";
import { modelToTest, runTest, TEST_TIMEOUT_MS, type Tester, type TestOptions, type TestOutcome } from "./health";
import { recordAct } from "../audit/record";
import { keyInTurn, loadKeys } from "./keys";
import { readRun, startRun, type StepResult } from "./runs";

/** undefined: the timer. */
const TIMER: Tester = { id: 0, username: "", group: "", ip: "" };

/** Starts the test of all channels and returns at once. Throws channel_test_running. */
export async function testAll(ctx: UserCtx): Promise<ChannelRun> {
  const { id, username, group } = ctx.actor;
  const { run } = await startTestRun(ctx, { id, username, group, ip: ctx.ip });
  await recordAct(ctx, { action: "channel.test", target: "", after: { channels: run.total } });
  return run;
}

/** As testAll; `done` resolves when the run has ended. */
export function startTestRun(services: Services, tester: Tester, timeoutMs = TEST_TIMEOUT_MS) {
  const { channels } = services.db.t;
  return startRun<ChannelRow>(services, {
    kind: "test",
    started_by: tester.username,
    items: () =>
      services.db.read
        .select()
        .from(channels)
        .where(inArray(channels.status, [CHANNEL_STATUS.enabled, CHANNEL_STATUS.auto_disabled]))
        .orderBy(asc(channels.id)),
    step: (row, signal) => testOne(services, row, tester, timeoutMs, signal),
  });
}

/** Most keys of one channel that a run tests among those that were disabled automatically. */
const MOST_AUTO_DISABLED = 10;

/**
 * A channel is tested with its key; of several with the one whose turn it is, and with those that may be enabled again.
 */
async function testOne(
  services: Services,
  row: ChannelRow,
  tester: Tester,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<StepResult> {
  if (!isMultiKeyMode(row.multi_key_mode)) return testKey(services, row, { tester, timeoutMs, signal });
  const keys = await loadKeys(services, row);
  const next = keyInTurn(services, row, keys, modelToTest(row));
  const chosen = [
    ...(next && !next.autoDisabled ? [next] : []),
    ...keys.filter(({ autoDisabled }) => autoDisabled).slice(0, MOST_AUTO_DISABLED),
  ];
  let result: StepResult = { result: "failed" };
  for (const keyed of chosen) {
    const tested = await testKey(services, row, { tester, timeoutMs, signal, keyed }, keyed.autoDisabled);
    if (result.result !== "ok" || tested.status)
      result = { ...tested, result: result.result === "ok" ? "ok" : tested.result };
  }
  return result;
}

async function testKey(
  services: Services,
  row: ChannelRow,
  options: TestOptions,
  autoDisabled = row.status === CHANNEL_STATUS.auto_disabled,
): Promise<StepResult> {
  let outcome: TestOutcome;
  try {
    outcome = await runTest(services, row, options);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { result: error.code === "channel_test_unsupported" ? "skipped" : "failed" };
  }
  const status = await judgeStatus(services, options.keyed ?? row, outcome, autoDisabled);
  return { result: outcome.problem === "" ? "ok" : "failed", ...(status ? { status } : {}) };
}

/** The change of the channel's status by the outcome; undefined = none. */
async function judgeStatus(
  services: Services,
  suspect: Suspect,
  outcome: TestOutcome,
  autoDisabled: boolean,
): Promise<StepResult["status"]> {
  const { problem, trouble, milliseconds, request_id, model } = outcome;
  const limit = services.options.get("ChannelDisableThreshold");
  const slow = limit > 0 && milliseconds > limit * 1000;
  const evidence = { request_id, model };
  if (autoDisabled) {
    return problem === "" && !slow && (await autoEnable(services, suspect, evidence)) ? "enabled" : undefined;
  }
  if (trouble && disables(services, trouble)) {
    const reason = { code: "channel_test_failed", values: { detail: problem } } as const;
    return (await autoDisable(services, suspect, reason, evidence)) ? "disabled" : undefined;
  }
  if (!slow) return undefined;
  const reason = { code: "channel_too_slow", values: { seconds: (milliseconds / 1000).toFixed(2), limit } } as const;
  return (await autoDisable(services, suspect, reason, evidence)) ? "disabled" : undefined;
}

/** For the timer, on every instance: starts a test when CHANNEL_TEST_FREQUENCY minutes have passed since the last. */
export async function testAllWhenDue(services: Services): Promise<void> {
  const minutes = services.env.CHANNEL_TEST_FREQUENCY;
  if (minutes === 0) return;
  const last = await readRun(services, "test");
  if (last && (last.running || Math.abs(seconds(services) - last.started_at) < minutes * 60)) return;
  await startTestRun(services, TIMER).catch((error: unknown) => {
    // Another instance was faster.
    if (!(error instanceof AppError && error.code === "channel_test_running")) throw error;
  });
}
