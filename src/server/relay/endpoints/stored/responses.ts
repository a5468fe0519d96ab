/**
 * Stored answers: GET and DELETE /v1/responses/{id}, its input items, its cancellation (OpenAI API reference,
 * responses; types of the `openai` SDK 7.55, read November 2026). Answers that an upstream stores are fetched there,
 * the others are stored here.
 */
import { AppError, fail } from "../../../../shared/errors";
import type { SideHandler, SideRequest } from "../../admission/side-call";
import { ownError } from "../../response/error-response";
import { UpstreamError } from "../../../protocol/upstream-error";
import { keyHolding } from "../../routing/key-rotation";
import { responses } from "../../operations/dialect-chat";
import type { PoolChannel } from "../../../contracts/channel";
import { operationFor } from "../../providers/dispatch";
import { isStateful } from "../../providers/capabilities";
import {
  requestPinned,
  requestPinnedEvents,
  requestPinnedJson,
  mapNotFound,
  urlFor,
} from "../../upstream/pinned-request";
import { pageOf, readPage } from "./pagination";
import type { Stored } from "../../../contracts/stored-objects";
import { itemsBefore, storedResponse, turnsUntil } from "./conversation";

const missing = (id: string): AppError => new AppError("response_not_found", { id });
const queryOf = ({ request }: SideRequest): URLSearchParams => new URL(request.url).searchParams;

/** The caller's own entry, and the channel that stores the answer. Throws response_not_found. */
async function find(
  { engine, caller }: SideRequest,
  id: string,
): Promise<{ entry: Stored; channel: PoolChannel | undefined }> {
  const { storedObjects, pool } = engine.controlPlane;
  const entry = await storedObjects.find("response", id, caller.user_id);
  if (!entry) throw missing(id);
  if (entry.channel_id === 0) return { entry, channel: undefined };
  const holder = pool.byId(entry.channel_id);
  if (!holder?.enabled || !isStateful(holder.channel, responses)) throw missing(id);
  const channel = keyHolding(holder.channel, entry.channel_key_id);
  if (!channel) throw missing(id);
  return { entry, channel };
}

const address = (
  channel: PoolChannel,
  path: string,
  query?: URLSearchParams,
  passes?: readonly string[],
): string | undefined => urlFor(channel, operationFor(channel, responses, ""), path, query, passes);

/** GET /v1/responses/{id}; `stream` and `starting_after` where the vendor supports them. */
export const retrieve =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const { entry, channel } = await find(sideRequest, id);
    const query = queryOf(sideRequest);
    const streamed = query.get("stream") === "true";
    if (!channel) {
      if (streamed) fail("response_not_streamable");
      const kept = storedResponse(entry);
      if (!kept) throw missing(id);
      return sideRequest.responder.json(JSON.stringify(kept.response));
    }
    const url = address(channel, `/${encodeURIComponent(id)}`, query, [
      "include",
      "include_obfuscation",
      "starting_after",
      "stream",
    ]);
    if (!streamed)
      return sideRequest.responder.json(
        (await mapNotFound(missing(id), requestPinnedJson(sideRequest, channel, { method: "GET", url }))).body,
      );
    const body = await mapNotFound(missing(id), requestPinnedEvents(sideRequest, channel, { method: "GET", url }));
    return sideRequest.responder.raw(body ?? new Uint8Array(), "text/event-stream; charset=utf-8");
  };

/** DELETE /v1/responses/{id}. An answer that is already gone upstream is deleted here as well. */
export const remove =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const { channel } = await find(sideRequest, id);
    const { storedObjects } = sideRequest.engine.controlPlane;
    try {
      if (channel)
        await requestPinned(sideRequest, channel, {
          method: "DELETE",
          url: address(channel, `/${encodeURIComponent(id)}`),
        });
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.failure.upstream_status !== 404) throw error;
    }
    await storedObjects.remove("response", id, sideRequest.caller.user_id);
    return sideRequest.responder.json(JSON.stringify({ id, object: "response", deleted: true }));
  };

/** GET /v1/responses/{id}/input_items: the full input of the answer. */
export const listInput =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const { entry, channel } = await find(sideRequest, id);
    const query = queryOf(sideRequest);
    const page = readPage(query, { limit: 20, most: 100 });
    if (channel) {
      const url = address(channel, `/${encodeURIComponent(id)}/input_items`, query, [
        "limit",
        "order",
        "after",
        "before",
        "include",
      ]);
      return sideRequest.responder.json(
        (await mapNotFound(missing(id), requestPinnedJson(sideRequest, channel, { method: "GET", url }))).body,
      );
    }
    const { turns } = await turnsUntil(
      sideRequest.engine.controlPlane.storedObjects,
      entry,
      sideRequest.caller.user_id,
      () => missing(id),
    );
    return sideRequest.responder.json(JSON.stringify(pageOf(itemsBefore(turns), page)));
  };

/** POST /v1/responses/{id}/cancel: only background responses can be cancelled, and none is stored here. */
export const cancel =
  (id: string): SideHandler =>
  async (sideRequest) => {
    const { channel } = await find(sideRequest, id);
    if (!channel) fail("response_not_cancellable");
    const url = address(channel, `/${encodeURIComponent(id)}/cancel`);
    return sideRequest.responder.json((await requestPinnedJson(sideRequest, channel, { method: "POST", url })).body);
  };

/**
 * GET /v1/responses: the Responses API over a WebSocket starts here. Codex falls back to HTTP at once when it is
 * refused with 426, and only after several tries with any other status (codex-rs/core/src/client.rs, read November
 * 2026).
 */
export const refuseUpgrade: SideHandler = async (sideRequest) => {
  const { responder, dialect, request } = sideRequest;
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket")
    fail("not_found", { method: "GET", path: "/v1/responses" });
  return responder.json(dialect.writeError(ownError("upgrade_refused", {}, sideRequest)), 426, {
    upgrade: "HTTP/1.1",
  });
};
