/** Failed calls by what caused them, so that one fix is looked for once and not a call at a time. */
import { desc, inArray } from "drizzle-orm";
import { LOG_TYPE } from "../../../shared/log";
import { CAUSE_ROWS, type LogCauses, type LogFilter, MAX_CAUSES } from "../../../shared/log-list";
import type { UserCtx } from "../../contracts/context";
import { conditions, type LogScope, namesOf, rangeOf } from "./filter";
import { present } from "./service";

/** What besides its code tells a cause apart: what would have to be changed. */
const subjectOf = (row: {
  code: string;
  content: string;
  model_name: string;
  token_id: number;
  user_id: number;
  channel: number;
}): string | number => {
  if (row.code === "") return row.content;
  if (row.code.startsWith("failure.")) return row.channel;
  if (row.code.startsWith("model_") || row.code === "operation_unsupported") return row.model_name;
  return row.code.startsWith("token_") || row.code === "insufficient_token_quota" ? row.token_id : row.user_id;
};

/** The causes of the newest CAUSE_ROWS failed calls of a filter, the most frequent first, each with its newest call. */
export async function logCauses(ctx: UserCtx, scope: LogScope, asked: LogFilter): Promise<LogCauses> {
  const { logs } = ctx.db.t;
  const filter = { ...asked, type: LOG_TYPE.error };
  const named = await namesOf(ctx, scope, filter);
  const range = await rangeOf(ctx, scope, filter, named);
  const { id, code, content, model_name, token_id, user_id, channel, created_at, repeated } = logs;
  const rows = await ctx.db.read
    .select({ id, code, content, model_name, token_id, user_id, channel, created_at, repeated })
    .from(logs)
    .where(await conditions(ctx, scope, filter, range, { named }))
    .orderBy(desc(created_at), desc(id))
    .limit(CAUSE_ROWS + 1);
  const counted = rows.slice(0, CAUSE_ROWS);
  const groups = new Map<string, { newest: number; calls: number; since: number }>();
  for (const row of counted) {
    const key = `${row.code}\n${subjectOf(row)}`;
    const group = groups.get(key) ?? { newest: row.id, calls: 0, since: row.created_at };
    groups.set(key, { ...group, calls: group.calls + 1 + row.repeated, since: row.created_at });
  }
  const most = [...groups.values()].sort((a, b) => b.calls - a.calls).slice(0, MAX_CAUSES);
  const newest = most.length
    ? await ctx.db.read
        .select()
        .from(logs)
        .where(
          inArray(
            id,
            most.map((group) => group.newest),
          ),
        )
    : [];
  const views = new Map(newest.map((row) => [row.id, present(ctx, scope)(row)]));
  return {
    causes: groups.size,
    calls: [...groups.values()].reduce((sum, group) => sum + group.calls, 0),
    since: counted.at(-1)?.created_at ?? 0,
    complete: rows.length <= CAUSE_ROWS && range.searched_from === undefined,
    items: most.flatMap(({ newest: of, calls, since }) => {
      const row = views.get(of);
      return row ? [{ calls, since, row }] : [];
    }),
  };
}
