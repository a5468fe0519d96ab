/** Channel tests that run or ran on this page: where a test was started does not matter, every place shows it. */
import { t } from "@lingui/core/macro";
import { useCallback, useSyncExternalStore } from "react";
import type { ChannelTestResult, ChannelView } from "../../../shared/channel";
import { faultOf } from "../../lib/errors";
import { toastError, toastSuccess } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { usePatchChannels } from "./channel-cache";

export type ChannelTest =
  /** `startedAt` is a reading of performance.now(). */
  { kind: "running"; startedAt: number } | ({ kind: "done" } & ChannelTestResult);

const tests = new Map<string, ChannelTest>();
const listeners = new Set<() => void>();

/** Without a model: the last test of the channel, whatever its model. */
const keyOf = (id: number, model?: string) => (model === undefined ? String(id) : `${id} ${model}`);

function keep(id: number, model: string | undefined, test: ChannelTest): void {
  tests.set(keyOf(id), test);
  if (model !== undefined) tests.set(keyOf(id, model), test);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The last test of a channel, or of one of its models, since the page was loaded. */
export function useChannelTest(id: number, model?: string): ChannelTest | undefined {
  return useSyncExternalStore(subscribe, () => tests.get(keyOf(id, model)));
}

/**
 * Runs a test: with a model, of that one, else of the channel's test model. `silent` leaves out the toasts, for places
 * that show each result themselves. A test of the same thing that still runs is not started twice. Answers whether it
 * went well; undefined when it was not started.
 */
export function useRunTest(): (
  channel: Pick<ChannelView, "id" | "name">,
  model?: string,
  options?: { silent?: boolean },
) => Promise<boolean | undefined> {
  const patch = usePatchChannels();
  const { mutateAsync } = trpc.channel.test.useMutation({ meta: { quiet: true } });

  return useCallback(
    async ({ id, name }, model, { silent = false } = {}) => {
      if (tests.get(keyOf(id, model))?.kind === "running") return undefined;
      keep(id, model, { kind: "running", startedAt: performance.now() });
      try {
        const result = await mutateAsync({ id, ...(model === undefined ? {} : { model }) });
        keep(id, model, { kind: "done", ...result });
        const response_time = Math.round(result.time * 1000);
        const tested = (row: ChannelView): ChannelView =>
          row.id === id ? { ...row, response_time, test_time: Math.floor(Date.now() / 1000) } : row;
        if (result.time > 0) patch(tested);
        if (silent) return result.success;
        const seconds = result.time.toFixed(2);
        if (result.success) toastSuccess(t`渠道 ${name} 测试成功，耗时 ${seconds} 秒`);
        else toastError(t`渠道 ${name}：${result.message}`);
        return result.success;
      } catch (error) {
        const fault = faultOf(error);
        keep(id, model, { kind: "done", success: false, message: fault.message, time: 0 });
        if (!silent && (fault.kind === "refused" || fault.kind === "http")) toastError(fault.message);
        return false;
      }
    },
    [mutateAsync, patch],
  );
}

/** Tests that run at the same time when several are started at once. */
const PARALLEL = 3;

/**
 * Runs several tests, a few at a time, each result where it belongs and none as a toast; no further one once `stopped`.
 * `answered`: ids of the channels that did, in any of their tests.
 */
export function useRunTests(): (
  asked: readonly { channel: Pick<ChannelView, "id" | "name">; model?: string }[],
  stopped?: () => boolean,
) => Promise<{ ok: number; failed: number; answered: ReadonlySet<number> }> {
  const runTest = useRunTest();
  return useCallback(
    async (asked, stopped = () => false) => {
      const waiting = [...asked];
      const done = { ok: 0, failed: 0, answered: new Set<number>() };
      const work = async (lane: number) => {
        // Calls of one moment would travel as one request and be answered together.
        await new Promise((resolve) => setTimeout(resolve, lane * 40));
        for (let next = waiting.shift(); next !== undefined && !stopped(); next = waiting.shift()) {
          const good = await runTest(next.channel, next.model, { silent: true });
          if (good !== undefined) done[good ? "ok" : "failed"] += 1;
          if (good) done.answered.add(next.channel.id);
        }
      };
      await Promise.all(Array.from({ length: PARALLEL }, (_, lane) => work(lane)));
      return done;
    },
    [runTest],
  );
}
