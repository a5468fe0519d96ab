/**
 * Batches of calls as jobs (OpenAI API reference, batches; types of the `openai` SDK 7.55, Batch; read November 2026):
 * charged by the most that the input lines may cost, corrected by the usage in the output lines.
 */
import type { TaskStatus } from "../../../../shared/task";
import type { UsageDoubt } from "../../../../shared/usage-doubt";
import { openaiChat } from "../../../protocol/dialects/openai-chat/dialect";
import { readUsage } from "../../../protocol/dialects/openai-chat/usage";
import { tokensOfContent } from "../../billing/token-estimate";
import type { Usage } from "../../../protocol/chat-events";
import { UpstreamError } from "../../../protocol/upstream-error";
import { classifyStatus, failureOf } from "../../../protocol/upstream-failure";
import { isObject, type JsonObject, tryParse } from "../../../lib/json-bytes";
import { BYTES_PER_TOKEN } from "../../billing/call-billing";
import { headersOf } from "../../providers/param-override";
import { providerOf } from "../../providers/registry";
import type { PoolChannel } from "../../../contracts/channel";
import { allows } from "../../endpoints/stored/files";
import { urlFor } from "../../upstream/pinned-request";
import { checkUsage } from "../../../protocol/usage-check";
import type { FinalPrice, TaskKind, TaskProvider, TaskReport, TaskProviderContext } from "../provider";
import type { Priced, Task } from "../../../contracts/task-store";
import { linesOf, type Survey } from "./survey";

export interface BatchInput {
  /** The caller's request body. */
  body: JsonObject;
  survey: Survey;
  /** Option BatchRatio. */
  ratio: number;
}

const MINUTE = 60_000;
/** The longest completion window of a vendor is 24 h; the rest is margin. */
const LIFETIME_MS = 48 * 60 * MINUTE;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A batch's own status (Batch.status) as a task status. Batches that ended early may still have results. */
const statuses: Readonly<Record<string, TaskStatus>> = {
  validating: "QUEUED",
  in_progress: "IN_PROGRESS",
  finalizing: "IN_PROGRESS",
  cancelling: "IN_PROGRESS",
  completed: "SUCCESS",
  expired: "FAILURE",
  cancelled: "FAILURE",
  failed: "FAILURE",
};

const addUsage = (sum: Usage, more: Usage): Usage => {
  const { server_tools: _, ...tokens } = more;
  const total: Record<string, number> = {};
  for (const [kind, count] of [...Object.entries(sum), ...Object.entries(tokens)])
    if (typeof count === "number") total[kind] = (total[kind] ?? 0) + count;
  return total;
};

/** The usage of an output; a line without plausible usage is estimated by its bytes and its share of the input. */
async function usedBy(body: ReadableStream<Uint8Array> | null, accepted: Priced): Promise<FinalPrice> {
  let usage: Usage = {};
  let calls = 0;
  const doubts: UsageDoubt[] = [];
  const input = Math.ceil((accepted.usage.input ?? 0) / Math.max(1, accepted.times?.calls ?? 1));
  for await (const line of linesOf(body, () => new UpstreamError(failureOf("malformed", 200)))) {
    const answer = tryParse(line);
    const response = isObject(answer) && isObject(answer.response) ? answer.response : {};
    const status = response.status_code;
    if (typeof status !== "number" || status < 200 || status > 299) continue;
    calls++;
    const told = isObject(response.body) ? readUsage(response.body.usage) : undefined;
    const checked =
      told &&
      checkUsage(told, {
        estimate: {
          input: () => ({ input }),
          output: () => ({ output: tokensOfContent(openaiChat.contentBytes(line)) }),
        },
        max_output: accepted.usage.output,
        hidden: () => accepted.hidden_turns === true,
      });
    if (checked) doubts.push(...checked.doubts);
    usage = addUsage(usage, checked?.usage ?? { output: Math.ceil(line.length / BYTES_PER_TOKEN) });
  }
  return { usage, times: { calls }, doubts };
}

const headers = (channel: PoolChannel): Record<string, string> => {
  const provider = providerOf(channel);
  return provider ? headersOf(provider, channel) : {};
};

/** The channel's address for batches or files. Throws Failed for a type that has none. */
function address(channel: PoolChannel, what: "batches" | "files", path: string): string {
  const url = urlFor(channel, what, path);
  if (url === undefined) throw new UpstreamError(failureOf("malformed"));
  return url;
}

/**
 * The final usage from the output of a batch; undefined when the output is gone: then the charge stays at the estimate.
 */
async function billed(
  output: string,
  channel: PoolChannel,
  context: TaskProviderContext,
  accepted: Priced,
): Promise<FinalPrice | undefined> {
  const response = await context.fetch(address(channel, "files", `/${encodeURIComponent(output)}/content`), {
    method: "GET",
    headers: headers(channel),
  });
  if (response.status === 404 || response.status === 410) return undefined;
  if (!response.ok)
    throw new UpstreamError(classifyStatus(context.redact, response.status, undefined, channel.status_mapping));
  return usedBy(response.body, accepted);
}

/** Whole percent of answered lines. */
function percentOf({ request_counts: counts }: JsonObject): number {
  const [total = 0, completed = 0, failed = 0] = ["total", "completed", "failed"].map((name) =>
    isObject(counts) && typeof counts[name] === "number" ? counts[name] : 0,
  );
  return total > 0 ? Math.floor((100 * (completed + failed)) / total) : 0;
}

function reasonOf({ errors, status }: JsonObject): string {
  const [first] = isObject(errors) && Array.isArray(errors.data) ? errors.data.filter(isObject) : [];
  return text(first?.message) || text(status);
}

async function reportOf(
  batch: JsonObject,
  channel: PoolChannel,
  context: TaskProviderContext,
  { state }: Task,
): Promise<TaskReport> {
  const status = statuses[text(batch.status)] ?? "UNKNOWN";
  const output = text(batch.output_file_id);
  const report: TaskReport = { status, data: batch, percent: percentOf(batch) };
  if (status === "SUCCESS" || (status === "FAILURE" && output !== "")) {
    // Lines answered before the batch was cancelled or expired are charged; the rest is refunded.
    const final =
      output === "" ? { usage: {}, times: { calls: 0 } } : await billed(output, channel, context, state.priced);
    return { ...report, status: "SUCCESS", ...(final && { final }) };
  }
  return status === "FAILURE" ? { ...report, fail_reason: reasonOf(batch) } : report;
}

const look = (task: Task, channel: PoolChannel, context: TaskProviderContext, path = ""): Promise<JsonObject> =>
  context.json({
    method: path === "" ? "GET" : "POST",
    headers: headers(channel),
    url: address(channel, "batches", `/${encodeURIComponent(task.upstream_id)}${path}`),
  });

const provider: TaskProvider<BatchInput> = {
  platform: "batch",
  types: ["openai", "ali"],
  poll_ms: MINUTE,
  lifetime_ms: LIFETIME_MS,
  serves: (channel) => allows(channel, "batches"),

  terms: ({ survey: { lines, input, output, hidden_turns }, ratio }) => ({
    usage: { input, output },
    times: { calls: lines },
    exact: false,
    ...(hidden_turns && { hidden_turns }),
    shown: { batch: ratio },
  }),

  async submit({ channel, input }, context) {
    const batch = await context.json({
      method: "POST",
      url: address(channel, "batches", ""),
      headers: headers(channel),
      body: input.body,
      override: false,
    });
    return { upstream_id: text(batch.id), data: batch };
  },

  async poll([task], channel, context) {
    if (!task) return new Map();
    return new Map([[task.upstream_id, await reportOf(await look(task, channel, context), channel, context, task)]]);
  },

  cancel: async (task, channel, context) =>
    reportOf(await look(task, channel, context, "/cancel"), channel, context, task),

  hasResult: () => true,
};

export const batches: TaskKind<BatchInput> = { operation: "batches", enabled: () => true, providers: [provider] };
