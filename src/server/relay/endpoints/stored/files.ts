/**
 * Files of callers: POST and GET /v1/files, GET and DELETE /v1/files/{id}, its content (OpenAI API reference, files;
 * types of the `openai` SDK 7.55, read November 2026). The bytes are stored upstream only, by a channel whose
 * `setting.allow_files` is true. Only its owner can see a file; others get a 404.
 */
import { AppError, fail } from "../../../../shared/errors";
import type { SideHandler, SideRequest } from "../../admission/side-call";
import { UpstreamError } from "../../../protocol/upstream-error";
import { mayBeAccepted } from "../../../protocol/upstream-failure";
import { keyHolding, keyOwning } from "../../routing/key-rotation";
import { Form } from "../../../lib/request-body/multipart-form";
import { boundaryOf } from "../../../lib/request-body/multipart";
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import type { PoolChannel } from "../../../contracts/channel";
import { draw } from "../../routing/draw";
import { requestPinned, requestPinnedJson, mapNotFound, urlFor } from "../../upstream/pinned-request";
import { listResponse, readPage } from "./pagination";
import type { Stored } from "../../../contracts/stored-objects";

const MB = 1 << 20;

/** Whether a channel takes files, or batches of them. */
export const allows = ({ type, setting }: PoolChannel, what: "files" | "batches"): boolean =>
  type.operations.includes(what) &&
  setting.allow_files === true &&
  (what === "files" || setting.allow_batches === true);

const whole = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** A vendor's file object as an entry of its owner. */
function fileEntry(
  { caller }: SideRequest,
  channel: PoolChannel,
  file: JsonObject,
): Parameters<SideRequest["engine"]["controlPlane"]["storedObjects"]["put"]>[0] {
  const created = whole(file.created_at);
  return {
    kind: "file",
    object_id: text(file.id),
    user_id: caller.user_id,
    token_id: caller.token_id,
    channel_id: channel.id,
    channel_key_id: channel.key_row?.id ?? 0,
    model: "",
    parent_id: "",
    status: text(file.status),
    expires_at: whole(file.expires_at),
    bytes: whole(file.bytes),
    value: file,
    ...(created > 0 && { created_at: created }),
  };
}

/** The channels that can take an upload, highest priority first, then by weight. Throws files_unavailable. */
function uploadChannels({ engine, caller }: SideRequest): PoolChannel[] {
  const { pool } = engine.controlPlane;
  const pinned = caller.channel_id === undefined ? undefined : pool.byId(caller.channel_id);
  const groups = caller.groups ?? [caller.group];
  const found = pinned
    ? [pinned].filter(({ enabled }) => enabled).map(({ channel }) => channel)
    : groups.flatMap((group) => pool.inGroup(group));
  const left = [...new Set(found)].filter((channel) => allows(channel, "files"));
  if (left.length === 0 || (caller.channel_id !== undefined && !pinned))
    fail("files_unavailable", { group: caller.group });
  const order: PoolChannel[] = [];
  while (left.length > 0) {
    const top = Math.max(...left.map(({ priority }) => priority));
    const next = draw(
      left.filter(({ priority }) => priority === top),
      Math.random,
    );
    if (!next) break;
    order.push(keyOwning(next, 0) ?? next);
    left.splice(left.indexOf(next), 1);
  }
  return order;
}

/** The caller's own file and the channel that stores it. Throws file_not_found. */
export async function findOwnFile(
  { engine, caller }: SideRequest,
  id: string,
): Promise<{ entry: Stored; channel: PoolChannel; missing: AppError }> {
  const missing = new AppError("file_not_found", { id });
  const entry = await engine.controlPlane.storedObjects.find("file", id, caller.user_id);
  if (!entry) throw missing;
  const holder = engine.controlPlane.pool.byId(entry.channel_id);
  if (!holder?.enabled) throw missing;
  if (!allows(holder.channel, "files")) fail("files_unavailable", { group: caller.group });
  const channel = keyHolding(holder.channel, entry.channel_key_id);
  if (!channel) throw missing;
  return { entry, channel, missing };
}

/** Bytes of each user that are on their way to a vendor; each instance counts its own. */
const underWay = new WeakMap<SideRequest["engine"], Map<number, number>>();

/**
 * Counts a file against its owner's limit before it is stored, so that uploads at once cannot exceed it together.
 * `ahead`: the bytes that came before; one that is being stored may be counted twice for a moment.
 */
function claimSpace(engine: SideRequest["engine"], user_id: number, size: number): Disposable & { ahead: number } {
  const claimed = underWay.get(engine) ?? new Map<number, number>();
  underWay.set(engine, claimed);
  const ahead = claimed.get(user_id) ?? 0;
  claimed.set(user_id, ahead + size);
  return {
    ahead,
    [Symbol.dispose]: () => {
      const left = (claimed.get(user_id) ?? 0) - size;
      if (left > 0) claimed.set(user_id, left);
      else claimed.delete(user_id);
    },
  };
}

/** POST /v1/files. When one channel fails, the next is tried. */
export const createFile: SideHandler = async (sideRequest) => {
  const { engine, request, caller, responder } = sideRequest;
  const { option, storedObjects } = engine.controlPlane;
  const boundary =
    boundaryOf(request.headers.get("content-type") ?? "") ?? fail("invalid_request", { detail: "content-type" });
  const channels = uploadChannels(sideRequest);
  const form = await Form.read(request, boundary, option.maxBodyBytes);
  try {
    if (form.text("purpose") === undefined) fail("invalid_request", { detail: "purpose" });
    const [file, second] = form.files("file");
    if (!file || second) fail("invalid_request", { detail: "file" });
    const size = file.end - file.start;
    using place = claimSpace(engine, caller.user_id, size);
    if ((await storedObjects.size("file", caller.user_id)) + place.ahead + size > storedObjects.fileLimit)
      fail("files_full", { limit: Math.floor(storedObjects.fileLimit / MB) });
    for (let tries = 0; ; tries++) {
      const channel = channels[tries];
      if (!channel) fail("files_unavailable", { group: caller.group });
      try {
        const { body, length } = form.body(undefined);
        const headers = { "content-type": form.content_type, "content-length": String(length) };
        const made = await requestPinnedJson(sideRequest, channel, {
          method: "POST",
          url: urlFor(channel, "files", ""),
          headers,
          body,
        });
        if (text(made.json.id) === "") fail("upstream_malformed");
        await keep(sideRequest, channel, { ...made.json, bytes: whole(made.json.bytes) || size });
        return responder.json(made.body);
      } catch (error) {
        const again =
          error instanceof UpstreamError &&
          error.failure.retry !== "no" &&
          !mayBeAccepted(error.failure) &&
          tries < option.retryTimes &&
          channels.length > tries + 1;
        if (!again || request.signal.aborted) throw error;
      }
    }
  } finally {
    form.close();
  }
};

/** Deletes an upload that could not be recorded here: its owner could not find it. */
async function keep(sideRequest: SideRequest, channel: PoolChannel, file: JsonObject): Promise<void> {
  try {
    await sideRequest.engine.controlPlane.storedObjects.put(fileEntry(sideRequest, channel, file));
  } catch (error) {
    const url = urlFor(channel, "files", `/${encodeURIComponent(text(file.id))}`);
    await requestPinned(sideRequest, channel, { method: "DELETE", url }).catch(() => undefined);
    throw new AppError("database_unavailable", {}, { cause: error });
  }
}

/** GET /v1/files: the caller's own files, as their vendors described them. */
export const listFiles: SideHandler = async ({ engine, caller, request, responder }) => {
  const query = new URL(request.url).searchParams;
  const { limit, ...page } = readPage(query, { limit: 10_000, most: 10_000 });
  const purpose = query.get("purpose");
  const found: JsonObject[] = [];
  let { after } = page;
  for (;;) {
    const rows = await engine.controlPlane.storedObjects.list("file", caller.user_id, {
      ...page,
      ...(after !== undefined && { after }),
      limit: 1_000,
    });
    for (const { value } of rows) {
      if (isObject(value) && (!purpose || value.purpose === purpose)) found.push(value);
    }
    after = rows.at(-1)?.object_id;
    if (found.length > limit || rows.length < 1_000) break;
  }
  return responder.json(JSON.stringify(listResponse(found.slice(0, limit), found.length > limit)));
};

const fileUrl = (channel: PoolChannel, id: string, path = ""): string | undefined =>
  urlFor(channel, "files", `/${encodeURIComponent(id)}${path}`);

/** GET /v1/files/{id}. */
export const retrieveFile =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const { channel, missing } = await findOwnFile(sideRequest, id);
    return sideRequest.responder.json(
      (
        await mapNotFound(
          missing,
          requestPinnedJson(sideRequest, channel, { method: "GET", url: fileUrl(channel, id) }),
        )
      ).body,
    );
  };

/** DELETE /v1/files/{id}. A file that is already gone upstream is deleted here as well. */
export const removeFile =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const { channel } = await findOwnFile(sideRequest, id);
    try {
      await requestPinned(sideRequest, channel, { method: "DELETE", url: fileUrl(channel, id) });
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.failure.upstream_status !== 404) throw error;
    }
    await sideRequest.engine.controlPlane.storedObjects.remove("file", id, sideRequest.caller.user_id);
    return sideRequest.responder.json(JSON.stringify({ id, object: "file", deleted: true }));
  };

/** GET /v1/files/{id}/content: streamed through, as a media type that no browser renders. */
export const fileContent =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const { channel, missing } = await findOwnFile(sideRequest, id);
    const { body } = await mapNotFound(
      missing,
      requestPinned(sideRequest, channel, { method: "GET", url: fileUrl(channel, id, "/content") }),
    );
    return sideRequest.responder.raw(body ?? new Uint8Array(), "application/octet-stream");
  };
