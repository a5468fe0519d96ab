/** /suno/*: submits and queries. Queries are answered from our own table. */
import { fail } from "../../../../shared/errors";
import type { SideHandler } from "../../admission/side-call";
import { readBody } from "../../../lib/request-body/read-body";
import { parseBody } from "../../../lib/request-body/json-body";
import type { JsonObject } from "../../../lib/json-bytes";
import { readFlag, readText } from "../../operations/operation";
import { type TaskRoute, taskDialect } from "../route";
import { submitTask } from "../submit";
import type { Task } from "../../../contracts/task-store";
import { suno } from "./suno";

const dialect = taskDialect(({ code, message }) => ({ code, message, data: null }));

const success = (data: unknown): string => JSON.stringify({ code: "success", message: "", data });

/** Most jobs of one query. */
const MOST_IDS = 500;
const DEFAULT_MV = "chirp-v3-0";

/** The model names that price a job: suno_music, suno_lyrics. */
const modelOf = (action: string): string => `suno_${action.toLowerCase()}`;

/** Members that are not sent to the vendor: our own ids, and the webhook. */
const OURS = new Set(["task_id", "notify_hook", "model"]);

const seconds = (ms: number): number => Math.floor(ms / 1000);

const shown = (task: Task): JsonObject => ({
  task_id: task.task_id,
  action: task.action,
  status: task.status,
  fail_reason: task.fail_reason,
  submit_time: seconds(task.submit_time_ms),
  start_time: seconds(task.start_time_ms),
  finish_time: seconds(task.finish_time_ms),
  progress: task.progress,
  data: task.data ?? null,
});

/** Validates the known members, and leaves the others to the vendor. */
function readInput(action: string, json: JsonObject): JsonObject {
  const body = Object.fromEntries(Object.entries(json).filter(([name]) => !OURS.has(name)));
  for (const name of ["prompt", "tags", "title", "mv", "gpt_description_prompt", "continue_clip_id"])
    readText(body, name);
  readFlag(body, "make_instrumental");
  const { continue_at } = body;
  if (continue_at !== undefined && continue_at !== null && typeof continue_at !== "number")
    fail("invalid_request", { detail: "continue_at" });
  if (action === "LYRICS")
    return { ...body, prompt: readText(body, "prompt") ?? fail("invalid_request", { detail: "prompt" }) };
  return { ...body, mv: readText(body, "mv") ?? DEFAULT_MV };
}

const submit =
  (action: "MUSIC" | "LYRICS"): SideHandler =>
  async (sideRequest) => {
    const {
      engine: { controlPlane },
      request,
      caller,
      responder,
    } = sideRequest;
    const body = await readBody(request, controlPlane.option.maxBodyBytes);
    const json = parseBody(body);
    const input = readInput(action, json);
    const earlier = readText(json, "task_id");
    // A clip is continued on the channel that made it.
    if (action === "MUSIC" && readText(json, "continue_clip_id") !== undefined && earlier === undefined)
      fail("invalid_request", { detail: "task_id" });
    const parent =
      earlier === undefined
        ? undefined
        : ((await controlPlane.tasks.find(["suno"], earlier, caller.user_id)) ?? fail("task_not_found"));
    const prompt = readText(json, "prompt") ?? readText(json, "gpt_description_prompt") ?? "";
    const task = await submitTask(sideRequest, {
      kind: suno,
      action,
      model: modelOf(action),
      input,
      kept: input,
      prompt,
      body,
      ...(parent && { parent }),
    });
    return responder.json(success(task.task_id));
  };

const fetchOne =
  (id: string): SideHandler =>
  async ({ engine, caller, responder }) => {
    const task = await engine.controlPlane.tasks.find(["suno"], id, caller.user_id);
    return responder.json(success(shown(task ?? fail("task_not_found"))));
  };

/** The caller's own jobs among the ids, in the order of their submit. */
const fetchMany: SideHandler = async ({ engine: { controlPlane }, request, caller, responder }) => {
  const { ids, action } = parseBody(await readBody(request, controlPlane.option.maxBodyBytes));
  if (!Array.isArray(ids) || ids.length > MOST_IDS || !ids.every((id) => typeof id === "string"))
    fail("invalid_request", { detail: "ids" });
  const wanted = typeof action === "string" && action !== "" ? action.toUpperCase() : undefined;
  const found = await controlPlane.tasks.findMany(["suno"], ids.map(String), caller.user_id);
  const chosen = found.filter((task) => wanted === undefined || task.action === wanted).toSorted((a, b) => a.id - b.id);
  return responder.json(success(chosen.map(shown)));
};

export const sunoRoutes: readonly TaskRoute[] = [
  { method: "POST", path: "/suno/submit/music", dialect, name: "suno", submits: true, answer: () => submit("MUSIC") },
  { method: "POST", path: "/suno/submit/lyrics", dialect, name: "suno", submits: true, answer: () => submit("LYRICS") },
  { method: "POST", path: "/suno/fetch", dialect, name: "suno", answer: () => fetchMany },
  { method: "GET", path: "/suno/fetch/{id}", dialect, name: "suno", answer: ({ id = "" }) => fetchOne(id) },
];
