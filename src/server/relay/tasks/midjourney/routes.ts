/**
 * Everything below /mj and /{mode}/mj, as clients of midjourney-proxy call it. Only its owner can see a job; others get
 * a 404. An image is public to those who know its URL, which contains an id that cannot be guessed.
 */
import { OUT_OF_QUOTA_CODE } from "../../../protocol/relay-error";
import { randomInt } from "node:crypto";
import { fail } from "../../../../shared/errors";
import {
  MJ_CODE,
  MJ_IMAGE_PATH,
  MJ_MODES,
  MJ_NOTIFY_PATH,
  MJ_VIDEO_PATH,
  type MjAction,
} from "../../../../shared/midjourney";
import type { SideHandler, SideRequest } from "../../admission/side-call";
import { sameText } from "../../../lib/secrets";
import { BODY_LIMITS, readBody } from "../../../lib/request-body/read-body";
import { presentedKey } from "../../admission/request-headers";
import { UpstreamError } from "../../../protocol/upstream-error";
import { cleanText } from "../../../protocol/clean-text";
import { isObject, type JsonObject, tryParse } from "../../../lib/json-bytes";
import type { PoolChannel } from "../../../contracts/channel";
import { cancelTask } from "../cancel";
import { REQUEST_TIMEOUT_MS } from "../clock";
import { type OpenAnswer, type OpenRequest, type Params, taskDialect, type TaskRoute } from "../route";
import { channelOf, sendFile } from "../file";
import type { TaskKind } from "../provider";
import { submitTask } from "../submit";
import type { Task } from "../../../contracts/task-store";
import { taskTools } from "../provider-context";
import { midjourney, type MjInput, mjHeaders, mjUrl, refusalOf } from "./provider";
import { keptOf, MJ_SUBMITS, type MjSubmit, readSubmit, submitPath } from "./submit";
import { type MjShown, shownAnswer, shownTask } from "./view";

const midjourneyKind: TaskKind<MjInput> = {
  operation: "midjourney",
  enabled: (option) => option.drawing,
  providers: [midjourney],
};

/** Errors in the format of these clients; `code` 30 means too many requests, and an empty balance is none of those. */
const dialect = taskDialect(({ message, status, code }) => ({
  description: message,
  type: "upstream_error",
  code: status === 429 && code !== OUT_OF_QUOTA_CODE ? MJ_CODE.busy : MJ_CODE.request_error,
}));

/** Most jobs of one query. */
const MOST_IDS = 1_000;
/** The body of a vendor's webhook is the task object. */

/** Vendors' ids have 16 to 19 digits; ours have 19 random ones, because the id gives access to the image. */
const newId = (): string =>
  `${randomInt(1, 10)}${Array.from({ length: 3 }, () => String(randomInt(1_000_000)).padStart(6, "0")).join("")}`;

const PASSED_MODE = /^mj-[a-z0-9-]{1,32}$/;

/** The path segment before /mj upstream: the caller's, or the mode of the caller's token. */
function segmentOf(mode: string | undefined, own: string | undefined): string {
  const asked = mode?.toLowerCase() ?? "";
  if (PASSED_MODE.test(asked)) return asked;
  const known = MJ_MODES.find((one) => one === asked) ?? own;
  return known === undefined ? "" : `mj-${known}`;
}

/** Weir's own address: the operator's setting, or the one that the caller used. */
const serverOf = ({ engine, request }: Pick<SideRequest, "engine" | "request">): string =>
  engine.controlPlane.option.serverAddress || new URL(request.url).origin;

const shownBy = (sideRequest: SideRequest): MjShown => ({
  server: sideRequest.engine.controlPlane.option.midjourney.forwardUrl ? serverOf(sideRequest) : undefined,
  now: sideRequest.engine.controlPlane.now(),
});

async function ownJob({ engine, caller }: SideRequest, id: string): Promise<Task> {
  return (await engine.controlPlane.tasks.find([midjourney.platform], id, caller.user_id)) ?? fail("task_not_found");
}

/**
 * The job that is followed. A modal's submission follows a job that waits for it; everything else follows a success, if
 * the operator requires that.
 */
async function parentOf(sideRequest: SideRequest, id: string, action: MjAction): Promise<Task> {
  const parent = await ownJob(sideRequest, id);
  const { checkSuccess } = sideRequest.engine.controlPlane.option.midjourney;
  if (parent.upstream_id === "" || (checkSuccess && action !== "MODAL" && parent.status !== "SUCCESS"))
    fail("task_not_finished");
  return parent;
}

const submitHandler =
  (name: MjSubmit) =>
  ({ mode }: Params): SideHandler =>
  async (sideRequest) => {
    const { engine, request, caller, responder } = sideRequest;
    const { option } = engine.controlPlane;
    const bytes = await readBody(request, option.maxBodyBytes);
    const body = tryParse(bytes);
    const job = readSubmit(name, body, option.midjourney);
    const parent = job.parent_id === "" ? undefined : await parentOf(sideRequest, job.parent_id, job.action);
    const input: MjInput = {
      ...job,
      path: submitPath(name),
      segment: segmentOf(mode, caller.mj_mode),
      server: serverOf(sideRequest),
    };
    try {
      const { action, model, prompt } = job;
      const kept = keptOf(isObject(body) ? body : {});
      const task = await submitTask(sideRequest, {
        kind: midjourneyKind,
        action,
        model,
        input,
        kept,
        prompt,
        body: bytes,
        task_id: newId(),
        ...(parent && { parent }),
      });
      return responder.json(JSON.stringify(shownAnswer(task, shownBy(sideRequest))));
    } catch (error) {
      return refusedBy(error, sideRequest);
    }
  };

/** The vendor's own refusal, in its format: 200 with a code. Throws any other error. */
function refusedBy(error: unknown, { responder }: SideRequest): Response {
  const refusal = error instanceof UpstreamError ? refusalOf(error.failure) : undefined;
  if (!refusal) throw error;
  const { code, description, properties } = refusal;
  return responder.json(JSON.stringify({ code, description: cleanText(description), properties }));
}

const cancelHandler =
  ({ id = "" }: Params): SideHandler =>
  async (sideRequest) => {
    const job = await ownJob(sideRequest, id);
    try {
      const { task_id } = await cancelTask(sideRequest.engine, job);
      return sideRequest.responder.json(
        JSON.stringify({ code: MJ_CODE.submitted, description: "ok", result: task_id }),
      );
    } catch (error) {
      return refusedBy(error, sideRequest);
    }
  };

const fetchHandler =
  ({ id = "" }: Params): SideHandler =>
  async (sideRequest) =>
    sideRequest.responder.json(JSON.stringify(shownTask(await ownJob(sideRequest, id), shownBy(sideRequest))));

const listHandler = (): SideHandler => async (sideRequest) => {
  const { engine, request, caller, responder } = sideRequest;
  const body = tryParse(await readBody(request, engine.controlPlane.option.maxBodyBytes));
  const ids: unknown = isObject(body) ? body.ids : undefined;
  if (!Array.isArray(ids) || ids.length > MOST_IDS) fail("invalid_request", { detail: "ids" });
  const asked = [...new Set(ids.map(String))];
  const found = new Map(
    (await engine.controlPlane.tasks.findMany([midjourney.platform], asked, caller.user_id)).map((task) => [
      task.task_id,
      task,
    ]),
  );
  return responder.json(
    JSON.stringify(asked.flatMap((id) => found.get(id) ?? []).map((task) => shownTask(task, shownBy(sideRequest)))),
  );
};

/** Sent to the channel and key that made the image. */
const seedHandler =
  ({ id = "" }: Params): SideHandler =>
  async (sideRequest) => {
    const { engine, responder } = sideRequest;
    const task = await ownJob(sideRequest, id);
    const channel = channelOf(engine, task);
    if (!channel || task.upstream_id === "") fail("task_not_found");
    const url = mjUrl(channel, `/task/${encodeURIComponent(task.upstream_id)}/image-seed`);
    const { code, description, result } = await taskTools(engine, channel, REQUEST_TIMEOUT_MS).json({
      method: "GET",
      url,
      headers: mjHeaders(channel),
    });
    return responder.json(
      JSON.stringify({ code, description: typeof description === "string" ? cleanText(description) : "", result }),
    );
  };

async function readReport({ request }: Pick<OpenRequest, "request">): Promise<JsonObject> {
  const body = tryParse(await readBody(request, BODY_LIMITS.callback));
  return isObject(body) ? body : fail("bad_json");
}

const idIn = ({ id }: JsonObject): string => (typeof id === "string" || typeof id === "number" ? String(id) : "");
const acknowledged = ({ responder }: OpenRequest): Response =>
  responder.json(JSON.stringify({ code: MJ_CODE.submitted, description: "ok" }));

/** The webhook that a submit named: only the job's owner and its vendor know the id in it. */
const webhookHandler =
  ({ id = "" }: Params): OpenAnswer =>
  async (sideRequest) => {
    const { tasks } = sideRequest.engine.controlPlane;
    const task = await tasks.findAny(midjourney.platform, id);
    if (!task || task.upstream_id === "" || task.upstream_id !== idIn(await readReport(sideRequest)))
      fail("task_not_found");
    await tasks.nudge([task.channel_id], task.upstream_id);
    return acknowledged(sideRequest);
  };

const hasKey = (channel: PoolChannel, key: string): boolean =>
  (channel.keys ?? [channel]).some((one) => sameText(one.key, key));

/** The webhook that an operator's server names for all its jobs: it authenticates with the channel's secret. */
const notifyHandler = (): OpenAnswer => async (sideRequest) => {
  const { pool, tasks } = sideRequest.engine.controlPlane;
  const key = presentedKey(sideRequest.request) ?? "";
  const channels =
    key === ""
      ? []
      : pool
          .all()
          .filter((channel) => midjourney.types.some((type) => type === channel.type.key) && hasKey(channel, key));
  if (channels.length === 0) fail("token_invalid");
  const upstream_id = idIn(await readReport(sideRequest));
  if (upstream_id !== "")
    await tasks.nudge(
      channels.map((channel) => channel.id),
      upstream_id,
    );
  return acknowledged(sideRequest);
};

/** The image is the first file of a job; videos follow. */
const fileHandler =
  (media: "image" | "video") =>
  ({ id = "", index = "0" }: Params): OpenAnswer =>
  async ({ engine, request, responder }) => {
    const task = (await engine.controlPlane.tasks.findAny(midjourney.platform, id)) ?? fail("task_not_found");
    const places = midjourney.files(task).flatMap((file, place) => (file.media === media ? [place] : []));
    const place = /^\d{1,3}$/.test(index) ? places[Number(index)] : undefined;
    return sendFile(engine, task, place ?? fail("task_file_missing"), request, responder);
  };

const withMode = (route: TaskRoute): TaskRoute[] => [route, { ...route, path: `/{mode}${route.path}` }];
const facts = { dialect, name: "midjourney" } as const;

export const midjourneyRoutes: readonly TaskRoute[] = [
  ...MJ_SUBMITS.map((name): TaskRoute => ({
    ...facts,
    method: "POST",
    path: `/mj${submitPath(name)}`,
    submits: true,
    answer: submitHandler(name),
  })),
  { ...facts, method: "GET", path: "/mj/task/{id}/fetch", answer: fetchHandler } satisfies TaskRoute,
  { ...facts, method: "GET", path: "/mj/task/{id}/image-seed", answer: seedHandler } satisfies TaskRoute,
  { ...facts, method: "POST", path: "/mj/task/{id}/cancel", answer: cancelHandler } satisfies TaskRoute,
  { ...facts, method: "POST", path: "/mj/task/list-by-condition", answer: listHandler } satisfies TaskRoute,
  { ...facts, method: "POST", path: "/mj/notify", open: notifyHandler } satisfies TaskRoute,
  { ...facts, method: "POST", path: `${MJ_NOTIFY_PATH}{id}`, open: webhookHandler } satisfies TaskRoute,
  { ...facts, method: "GET", path: `${MJ_IMAGE_PATH}{id}`, open: fileHandler("image") } satisfies TaskRoute,
  { ...facts, method: "GET", path: `${MJ_VIDEO_PATH}{id}`, open: fileHandler("video") } satisfies TaskRoute,
  { ...facts, method: "GET", path: `${MJ_VIDEO_PATH}{id}/{index}`, open: fileHandler("video") } satisfies TaskRoute,
].flatMap(withMode);
