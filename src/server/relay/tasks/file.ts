/**
 * Streams the files of finished jobs through: only addresses that one of our jobs produced are fetched. One range of
 * bytes may be requested (RFC 9110, 14). The content type is that of the file's kind, never HTML or SVG with scripts,
 * whatever the vendor says.
 */
import { AppError, fail } from "../../../shared/errors";
import { isFinal } from "../../../shared/task";
import type { Engine } from "../call/call";
import type { Responder } from "../response/responder";
import { UpstreamError } from "../../protocol/upstream-error";
import { asIs } from "../../protocol/clean-text";
import { classifyStatus, failureOf } from "../../protocol/upstream-failure";
import { keyHolding } from "../routing/key-rotation";
import { initFor } from "../providers/provider-context";
import type { PoolChannel } from "../../contracts/channel";
import { REQUEST_TIMEOUT_MS } from "./clock";
import { fromMemory } from "./file-range";
import type { ResultFile } from "../../contracts/task-service";
import { watcherOf } from "./registry";
import type { Task } from "../../contracts/task-store";
import { taskTools } from "./provider-context";

const RANGE = /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/;

/** A vendor's Content-Range is passed on only if it consists of numbers. */
const CONTENT_RANGE = /^bytes (?:\d+-\d+|\*)\/(?:\d+|\*)$/;

/**
 * The content types that a kind of file may have, the one used for any other, and the largest size that is passed
 * through.
 */
const fileKinds: Readonly<Record<ResultFile["media"], { may: RegExp; otherwise: string; most_bytes: number }>> = {
  image: { may: /^image\/(?:png|jpeg|webp|gif|avif)$/, otherwise: "image/png", most_bytes: 2 ** 26 },
  video: { may: /^video\/(?:mp4|webm|quicktime|mpeg)$/, otherwise: "video/mp4", most_bytes: 2 ** 31 },
  audio: { may: /^audio\/(?:mpeg|mp4|wav|x-wav|ogg|flac|aac|webm)$/, otherwise: "audio/mpeg", most_bytes: 2 ** 29 },
};

function typeOf({ media }: ResultFile, headers: Headers): string {
  const said = (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  return fileKinds[media].may.test(said) ? said : fileKinds[media].otherwise;
}

/** Whether a job has files. */
const hasFiles = ({ status, platform }: Task): boolean =>
  status === "SUCCESS" || (!isFinal(status) && watcherOf(platform)?.half_done === true);

/**
 * Files of a job, in order; none before it has finished, unless its vendor shows unfinished ones. The channel may be
 * deleted: public files do not need it.
 */
export async function filesOf(engine: Engine, task: Task): Promise<readonly ResultFile[]> {
  const watcher = watcherOf(task.platform);
  if (!hasFiles(task) || !watcher?.files) return [];
  const channel = channelOf(engine, task);
  const context = channel ? taskTools(engine, channel, REQUEST_TIMEOUT_MS) : undefined;
  return watcher.files(task, channel, context);
}

/** The channel of a job, enabled or not; undefined when the channel or its key is deleted. */
export function channelOf({ controlPlane }: Engine, { channel_id, channel_key_id }: Task): PoolChannel | undefined {
  const holder = controlPlane.pool.byId(channel_id);
  return holder && keyHolding(holder.channel, channel_key_id);
}

/**
 * Serves one file of a job, the `index`th from 0. Throws task_not_finished, task_file_missing (also for a link that has
 * expired), address_forbidden, and Failed.
 */
export async function sendFile(
  engine: Engine,
  task: Task,
  index: number,
  request: Request,
  responder: Responder,
): Promise<Response> {
  if (!hasFiles(task)) fail("task_not_finished");
  const file = (await filesOf(engine, task))[index] ?? fail("task_file_missing");
  const { timers, controlPlane } = engine;
  const late = new AbortController();
  const signal = AbortSignal.any([request.signal, late.signal]);
  const range = request.headers.get("range") ?? "";
  const headers = {
    ...(file.from === "channel" ? file.headers : {}),
    "accept-encoding": "identity",
    ...(RANGE.test(range) && { range }),
  };
  const cancel = timers.after(controlPlane.option.firstByteTimeoutMs, () => late.abort());
  let response: Response;
  try {
    response = await opened(engine, task, file, headers, signal);
  } catch (error) {
    if (error instanceof AppError || error instanceof UpstreamError) throw error;
    throw new UpstreamError(late.signal.aborted ? failureOf("timeout", 0, "first byte") : failureOf("unreachable"));
  } finally {
    cancel();
  }
  const { status } = response;
  if (status !== 200 && status !== 206 && status !== 416) {
    await response.body?.cancel();
    if (status >= 400 && status < 500) fail("task_file_missing");
    throw new UpstreamError(classifyStatus(asIs, status, undefined, new Map()));
  }
  const length = response.headers.has("content-encoding") ? null : response.headers.get("content-length");
  if (Number(length ?? 0) > fileKinds[file.media].most_bytes) {
    await response.body?.cancel();
    fail("task_file_missing");
  }
  const passed: Record<string, string> = {
    "accept-ranges": "bytes",
    "cache-control": "private, max-age=3600",
    "content-security-policy": "default-src 'none'; sandbox",
    "content-disposition": "inline",
  };
  if (length !== null) passed["content-length"] = length;
  const part = response.headers.get("content-range");
  if (part !== null && CONTENT_RANGE.test(part)) passed["content-range"] = part;
  return responder.file(
    limited(response, engine, late, fileKinds[file.media].most_bytes),
    typeOf(file, response.headers),
    status,
    passed,
  );
}

/** A small file in a data URL (RFC 2397, base64), which needs no fetch. undefined: another kind of URL. */
function inAddress(url: string): { type: string; bytes: Uint8Array<ArrayBuffer> } | undefined {
  const [, type, base64] = /^data:([^;,]*)[^,]*;base64,(.*)$/is.exec(url) ?? [];
  return type === undefined || base64 === undefined ? undefined : { type, bytes: Buffer.from(base64, "base64") };
}

/** A redirect of the vendor's own address is followed without the channel's key. */
async function opened(
  engine: Engine,
  task: Task,
  file: ResultFile,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  const { controlPlane } = engine;
  if (file.from === "answer") return fromMemory((await file.read()) ?? fail("task_file_missing"), headers.range);
  const written = inAddress(file.url);
  if (written) return fromMemory(written, headers.range);
  if (file.from === "public") return controlPlane.openAddress(file.url, { headers, signal });
  const channel = channelOf(engine, task) ?? fail("task_file_missing");
  const response = await engine.fetch(file.url, { headers, ...initFor(channel, signal) });
  const location = response.headers.get("location");
  if (response.status < 300 || response.status >= 400 || !location) return response;
  await response.body?.cancel();
  const own = Object.keys(file.headers ?? {});
  const public_headers = Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name)));
  return controlPlane.openAddress(new URL(location, file.url).href, { headers: public_headers, signal });
}

/** The body at its reader's speed, cut when it stalls for too long or exceeds `most` bytes. */
function limited(
  response: Response,
  { timers, controlPlane }: Engine,
  late: AbortController,
  most: number,
): ReadableStream<Uint8Array> | null {
  const reader = response.body?.getReader();
  if (!reader) return null;
  let size = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const cancel = timers.after(controlPlane.option.idleTimeoutMs, () => late.abort());
        try {
          const { done, value } = await reader.read();
          if (done) return controller.close();
          size += value.length;
          if (size > most) throw new Error("the file is too large");
          controller.enqueue(value);
        } catch (error) {
          late.abort();
          controller.error(error);
        } finally {
          cancel();
        }
      },
      cancel: () => late.abort(),
    },
    { highWaterMark: 0 },
  );
}
