/**
 * The log as a file: exactly the filtered rows that the viewer may see, newest first. Read by key in batches as the
 * reader takes them, so that any number of rows costs the memory of one batch.
 */
import { CSV_MARK, csvLine } from "../../../shared/csv";
import { type LogFilter, logExportRest, type LogView } from "../../../shared/log-list";
import { fail } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import type { UserCtx } from "../../contracts/context";
import { buildInput } from "../../http/coerce";
import type { PlainRoute } from "../../http/plain";
import { stillHolds } from "../../http/standing";
import { textStream } from "../../http/text-stream";
import { signedIn } from "../../http/trpc";
import type { LogScope } from "./filter";
import { present, readSlice, scopeOf } from "./service";

const BATCH = 500;

type Cell = string | number | boolean;
type Format = "csv" | "jsonl";

/** Columns of the table, named as on the wire; `time` is created_at for people. */
const COLUMNS = [
  "id",
  "created_at",
  "time",
  "type",
  "username",
  "user_id",
  "token_name",
  "token_id",
  "group",
  "model_name",
  "quota",
  "prompt_tokens",
  "completion_tokens",
  "use_time",
  "is_stream",
  "end_reason",
  "request_id",
  "ip",
  "content",
  "other",
  "code",
  "refund_of",
  "repeated",
] as const;
const ADMIN_COLUMNS = ["channel", "channel_name", "upstream_request_id", "upstream_cost"] as const;
type Column = (typeof COLUMNS | typeof ADMIN_COLUMNS)[number];

const cellOf = (row: LogView, column: Column): Cell =>
  column === "time" ? new Date(row.created_at * 1000).toISOString() : (row[column] ?? "");

const columnsOf = (scope: LogScope): readonly Column[] => (scope === "all" ? [...COLUMNS, ...ADMIN_COLUMNS] : COLUMNS);

/** The file's first line. */
const headOf = (format: Format, scope: LogScope): string =>
  format === "csv" ? CSV_MARK + csvLine(columnsOf(scope)) : "";

function textOf(format: Format, scope: LogScope, rows: readonly LogView[]): string {
  const columns = columnsOf(scope);
  return rows
    .map((row) =>
      format === "csv" ? csvLine(columns.map((column) => cellOf(row, column))) : `${JSON.stringify(row)}\n`,
    )
    .join("");
}

/**
 * Batches of the filtered rows, each after the last; never an empty one. `mayRead` is asked when a batch was read;
 * throws forbidden, so that the file is cut and does not look complete.
 */
async function* batches(
  ctx: UserCtx,
  scope: LogScope,
  filter: LogFilter,
  mayRead: () => Promise<boolean>,
): AsyncGenerator<LogView[]> {
  for (let cursor: string | undefined; ;) {
    const { rows, next } = await readSlice(ctx, scope, filter, BATCH, cursor);
    if (!(await mayRead())) fail("forbidden");
    if (rows.length > 0) yield rows.map(present(ctx, scope));
    if (next === undefined) return;
    cursor = next;
  }
}

/** The file: its head with the first rows, never an empty part. */
async function* textsOf(
  scope: LogScope,
  format: Format,
  batch: ReturnType<typeof batches>,
): AsyncGenerator<string, void> {
  let head = headOf(format, scope);
  for await (const rows of batch) {
    yield head + textOf(format, scope, rows);
    head = "";
  }
  if (head !== "") yield head;
}

const TYPES: Record<Format, string> = { csv: "text/csv; charset=utf-8", jsonl: "application/x-ndjson; charset=utf-8" };

/** `?format=csv|jsonl` and the filters of the list. An ordinary user gets only their own rows. */
export const logExport: PlainRoute = {
  line: "GET /api/log/export",
  answer: async (base, request) => {
    const ctx = signedIn(base, ROLE.user);
    const scope = scopeOf(ctx);
    const { format, ...filter } = logExportRest.parse(
      buildInput(logExportRest, { path: {}, query: new URL(request.url).searchParams, body: undefined }),
    );
    const name = `weir-log-${new Date(ctx.now()).toISOString().slice(0, 19).replaceAll(":", "-")}.${format}`;
    const rows = batches(ctx, scope, filter, () => stillHolds(ctx, request, ctx.actor));
    return new Response(textStream(textsOf(scope, format, rows)), {
      headers: {
        "content-type": TYPES[format],
        "content-disposition": `attachment; filename="${name}"`,
        "cache-control": "no-store",
      },
    });
  },
};
