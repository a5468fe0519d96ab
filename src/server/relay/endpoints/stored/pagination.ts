/** Lists of the OpenAI API: `limit`, `order` and `after` (types of the `openai` SDK 7.55, CursorPage). */
import { fail } from "../../../../shared/errors";
import type { JsonObject } from "../../../lib/json-bytes";
import type { StoredPage } from "../../../contracts/stored-objects";

/** The parameters of a list request. Throws invalid_request. */
export function readPage(query: URLSearchParams, { limit: usual, most }: { limit: number; most: number }): StoredPage {
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") fail("invalid_request", { detail: "order" });
  const text = query.get("limit");
  const limit = text === null || text === "" ? usual : Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > most) fail("invalid_request", { detail: "limit" });
  const after = query.get("after") ?? "";
  return { order, limit, ...(after !== "" && { after }) };
}

const idOf = (item: JsonObject | undefined): string | null => (typeof item?.id === "string" ? item.id : null);

/** A page in OpenAI's list format. */
export const listResponse = (data: readonly JsonObject[], has_more: boolean): JsonObject => ({
  object: "list",
  data,
  first_id: idOf(data[0]),
  last_id: idOf(data.at(-1)),
  has_more,
});

/** A page of items held in memory, oldest first. Throws invalid_request when `after` names none of them. */
export function pageOf(items: readonly JsonObject[], { after, order, limit }: StoredPage): JsonObject {
  const sorted = order === "asc" ? items : items.toReversed();
  const at = after === undefined ? -1 : sorted.findIndex((item) => item.id === after);
  if (after !== undefined && at < 0) fail("invalid_request", { detail: "after" });
  return listResponse(sorted.slice(at + 1, at + 1 + limit), sorted.length > at + 1 + limit);
}
