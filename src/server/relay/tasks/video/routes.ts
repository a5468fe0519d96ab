/**
 * The video routes: OpenAI's `/v1/videos`, `/v1/video/generations`, and Kling's and Jimeng's own paths. A job can be
 * queried at every route, whichever created it.
 */
import { OUT_OF_QUOTA_CODE } from "../../../protocol/relay-error";
import { AppError, fail } from "../../../../shared/errors";
import type { SideHandler, SideRequest } from "../../admission/side-call";
import type { Engine } from "../../call/call";
import { readBody } from "../../../lib/request-body/read-body";
import { scanJson } from "../../../lib/request-body/json-scan";
import { parseBody } from "../../../lib/request-body/json-body";
import { openaiChat } from "../../../protocol/dialects/openai-chat/dialect";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { object, text } from "../../../protocol/dialects/shared/json";
import { dataUrlOf } from "../../../protocol/dialects/shared/media";
import type { WireObject } from "../../../protocol/chat-events";
import { UpstreamError } from "../../../protocol/upstream-error";
import type { JsonObject } from "../../../lib/json-bytes";
import { Form } from "../../../lib/request-body/multipart-form";
import { boundaryOf } from "../../../lib/request-body/multipart";
import { listResponse, readPage } from "../../endpoints/stored/pagination";
import type { TaskRoute } from "../route";
import { taskDialect } from "../route";
import { REQUEST_TIMEOUT_MS } from "../clock";
import { channelOf, filesOf, sendFile } from "../file";
import { watcherOf } from "../registry";
import { submitTask } from "../submit";
import type { Task } from "../../../contracts/task-store";
import { taskTools } from "../provider-context";
import { describeVideoRequest, readVideoRequest, type VideoRequest } from "./ask";
import { videoKind, videoPlatforms } from "./kind";
import { REMIX } from "./provider";
import { jimengAccepted, jimengResult, klingAnswer, openaiVideo, taskObject } from "./views";

/** Fields of a form that may contain JSON. */
const jsonFields = new Set(["metadata", "input_reference", "images"]);

/** A body, whether it is JSON or a form; a file in a form becomes a data URL. */
async function readInput({ request, engine }: SideRequest): Promise<WireObject> {
  const limit = engine.controlPlane.option.maxBodyBytes;
  const boundary = boundaryOf(request.headers.get("content-type") ?? "");
  if (boundary === undefined) return parseBody(await readBody(request, limit));
  const form = await Form.read(request, boundary, limit);
  try {
    const body: Record<string, unknown> = {};
    for (const name of new Set(form.names())) {
      const parts = form.parts(name);
      const [part] = parts;
      const member = name.replace(/\[\d*\]$/, "");
      if (part?.filename === undefined) {
        const value = form.text(name);
        if (value !== undefined)
          body[member] = jsonFields.has(member) && /^[[{]/.test(value) ? jsonValue(value, member) : value;
        continue;
      }
      const files = await Promise.all(
        parts.map(async (file) => dataUrlOf(imageType(file.content_type), (await form.read(file)).toString("base64"))),
      );
      body[member] = files.length === 1 ? files[0] : files;
    }
    return body;
  } finally {
    form.close();
  }
}

const imageType = (type: string): string => (/^image\/[\w.+-]{1,40}$/.test(type) ? type : "image/png");

function jsonValue(value: string, member: string): unknown {
  scanJson(Buffer.from(value));
  try {
    return JSON.parse(value);
  } catch (error) {
    return fail("invalid_request", { detail: member }, error);
  }
}

/** The kind of a job's result, as the lists name it. */
function actionOf({ images, last_frame }: VideoRequest): string {
  if (last_frame !== undefined || images.length === 2) return "firstTailGenerate";
  if (images.length > 2) return "referenceGenerate";
  return images.length === 1 ? "generate" : "textGenerate";
}

/** The model of a body, under any of its names. */
function modelOf(body: WireObject, names: readonly string[], otherwise?: string): string {
  for (const name of names) {
    const model = body[name];
    if (model === undefined || model === null || model === "") continue;
    if (typeof model !== "string") fail("invalid_request", { detail: name });
    return model;
  }
  return otherwise ?? fail("model_missing");
}

function videoRequest(model: string, body: WireObject): VideoRequest {
  try {
    return readVideoRequest(model, body);
  } catch (error) {
    if (error instanceof RequestFault) fail("invalid_request", { detail: error.param }, error);
    throw error;
  }
}

/** Submits a video. */
async function submit(sideRequest: SideRequest, body: WireObject, model: string): Promise<Task> {
  const input = videoRequest(model, body);
  return submitTask(sideRequest, {
    kind: videoKind,
    action: actionOf(input),
    model,
    input,
    kept: describeVideoRequest(input),
    prompt: input.prompt,
    body: Buffer.from(JSON.stringify(body)),
  });
}

/** The factors of the price, as `/v1/video/generations` reports them. */
function factorHeader({ state }: Task): Record<string, string> | undefined {
  const factors = Object.entries(state.priced.times?.factors ?? {}).map(([name, value]) => [name, Number(value)]);
  return factors.length === 0 ? undefined : { "x-new-api-other-ratios": JSON.stringify(Object.fromEntries(factors)) };
}

async function own({ engine, caller }: SideRequest, id: string): Promise<Task> {
  return (await engine.controlPlane.tasks.find(videoPlatforms, id, caller.user_id)) ?? fail("task_not_found");
}

const answer = (sideRequest: SideRequest, body: JsonObject, task?: Task): Response =>
  sideRequest.responder.json(JSON.stringify(body), 200, task && factorHeader(task));
const server = ({ engine }: SideRequest): string => engine.controlPlane.option.serverAddress;

const openai = {
  create:
    (otherwise?: string): SideHandler =>
    async (sideRequest) => {
      const body = await readInput(sideRequest);
      const task = await submit(sideRequest, body, modelOf(body, ["model", "model_name"], otherwise));
      return answer(sideRequest, openaiVideo(task, server(sideRequest)), task);
    },
  list: async (sideRequest: SideRequest) => {
    const { limit, ...page } = readPage(new URL(sideRequest.request.url).searchParams, { limit: 20, most: 100 });
    const found = await sideRequest.engine.controlPlane.tasks.list(videoPlatforms, sideRequest.caller.user_id, {
      ...page,
      limit: limit + 1,
    });
    const videos = found.slice(0, limit).map((task) => openaiVideo(task, server(sideRequest)));
    return answer(sideRequest, listResponse(videos, found.length > limit));
  },
  retrieve:
    (id: string): SideHandler =>
    async (sideRequest) =>
      answer(sideRequest, openaiVideo(await own(sideRequest, id), server(sideRequest))),
  remove:
    (id: string): SideHandler =>
    async (sideRequest) => {
      const { engine, caller } = sideRequest;
      const task = await own(sideRequest, id);
      if (!(await engine.controlPlane.tasks.remove(videoPlatforms, task.task_id, caller.user_id)))
        fail("task_not_finished");
      await forget(engine, task);
      return answer(sideRequest, { id, object: "video.deleted", deleted: true });
    },
  /** A new version of a finished video: on the channel and key that made it. */
  remix:
    (id: string): SideHandler =>
    async (sideRequest) => {
      const body = await readInput(sideRequest);
      const parent = await own(sideRequest, id);
      const prompt = text(body.prompt);
      if (prompt.trim() === "") fail("invalid_request", { detail: "prompt" });
      if (parent.status !== "SUCCESS") fail("task_not_finished");
      const kept = { ...parent.input, prompt };
      const input: VideoRequest = { model: parent.model, prompt, images: [], n: 1, extra: {} };
      const task = await submitTask(sideRequest, {
        kind: videoKind,
        action: REMIX,
        model: parent.model,
        input,
        kept,
        prompt,
        body: Buffer.from(JSON.stringify({ id, prompt })),
        parent,
      });
      return answer(sideRequest, openaiVideo(task, server(sideRequest)), task);
    },
};

/** A deleted job is deleted at its vendor as well, if the vendor supports it and responds. */
async function forget(engine: Engine, task: Task): Promise<void> {
  const channel = channelOf(engine, task);
  const watcher = watcherOf(task.platform);
  if (!channel || !watcher?.forget) return;
  await watcher.forget(task, channel, taskTools(engine, channel, REQUEST_TIMEOUT_MS)).catch((error: unknown) => {
    engine.log.warn(
      { task: task.task_id, failure: error instanceof UpstreamError ? error.failure.kind : String(error) },
      "a deleted job is still at its vendor",
    );
  });
}

/** OpenAI's files of a finished video: the video itself, then its images in this order. */
const pictures: Readonly<Record<string, number>> = { thumbnail: 0, spritesheet: 1 };

/**
 * GET /v1/videos/{id}/content, with OpenAI's `variant`; `index` selects one of several videos. Most vendors have only
 * the video.
 */
const content =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const { engine, request, responder } = sideRequest;
    const task = await own(sideRequest, id);
    const { searchParams } = new URL(request.url);
    const variant = searchParams.get("variant") || "video";
    const index = searchParams.get("index") || "0";
    if (!/^\d{1,2}$/.test(index)) fail("invalid_request", { detail: "index" });
    if (variant === "video") return sendFile(engine, task, Number(index), request, responder);
    const wanted = pictures[variant] ?? fail("invalid_request", { detail: "variant" });
    const files = await filesOf(engine, task);
    const beside = files.flatMap(({ media }, index) => (index > 0 && media === "image" ? [index] : []));
    return sendFile(engine, task, beside[wanted] ?? fail("task_file_missing"), request, responder);
  };

const generation =
  (id: string): SideHandler =>
  async (sideRequest) =>
    answer(sideRequest, {
      code: "success",
      message: "",
      data: taskObject(await own(sideRequest, id), server(sideRequest)),
    });

/** Kling's error code for a status (general information, error codes). */
const klingCodes: Readonly<Record<number, number>> = {
  400: 1201,
  401: 1000,
  403: 1103,
  404: 1203,
  409: 1201,
  422: 1201,
  429: 1302,
  503: 5001,
  504: 5002,
};
/** "Account in arrears". */
const KLING_NO_BALANCE = 1101;
const klingDialect = taskDialect(({ status, message, code }) => ({
  code: code === OUT_OF_QUOTA_CODE ? KLING_NO_BALANCE : (klingCodes[status] ?? 5000),
  message,
  error: code,
  data: null,
}));

const kling = {
  create: async (sideRequest: SideRequest) => {
    const body = await readInput(sideRequest);
    const task = await submit(sideRequest, body, modelOf(body, ["model_name", "model"], "kling-v1"));
    return answer(sideRequest, klingAnswer(task, server(sideRequest), sideRequest.request_id), task);
  },
  retrieve:
    (id: string): SideHandler =>
    async (sideRequest) =>
      answer(sideRequest, klingAnswer(await own(sideRequest, id), server(sideRequest), sideRequest.request_id)),
};

/** Jimeng's errors have a code as well; `status` in `data` marks a job that does not exist. */
const jimengDialect = taskDialect(({ status, message, code }) => ({
  code: status === 429 ? 50_429 : status < 500 ? 50_400 : 50_500,
  message,
  error: code,
  data: status === 404 ? { status: "not_found" } : null,
  status: status === 429 ? 50_429 : status < 500 ? 50_400 : 50_500,
}));

/** One path; the action is in the query. */
const jimeng: SideHandler = async (sideRequest) => {
  const action = new URL(sideRequest.request.url).searchParams.get("Action");
  const body = await readInput(sideRequest);
  if (action === "CVSync2AsyncSubmitTask") {
    const task = await submit(sideRequest, body, modelOf(body, ["req_key", "model"]));
    return answer(sideRequest, jimengAccepted(task, sideRequest.request_id), task);
  }
  if (action !== "CVSync2AsyncGetResult") throw new AppError("invalid_request", { detail: "Action" });
  const { task_id } = object(body);
  if (typeof task_id !== "string" || task_id === "") throw new AppError("invalid_request", { detail: "task_id" });
  return answer(
    sideRequest,
    jimengResult(await own(sideRequest, task_id), server(sideRequest), sideRequest.request_id),
  );
};

const video = (
  method: TaskRoute["method"],
  path: string,
  answers: (params: Readonly<Record<string, string>>) => SideHandler,
  submits = false,
): TaskRoute => ({ method, path, dialect: openaiChat, name: "video", answer: answers, submits });

export const videoRoutes: readonly TaskRoute[] = [
  video("POST", "/v1/videos", () => openai.create("sora-2"), true),
  video("GET", "/v1/videos", () => openai.list),
  video("GET", "/v1/videos/{id}", ({ id = "" }) => openai.retrieve(id)),
  video("DELETE", "/v1/videos/{id}", ({ id = "" }) => openai.remove(id)),
  video("GET", "/v1/videos/{id}/content", ({ id = "" }) => content(id)),
  video("POST", "/v1/videos/{id}/remix", ({ id = "" }) => openai.remix(id), true),
  video("POST", "/v1/video/generations", () => openai.create(), true),
  video("GET", "/v1/video/generations/{id}", ({ id = "" }) => generation(id)),
  ...["text2video", "image2video"].flatMap((call): TaskRoute[] => [
    { ...video("POST", `/kling/v1/videos/${call}`, () => kling.create, true), dialect: klingDialect },
    { ...video("GET", `/kling/v1/videos/${call}/{id}`, ({ id = "" }) => kling.retrieve(id)), dialect: klingDialect },
  ]),
  { ...video("POST", "/jimeng", () => jimeng, true), dialect: jimengDialect },
];
