/**
 * midjourney-proxy and its Plus variant: submitting and polling. Paths, header and responses:
 * github.com/novicezk/midjourney-proxy docs/api.md, github.com/litter-coder/midjourney-proxy-plus docs/api.md, read
 * November 2026.
 */
import { type FailureKind, isCallers } from "../../../../shared/failures";
import {
  MJ_CODE,
  MJ_NOTIFY_PATH,
  type MjAction,
  type MjData,
  readMjData,
  WINDOW_ACTIONS,
} from "../../../../shared/midjourney";
import { AppError } from "../../../../shared/errors";
import { UpstreamError } from "../../../protocol/upstream-error";
import { type Failure, failureOf } from "../../../protocol/upstream-failure";
import type { PoolChannel } from "../../../contracts/channel";
import type { Accepted, Job, TaskProvider, TaskReport, TaskProviderContext } from "../provider";
import type { ResultFile } from "../../../contracts/task-service";
import type { Task } from "../../../contracts/task-store";
import {
  videosOf,
  isAccepted,
  leavesFile,
  pictureOf,
  readMjError,
  readSubmitAnswer,
  readTask,
  type SubmitAnswer,
  type TaskAnswer,
} from "./answer";
import type { MjJob } from "./submit";
import { shownTask } from "./view";

const HOUR_MS = 3_600_000;
/** Most jobs of one poll. */
const POLL_MANY = 100;

/** A request to a channel. */
export interface MjInput extends MjJob {
  /** The path below /mj. */
  path: string;
  /** The path segment before /mj, "" = none. */
  segment: string;
  /** Weir's own address as the caller knows it, without a trailing slash. */
  server: string;
}

/** The headers of every request to such a channel. */
export const mjHeaders = ({ key }: Pick<PoolChannel, "key">): Record<string, string> => ({ "mj-api-secret": key });

/** The address of a path below /mj. */
export const mjUrl = ({ base_url }: Pick<PoolChannel, "base_url">, path: string, segment = ""): string =>
  `${base_url}${segment === "" ? "" : `/${segment}`}/mj${path}`;

/** A submit that the vendor refused, whose answer the caller gets unchanged. */
const refusals = new WeakMap<Failure, SubmitAnswer>();

/** The vendor's own refusal in a failure, if there is one. */
export const refusalOf = (failure: Failure): SubmitAnswer | undefined => refusals.get(failure);

/** Codes of refusals (ReturnCode of midjourney-proxy); all others are retried on another channel. */
const classes: ReadonlyMap<number, FailureKind> = new Map([
  [MJ_CODE.request_error, "caller_mistake"],
  [MJ_CODE.banned_word, "content_filtered"],
  [MJ_CODE.queue_full, "overloaded"],
  [MJ_CODE.no_account, "overloaded"],
]);

/**
 * Classifies a refusal. Code 3 means that the server has no account, which the operator must fix; for a follow-up it
 * may also mean that the earlier job is gone there.
 */
function refused(answer: SubmitAnswer, follows: boolean): UpstreamError {
  const rule = failureOf(classes.get(answer.code) ?? "server_error", 200);
  const noAccount = answer.code === MJ_CODE.no_account && !follows;
  const failure: Failure = {
    ...rule,
    ...(isCallers(rule.kind) && { status: 400 }),
    ...(noAccount && { disable: true, owner: "operator" }),
    error: { message: answer.description, type: "upstream_error", code: String(answer.code), param: null },
  };
  refusals.set(failure, answer);
  return new UpstreamError(failure);
}

/**
 * The vendor's report of a job. A modal and its submission are one job to the vendor, so each keeps its own response.
 */
function reportOf(answer: TaskAnswer): TaskReport | undefined {
  const { status, progress, fail_reason, start_time_ms, finish_time_ms, raw } = answer;
  if (!status) return undefined;
  return {
    status,
    ...(progress !== "" && { percent: Number.parseInt(progress, 10) }),
    ...(status === "FAILURE" && { fail_reason: fail_reason === "" ? "FAILURE" : fail_reason }),
    ...(start_time_ms > 0 && { start_time_ms }),
    ...(finish_time_ms > 0 && { finish_time_ms }),
    merge: { task: raw } satisfies Partial<MjData>,
  };
}

/** The state of a job from the answer to its submit. */
function firstReport(answer: SubmitAnswer, action: MjAction): TaskReport | undefined {
  if (action === "UPLOAD") return { status: "SUCCESS" };
  if (answer.code !== MJ_CODE.existed) return undefined;
  // The image exists already: an earlier upscale.
  const { status, imageUrl } = answer.properties;
  const known = readTask({ id: answer.upstream_id, status, imageUrl, progress: "100%" });
  if (known?.status === "SUCCESS" && known.file !== "") return reportOf(known);
  return WINDOW_ACTIONS.has(action) ? { status: "MODAL" } : undefined;
}

async function submit(
  { channel, input, task_id, parent }: Job<MjInput>,
  context: TaskProviderContext,
): Promise<Accepted> {
  const url = mjUrl(channel, input.path, input.segment);
  const asked = input.body(parent?.upstream_id ?? "");
  // The vendor calls our webhook, and we call the caller's: the vendor's ids and addresses are not the caller's.
  const body =
    input.notify_hook === "" ? asked : { ...asked, notifyHook: `${input.server}${MJ_NOTIFY_PATH}${task_id}` };
  const said = await context.json({ method: "POST", url, headers: mjHeaders(channel), body, readError: readMjError });
  const answer = readSubmitAnswer(said);
  const { action } = input;
  const accepted = answer && isAccepted(answer, action);
  if (!answer || accepted === undefined) throw new UpstreamError(failureOf("malformed", 200));
  if (!accepted) throw refused(answer, input.parent_id !== "");
  const { code, description, properties, raw } = answer;
  const data: MjData = { code, description, properties, ...(Array.isArray(raw.result) && { result: raw.result }) };
  const report = firstReport(answer, action);
  return {
    // An upload has no job upstream.
    upstream_id: answer.upstream_id === "" ? task_id : answer.upstream_id,
    data,
    // A follow-up has the prompt of its image.
    ...(input.prompt === "" && parent && { prompt: parent.prompt }),
    ...(input.notify_hook !== "" && { own: { notify_hook: input.notify_hook, server: input.server } }),
    ...(report && { report }),
  };
}

/** The reports in a list of task objects: upstream id -> report. */
function reportsOf(answer: readonly unknown[]): Map<string, TaskReport> {
  const reports = new Map<string, TaskReport>();
  for (const item of answer) {
    const known = readTask(item);
    const report = known && reportOf(known);
    if (report) reports.set(known.upstream_id, report);
  }
  return reports;
}

async function poll(
  tasks: readonly Task[],
  channel: PoolChannel,
  context: TaskProviderContext,
): Promise<ReadonlyMap<string, TaskReport>> {
  const body = { ids: tasks.map(({ upstream_id }) => upstream_id) };
  return reportsOf(
    await context.list({
      method: "POST",
      url: mjUrl(channel, "/task/list-by-condition"),
      headers: mjHeaders(channel),
      body,
      readError: readMjError,
    }),
  );
}

/**
 * Cancels a job (Plus only: POST /mj/task/{id}/cancel answers {code, description}). Throws task_not_cancellable when
 * there is no such path.
 */
async function cancel({ upstream_id }: Task, channel: PoolChannel, context: TaskProviderContext): Promise<TaskReport> {
  const url = mjUrl(channel, `/task/${encodeURIComponent(upstream_id)}/cancel`);
  const said = await context
    .json({ method: "POST", url, headers: mjHeaders(channel), body: {}, readError: readMjError })
    .catch((error: unknown) => {
      throw error instanceof UpstreamError && error.failure.upstream_status === 404
        ? new AppError("task_not_cancellable")
        : error;
    });
  const answer = readSubmitAnswer(said);
  if (!answer) throw new UpstreamError(failureOf("malformed", 200));
  if (answer.code !== MJ_CODE.submitted) throw refused(answer, true);
  return { status: "FAILURE", fail_reason: "cancelled" };
}

/** The image first, then the videos. Their addresses are public. */
function files({ data }: Pick<Task, "data">): ResultFile[] {
  const { task } = readMjData(data);
  if (!task) return [];
  const picture = pictureOf(task);
  return [
    ...(picture === "" ? [] : [{ url: picture, from: "public" as const, media: "image" as const }]),
    ...videosOf(task).map((url) => ({ url, from: "public" as const, media: "video" as const })),
  ];
}

export const midjourney = {
  platform: "mj",
  types: ["midjourney", "midjourney-plus"],
  poll_ms: 15_000,
  poll_many: POLL_MANY,
  lifetime_ms: HOUR_MS,
  submit,
  poll,
  cancel,
  hasResult: ({ action, data }) => !leavesFile(action) || files({ data }).length > 0,
  files,
  half_done: true,
  hook(task, { option, now }) {
    const { notify_hook: url, server } = task.state.own;
    if (typeof url !== "string" || typeof server !== "string") return undefined;
    return { url, body: shownTask(task, { server: option.midjourney.forwardUrl ? server : undefined, now: now() }) };
  },
} as const satisfies TaskProvider<MjInput>;
