/** The channel test: one small call with a separate deadline, recorded and charged to no user. */
import { eq } from "drizzle-orm";
import { type ChannelTestResult, splitList } from "../../../shared/channel";
import { channelType } from "../../../shared/channel-types";
import { AppError, errorText, fail } from "../../../shared/errors";
import { type ConsumeOther, FOLDED, LOG_TYPE } from "../../../shared/log";
import { cleanRequestId } from "../../../shared/text-limits";
import { type Services, seconds, type UserCtx } from "../../contracts/context";
import type { ChannelRow } from "../../db/schema";
import { withoutNul } from "../../db/sql";
import { textColumns } from "../../../shared/log-text";
import { newRequestId } from "../../http/request-id";
import { loadChannel } from "./keys";
import { probe, type ProbeResult } from "./probe";
import { vendorRules } from "../option/vendor-rules";
import { findChannel } from "./service";
import type { PoolChannel } from "../../contracts/channel";
import { credentialId } from "../../relay/providers/credential-id";

export const TEST_TIMEOUT_MS = 30_000;
/** How the row of a test is named in the log. */
export const TEST_TOKEN_NAME = "模型测试";
const DEFAULT_TEST_MODEL = "gpt-4o-mini";

/** The user in whose name a test is recorded. */
export interface Tester {
  id: number;
  username: string;
  group: string;
  ip: string;
}

export interface TestOptions {
  tester: Tester;
  /** Default: the channel's test model, else its first model. */
  model?: string;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** The channel with the key to test, where it has several. */
  keyed?: PoolChannel;
}

export interface TestOutcome extends ProbeResult {
  model: string;
  milliseconds: number;
  request_id: string;
}

/** The model that a test calls. */
export function modelToTest(row: ChannelRow, asked?: string): string {
  return asked?.trim() || row.test_model || splitList(row.models)[0] || DEFAULT_TEST_MODEL;
}

/**
 * Tests a stored channel and records it: its time on the channel, a row in the log that statistics do not count. Throws
 * channel_test_unsupported and channel_key_unreadable before any call; whatever the upstream does is an outcome.
 */
export async function runTest(services: Services, row: ChannelRow, options: TestOptions): Promise<TestOutcome> {
  const { tester, timeoutMs = TEST_TIMEOUT_MS, signal } = options;
  const model = modelToTest(row, options.model);
  if (!channelType(row.type)?.test) fail("channel_test_unsupported");
  const channel = options.keyed ?? (await loadChannel(services, row, model)) ?? fail("channel_key_unreadable");
  const started = performance.now();
  const result = await probe(channel, model, timeoutMs, signal, vendorRules(services.options));
  const milliseconds = Math.max(1, Math.round(performance.now() - started));
  const outcome = { ...result, model, milliseconds, request_id: newRequestId() };
  // It works again: whatever pauses calls to it, on any instance, ends.
  if (result.problem === "")
    await services.db.tx((q) => services.cluster.bus.announce(q, "pauses", String(credentialId(channel))));
  await record(services, row, outcome, tester);
  return outcome;
}

/**
 * Tests a channel with `asked`, else its test model, else its first model. Never throws for the channel's faults: the
 * answer has success, message and the time in seconds. Throws channel_not_found only. The status stays as it is: a test
 * by hand is watched by an operator.
 */
export async function testChannel(
  ctx: UserCtx,
  id: number,
  asked?: string,
  timeoutMs = TEST_TIMEOUT_MS,
): Promise<ChannelTestResult> {
  const row = await findChannel(ctx, id);
  const { username, group } = ctx.actor;
  const tester = { id: ctx.actor.id, username, group, ip: ctx.ip };
  try {
    const { problem, milliseconds } = await runTest(ctx, row, { tester, model: asked, timeoutMs });
    const message = problem && errorText("channel_test_failed", { detail: problem }, ctx.lang);
    return { success: problem === "", message, time: milliseconds / 1000 };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { success: false, message: errorText(error.code, error.values, ctx.lang), time: 0 };
  }
}

async function record(services: Services, row: ChannelRow, outcome: TestOutcome, tester: Tester): Promise<void> {
  const { channels, logs } = services.db.t;
  const now = seconds(services);
  const { milliseconds, problem, model, request_id, usage, upstream_request_id } = outcome;
  await services.db.q
    .update(channels)
    .set({ response_time: milliseconds, test_time: now })
    .where(eq(channels.id, row.id))
    .returning({ id: channels.id });
  const end_reason = problem ? "upstream_error" : "complete";
  const other: ConsumeOther = {
    model_ratio: 0,
    completion_ratio: 0,
    model_price: -1,
    group_ratio: 0,
    user_group_ratio: -1,
    group: tester.group,
    request_path: "/api/channel/test",
    end_reason,
    bill: [],
    admin_info: { use_channel: [String(row.id)], attempts: [] },
  };
  await services.db.q
    .insert(logs)
    .values({
      request_id,
      created_at: now,
      type: LOG_TYPE.consume,
      user_id: tester.id,
      username: tester.username,
      token_name: TEST_TOKEN_NAME,
      channel: row.id,
      channel_name: row.name,
      group: tester.group,
      model_name: withoutNul(model),
      quota: 0,
      ...usage,
      use_time: Math.round(milliseconds / 1000),
      ...textColumns(
        problem ? { code: "channel_test_failed", params: { detail: problem } } : { code: "channel_tested", params: {} },
      ),
      other: JSON.stringify(other),
      end_reason,
      ip: tester.ip,
      upstream_request_id: cleanRequestId(upstream_request_id),
      folded: FOLDED.never,
    })
    .onConflictDoNothing();
}
