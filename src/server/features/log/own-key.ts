/** The log of one relay key, read with that key (the range: C-647). */
import { and, desc, eq, gte, lte } from "drizzle-orm";
import { logStatSelfRest } from "../../../shared/log-list";
import { seconds } from "../../contracts/context";
import { buildInput } from "../../http/coerce";
import type { PlainRoute } from "../../http/plain";
import { keyOf, tokenOfKey } from "../token/own-key";
import { inPartitions } from "./partitions";
import { presentForOwner } from "./present";
import { readerOf } from "./service";

/** Existing clients show them all on one page. */
const MOST_ROWS = 1000;
const DEFAULT_DAYS = 3;

/**
 * `?key=sk-…` or Authorization: the newest rows of the key; of the last 3 days unless `start_timestamp` says otherwise.
 */
export const logOfKey: PlainRoute = {
  line: "GET /api/log/token",
  cors: true,
  answer: async (ctx, request) => {
    const token = await tokenOfKey(ctx, keyOf(request));
    const query = new URL(request.url).searchParams;
    const { start_timestamp: start, end_timestamp: end } = logStatSelfRest.parse(
      buildInput(logStatSelfRest, { path: {}, query, body: undefined }),
    );
    const { logs } = ctx.db.t;
    const since = Math.floor(start || seconds(ctx) - DEFAULT_DAYS * 86_400);
    const until = Math.floor(end || 0);
    const rows = await ctx.db.read
      .select()
      .from(logs)
      .where(
        and(
          eq(logs.token_id, token.id),
          eq(logs.user_id, token.user_id),
          eq(logs.visible, true),
          gte(logs.created_at, since),
          until ? lte(logs.created_at, until) : undefined,
          await inPartitions(ctx.db, since, until),
        ),
      )
      .orderBy(desc(logs.created_at), desc(logs.id))
      .limit(MOST_ROWS);
    const reader = readerOf(ctx);
    return Response.json(
      { success: true, message: "", data: rows.map((row) => presentForOwner(row, reader)) },
      { headers: { "cache-control": "no-store" } },
    );
  },
};
