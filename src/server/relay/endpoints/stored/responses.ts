/**
 * Answers that were kept: GET and DELETE /v1/responses/{id}, its input items, its cancelling (OpenAI API reference,
 * responses; types of the `openai` SDK 7.55, read November 2026). What an upstream keeps is asked of it, the rest is
 * here.
 */
import { AppError, fail } from "../../../../shared/errors";
import type { Aside, Visit } from "../../admission/side-call";
import { ownError } from "../../response/error-response";
import { Failed } from "../../../protocol/upstream-error";
import { holding } from "../../routing/key-rotation";
import { responses } from "../../operations/dialect-chat";
import type { PoolChannel } from "../../../contracts/channel";
import { operationFor } from "../../providers/speak";
import { keepsAnswers } from "../../providers/capabilities";
import { ask, askEvents, askJson, orMissing, placeOf } from "../../upstream/pinned-request";
import { pageOf, readPage } from "./pagination";
import type { Stored } from "../../../contracts/stored-objects";
import { itemsBefore, keptIn, turnsUntil } from "./conversation";

const missing = (id: string): AppError => new AppError("response_not_found", { id });
const queryOf = ({ request }: Visit): URLSearchParams => new URL(request.url).searchParams;

/** The caller's own entry, and the channel that keeps the answer. Throws response_not_found. */
async function find(
  { engine, caller }: Visit,
  id: string,
): Promise<{ entry: Stored; channel: PoolChannel | undefined }> {
  const { shelf, pool } = engine.seams;
  const entry = await shelf.find("response", id, caller.user_id);
  if (!entry) throw missing(id);
  if (entry.channel_id === 0) return { entry, channel: undefined };
  const holder = pool.byId(entry.channel_id);
  if (!holder?.enabled || !keepsAnswers(holder.channel, responses)) throw missing(id);
  const channel = holding(holder.channel, entry.channel_key_id);
  if (!channel) throw missing(id);
  return { entry, channel };
}

const address = (
  channel: PoolChannel,
  path: string,
  query?: URLSearchParams,
  passes?: readonly string[],
): string | undefined => placeOf(channel, operationFor(channel, responses, ""), path, query, passes);

/** GET /v1/responses/{id}; `stream` and `starting_after` where the vendor has them. */
export const retrieve =
  (id: string): Aside =>
  async (visit) => {
    const { entry, channel } = await find(visit, id);
    const query = queryOf(visit);
    const streamed = query.get("stream") === "true";
    if (!channel) {
      if (streamed) fail("response_not_streamable");
      const kept = keptIn(entry);
      if (!kept) throw missing(id);
      return visit.door.json(JSON.stringify(kept.response));
    }
    const url = address(channel, `/${encodeURIComponent(id)}`, query, [
      "include",
      "include_obfuscation",
      "starting_after",
      "stream",
    ]);
    if (!streamed)
      return visit.door.json((await orMissing(missing(id), askJson(visit, channel, { method: "GET", url }))).body);
    const body = await orMissing(missing(id), askEvents(visit, channel, { method: "GET", url }));
    return visit.door.raw(body ?? new Uint8Array(), "text/event-stream; charset=utf-8");
  };

/** DELETE /v1/responses/{id}. What is gone upstream is forgotten here as well. */
export const remove =
  (id: string): Aside =>
  async (visit) => {
    const { channel } = await find(visit, id);
    const { shelf } = visit.engine.seams;
    try {
      if (channel) await ask(visit, channel, { method: "DELETE", url: address(channel, `/${encodeURIComponent(id)}`) });
    } catch (error) {
      if (!(error instanceof Failed) || error.failure.upstream_status !== 404) throw error;
    }
    await shelf.remove("response", id, visit.caller.user_id);
    return visit.door.json(JSON.stringify({ id, object: "response", deleted: true }));
  };

/** GET /v1/responses/{id}/input_items: all that the answer was made from. */
export const listInput =
  (id: string): Aside =>
  async (visit) => {
    const { entry, channel } = await find(visit, id);
    const query = queryOf(visit);
    const page = readPage(query, { limit: 20, most: 100 });
    if (channel) {
      const url = address(channel, `/${encodeURIComponent(id)}/input_items`, query, [
        "limit",
        "order",
        "after",
        "before",
        "include",
      ]);
      return visit.door.json((await orMissing(missing(id), askJson(visit, channel, { method: "GET", url }))).body);
    }
    const { turns } = await turnsUntil(visit.engine.seams.shelf, entry, visit.caller.user_id, () => missing(id));
    return visit.door.json(JSON.stringify(pageOf(itemsBefore(turns), page)));
  };

/** POST /v1/responses/{id}/cancel: only what was made in the background can be cancelled, and nothing here is. */
export const cancel =
  (id: string): Aside =>
  async (visit) => {
    const { channel } = await find(visit, id);
    if (!channel) fail("response_not_cancellable");
    const url = address(channel, `/${encodeURIComponent(id)}/cancel`);
    return visit.door.json((await askJson(visit, channel, { method: "POST", url })).body);
  };

/**
 * GET /v1/responses: the Responses API over a WebSocket begins here. Codex goes on over HTTP at once when it is refused
 * with
 * 426, and after several tries when with anything else (codex-rs/core/src/client.rs, read November 2026).
 */
export const refuseUpgrade: Aside = async ({ door, dialect, request, lang, request_id }) => {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket")
    fail("not_found", { method: "GET", path: "/v1/responses" });
  return door.json(dialect.writeError(ownError("upgrade_refused", {}, lang, request_id)), 426, { upgrade: "HTTP/1.1" });
};
