/**
 * /v1/batches: POST and GET, GET /v1/batches/{id}, its cancellation (OpenAI API reference, batches; types of the
 * `openai` SDK 7.55, read November 2026). A batch goes to the channel that stores its file, if `setting.allow_batches`
 * permits it.
 */
import { fail } from "../../../../shared/errors";
import type { SideHandler, SideRequest } from "../../admission/side-call";
import { readBody } from "../../../lib/request-body/read-body";
import { parseBody } from "../../../lib/request-body/json-body";
import { openaiChat } from "../../../protocol/dialects/openai-chat/dialect";
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import { readText } from "../../operations/operation";
import type { PoolChannel } from "../../../contracts/channel";
import type { Caller } from "../../../contracts/caller";
import { refuseSensitive } from "../../admission/word-filter";
import { findOwnFile, allows } from "../../endpoints/stored/files";
import { listResponse, readPage } from "../../endpoints/stored/pagination";
import { requestPinned, mapNotFound, urlFor } from "../../upstream/pinned-request";
import { cancelTask, canCancel } from "../cancel";
import type { TaskRoute } from "../route";
import { pollNow } from "../poll";
import { submitTask } from "../submit";
import type { Task } from "../../../contracts/task-store";
import { batches } from "./batch";
import { ENDPOINTS, survey } from "./survey";

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A batch as its owner sees it: the vendor's object under our id, with its cost in units as far as it is known. */
function shown(task: Task): JsonObject {
  const batch = isObject(task.data) ? task.data : { object: "batch", status: "validating", ...task.input };
  const lost = task.status === "FAILURE" && !["failed", "expired", "cancelled"].includes(text(batch.status));
  const errors = {
    object: "list",
    data: [{ code: "task_failed", message: task.fail_reason, line: null, param: null }],
  };
  return { ...batch, id: task.task_id, ...(lost && { status: "failed", errors }), quota: task.quota };
}

/** The files that a batch creates belong to its owner. */
async function own(
  { engine, caller }: SideRequest,
  { data, channel_id, channel_key_id, task_id }: Task,
): Promise<void> {
  const { storedObjects, now } = engine.controlPlane;
  const { user_id, token_id } = caller;
  for (const id of isObject(data) ? [text(data.output_file_id), text(data.error_file_id)] : []) {
    if (id === "" || (await storedObjects.find("file", id, user_id))) continue;
    const value = {
      id,
      object: "file",
      bytes: 0,
      created_at: Math.floor(now() / 1000),
      filename: `${task_id}.jsonl`,
      purpose: "batch_output",
    };
    await storedObjects.put({
      kind: "file",
      object_id: id,
      user_id,
      token_id,
      channel_id,
      channel_key_id,
      model: "",
      expires_at: 0,
      parent_id: "",
      status: "processed",
      value,
    });
  }
}

/** The caller with the first of their groups in which this channel serves the model. Throws model_not_found. */
function servedBy({ engine, caller }: SideRequest, channel: PoolChannel, model: string): Caller {
  const { pool } = engine.controlPlane;
  const { groups, ...rest } = caller;
  const group = (groups ?? [caller.group]).find((name) =>
    pool.candidates(name, model).some(({ id }) => id === channel.id),
  );
  // The lines are sent upstream unchanged.
  if ((channel.model_mapping.get(model) ?? model) !== model)
    fail("batch_line_invalid", { line: 1, what: "body.model" });
  return group === undefined ? fail("model_not_found", { group: caller.group, model }) : { ...rest, group };
}

/** POST /v1/batches: for a file of the caller, on the channel that stores it. */
const create: SideHandler = async (sideRequest) => {
  const {
    engine: { controlPlane },
    request,
    responder,
  } = sideRequest;
  const body = await readBody(request, controlPlane.option.maxBodyBytes);
  const json = parseBody(body);
  const input_file_id = readText(json, "input_file_id") ?? fail("invalid_request", { detail: "input_file_id" });
  const endpoint = readText(json, "endpoint") ?? "";
  if (!ENDPOINTS.has(endpoint)) fail("invalid_request", { detail: "endpoint" });
  const { channel, missing } = await findOwnFile(sideRequest, input_file_id);
  if (!allows(channel, "batches")) fail("batches_unavailable");
  const url = urlFor(channel, "files", `/${encodeURIComponent(input_file_id)}/content`);
  const content = await mapNotFound(missing, requestPinned(sideRequest, channel, { method: "GET", url }));
  const found = await survey(content.body, endpoint, controlPlane.option.maxHoldOutputTokens, (line) =>
    refuseSensitive(controlPlane, line),
  );
  const caller = servedBy(sideRequest, channel, found.model);
  const at = { channel_id: channel.id, channel_key_id: channel.key_row?.id ?? 0 };
  const task = await submitTask(
    { ...sideRequest, caller },
    {
      kind: batches,
      action: "BATCH",
      model: found.model,
      input: { body: json, survey: found, ratio: controlPlane.option.batchRatio },
      kept: json,
      prompt: "",
      body,
      at,
      id_prefix: "batch_",
    },
  );
  return responder.json(JSON.stringify(shown(task)));
};

const find = async ({ engine, caller }: SideRequest, id: string): Promise<Task> =>
  (await engine.controlPlane.tasks.find(["batch"], id, caller.user_id)) ?? fail("batch_not_found", { id });

/** The batch as its vendor reports it now; the last known state if that fails. */
async function current(sideRequest: SideRequest, known: Task): Promise<JsonObject> {
  await pollNow(sideRequest.engine, known);
  const task = await find(sideRequest, known.task_id);
  await own(sideRequest, task);
  return shown(task);
}

const retrieve =
  (id: string): SideHandler =>
  async (sideRequest) =>
    sideRequest.responder.json(JSON.stringify(await current(sideRequest, await find(sideRequest, id))));

const cancel =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const known = await find(sideRequest, id);
    const task = canCancel(known) ? await cancelTask(sideRequest.engine, known) : fail("task_not_cancellable");
    await own(sideRequest, task);
    return sideRequest.responder.json(JSON.stringify(shown(task)));
  };

/** GET /v1/batches: the caller's own batches. */
const list: SideHandler = async (sideRequest) => {
  const { engine, caller, request, responder } = sideRequest;
  const page = readPage(new URL(request.url).searchParams, { limit: 20, most: 100 });
  const rows = await engine.controlPlane.tasks.list(["batch"], caller.user_id, { ...page, limit: page.limit + 1 });
  const batch = await Promise.all(rows.slice(0, page.limit).map((row) => current(sideRequest, row)));
  return responder.json(JSON.stringify(listResponse(batch, rows.length > page.limit)));
};

const facts = { dialect: openaiChat, name: "batches" } as const;
export const batchRoutes: readonly TaskRoute[] = [
  { ...facts, method: "POST", path: "/v1/batches", submits: true, answer: () => create },
  { ...facts, method: "GET", path: "/v1/batches", answer: () => list },
  { ...facts, method: "GET", path: "/v1/batches/{id}", answer: ({ id = "" }) => retrieve(id) },
  { ...facts, method: "POST", path: "/v1/batches/{id}/cancel", answer: ({ id = "" }) => cancel(id) },
];
