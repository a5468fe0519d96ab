/**
 * Batches of calls: POST and GET /v1/batches, GET /v1/batches/{id}, its cancelling (OpenAI API reference, batches; types of the
 * `openai` SDK 7.55, read November 2026). What a batch uses is not charged yet, so a channel takes them only where its
 * operator says that he bears it (`setting.allow_unbilled_batches`; docs/decisions/0013).
 */
import { fail } from "../../../shared/errors";
import type { Aside, Visit } from "../aside";
import { parseBody, readBody } from "../body";
import { Failed } from "../failed";
import { holding } from "../keys";
import { isObject, type JsonObject } from "../json";
import { readText } from "../operations/operation";
import type { PoolChannel } from "../seams";
import { askJson, orMissing, placeOf } from "../vendor";
import { held, takes } from "./files";
import { listed, readPage } from "./page";
import type { Stored } from "./shelf";

/** Of a batch that will not change any more (types of the SDK, Batch.status). */
const FINAL = new Set(["failed", "completed", "expired", "cancelled"]);

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** Notes what a batch says of itself; the files that it made are its owner's. */
async function note({ engine, caller }: Visit, channel: PoolChannel, batch: JsonObject): Promise<void> {
  const { shelf, now } = engine.seams;
  const { user_id, token_id } = caller;
  const created = typeof batch.created_at === "number" ? Math.floor(batch.created_at) : Math.floor(now() / 1000);
  const shared = { user_id, token_id, channel_id: channel.id, channel_key_id: channel.key_row?.id ?? 0, model: "", expires_at: 0 };
  await shelf.put({
    ...shared, kind: "batch", object_id: text(batch.id), parent_id: text(batch.input_file_id), status: text(batch.status), created_at: created, value: batch,
  });
  for (const id of [text(batch.output_file_id), text(batch.error_file_id)]) {
    if (id === "" || (await shelf.find("file", id, user_id))) continue;
    const value = { id, object: "file", bytes: 0, created_at: Math.floor(now() / 1000), filename: `${text(batch.id)}.jsonl`, purpose: "batch_output" };
    await shelf.put({ ...shared, kind: "file", object_id: id, parent_id: "", status: "processed", value });
  }
}

/** POST /v1/batches: of a file of the caller's, on the channel that has it. */
export const createBatch: Aside = async (visit) => {
  const { engine, request, caller, door } = visit;
  const body = await readBody(request, engine.seams.option.maxBodyBytes);
  const json = parseBody(body);
  const file = readText(json, "input_file_id") ?? fail("invalid_request", { detail: "input_file_id" });
  // Its lines name models, and nobody reads them here.
  if (caller.models) fail("batches_token_limited");
  const { channel } = await held(visit, "file", file);
  if (!takes(channel, "batches")) fail("batches_unavailable");
  const headers = { "content-type": "application/json" };
  const made = await askJson(visit, channel, { method: "POST", url: placeOf(channel, "batches", ""), headers, body });
  if (text(made.json.id) === "") fail("upstream_malformed");
  await note(visit, channel, made.json);
  return door.json(made.body);
};

/** What a batch is now, from its vendor. */
async function look(visit: Visit, channel: PoolChannel, id: string, path = ""): Promise<{ body: Uint8Array<ArrayBuffer>; json: JsonObject }> {
  const url = placeOf(channel, "batches", `/${encodeURIComponent(id)}${path}`);
  const seen = await askJson(visit, channel, { method: path === "" ? "GET" : "POST", url });
  if (text(seen.json.id) === id) await note(visit, channel, seen.json);
  return seen;
}

/** GET /v1/batches/{id}. */
export const retrieveBatch = (id: string): Aside => async (visit) => {
  const { channel, missing } = await held(visit, "batch", id);
  return visit.door.json((await orMissing(missing, look(visit, channel, id))).body);
};

/** POST /v1/batches/{id}/cancel. */
export const cancelBatch = (id: string): Aside => async (visit) => {
  const { channel } = await held(visit, "batch", id);
  return visit.door.json((await look(visit, channel, id, "/cancel")).body);
};

/** A batch of a list: asked for where it may have changed, as it was last seen where that fails. */
async function current(visit: Visit, entry: Stored): Promise<JsonObject[]> {
  const known = isObject(entry.value) ? [entry.value] : [];
  const holder = visit.engine.seams.pool.byId(entry.channel_id);
  const channel = holder?.enabled ? holding(holder.channel, entry.channel_key_id) : undefined;
  if (FINAL.has(entry.status) || !channel || !takes(channel, "files")) return known;
  try {
    return [(await look(visit, channel, entry.object_id)).json];
  } catch (error) {
    if (error instanceof Failed) return known;
    throw error;
  }
}

/** GET /v1/batches: the caller's own. */
export const listBatches: Aside = async (visit) => {
  const { engine, caller, request, door } = visit;
  const page = readPage(new URL(request.url).searchParams, { limit: 20, most: 100 });
  const rows = await engine.seams.shelf.list("batch", caller.user_id, { ...page, limit: page.limit + 1 });
  const shown = await Promise.all(rows.slice(0, page.limit).map((row) => current(visit, row)));
  return door.json(JSON.stringify(listed(shown.flat(), rows.length > page.limit)));
};
