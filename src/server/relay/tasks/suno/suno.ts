/**
 * Suno through a server with the Suno-API project's format (its docs/swagger.yaml, and the documented responses of
 * servers that follow it: openxs.apifox.cn/api-222048807; read November 2026).
 */
import { TASK_STATUSES, type TaskStatus } from "../../../../shared/task";
import { openaiChat } from "../../../protocol/dialects/openai-chat/dialect";
import type { WireError } from "../../../protocol/chat-events";
import { UpstreamError } from "../../../protocol/upstream-error";
import { failureOf } from "../../../protocol/upstream-failure";
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import type { PoolChannel } from "../../../contracts/channel";
import type { TaskKind, TaskProvider, TaskReport } from "../provider";
import type { ResultFile } from "../../../contracts/task-service";

/** The members of a submit in the vendor's format; `task_id` is not one of them. */
export type SunoInput = JsonObject;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** `{code, message, data}` with a code other than "success", or OpenAI's error object (from a gateway). */
function readError(body: unknown): WireError | undefined {
  if (!isObject(body)) return undefined;
  const code = text(body.code);
  if (code === "" || code === "success") return openaiChat.readError(body);
  return { message: text(body.message) || code, type: "suno_error", code, param: null };
}

const headers = ({ key }: PoolChannel): Record<string, string> => ({ authorization: `Bearer ${key}` });

const statuses: ReadonlySet<string> = new Set(TASK_STATUSES);
const isStatus = (value: string): value is TaskStatus => statuses.has(value);

/** Epoch milliseconds of a time that most servers send in seconds and some in milliseconds; undefined if absent. */
function timeOf(value: unknown): number | undefined {
  if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) return undefined;
  return Math.floor(value < 1e11 ? value * 1000 : value);
}

function reportOf(task: JsonObject): TaskReport {
  const said = text(task.status).toUpperCase();
  const percent = /^(\d{1,3})\s*%?$/.exec(String(task.progress ?? ""))?.[1];
  const start = timeOf(task.start_time);
  const finish = timeOf(task.finish_time);
  return {
    status: isStatus(said) ? said : "UNKNOWN",
    ...(percent !== undefined && { percent: Number(percent) }),
    ...(text(task.fail_reason) !== "" && { fail_reason: text(task.fail_reason) }),
    ...(start !== undefined && { start_time_ms: start }),
    ...(finish !== undefined && { finish_time_ms: finish }),
    ...(task.data !== undefined && task.data !== null && { data: task.data }),
  };
}

const clipsOf = (data: unknown): JsonObject[] => (Array.isArray(data) ? data.filter(isObject) : []);

const provider: TaskProvider<SunoInput> = {
  platform: "suno",
  types: ["suno"],
  poll_many: 100,

  async submit({ channel, action, input, parent }, context) {
    const body = parent ? { ...input, task_id: parent.upstream_id } : input;
    const answer = await context.json({
      method: "POST",
      url: `${channel.base_url}/suno/submit/${action}`,
      headers: headers(channel),
      body,
      readError,
    });
    return { upstream_id: text(answer.data) };
  },

  async poll(tasks, channel, context) {
    const body = { ids: tasks.map(({ upstream_id }) => upstream_id) };
    const answer = await context.json({
      method: "POST",
      url: `${channel.base_url}/suno/fetch`,
      headers: headers(channel),
      body,
      readError,
    });
    if (!Array.isArray(answer.data)) throw new UpstreamError(failureOf("malformed", 200));
    return new Map(answer.data.filter(isObject).map((task) => [text(task.task_id), reportOf(task)]));
  },

  hasResult({ action, data }) {
    if (action === "LYRICS") return isObject(data) && text(data.text) !== "";
    return clipsOf(data).some((clip) => text(clip.audio_url) !== "");
  },

  files({ data }) {
    const file = (clip: JsonObject, member: string, media: ResultFile["media"]): ResultFile[] =>
      text(clip[member]) === "" ? [] : [{ url: text(clip[member]), from: "public", media }];
    return clipsOf(data).flatMap((clip) => [
      ...file(clip, "audio_url", "audio"),
      ...file(clip, "image_url", "image"),
      ...file(clip, "video_url", "video"),
    ]);
  },
};

export const suno: TaskKind<SunoInput> = { operation: "suno", enabled: ({ tasks }) => tasks, providers: [provider] };
