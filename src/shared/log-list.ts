/**
 * Reading the log: filters, pages, the row as callers see it. REST has pages with a total (C-481); the console reads by
 * key, so that a page costs the same however far back it is.
 */
import * as z from "zod";
import { MAX_PAGE_SIZE, type Page } from "./envelope";
import { listSize, pageShape } from "./paging";

/** Columns of the log that may be shown; `LOG_FIELDS` says which are. */
export interface LogColumns {
  id: number;
  request_id: string;
  /** Epoch seconds. */
  created_at: number;
  type: number;
  user_id: number;
  username: string;
  token_id: number;
  token_name: string;
  /** 0 for ordinary users. */
  channel: number;
  channel_name: string;
  group: string;
  model_name: string;
  quota: number;
  prompt_tokens: number;
  completion_tokens: number;
  /** Whole seconds. */
  use_time: number;
  is_stream: boolean;
  /** The row's text in the reader's language. */
  content: string;
  /** What the text is made of (shared/log-text.ts); '' = it has no code. */
  code: string;
  /** JSON object, or ''. */
  params: string;
  /** JSON object (ConsumeOther) or ''. */
  other: string;
  end_reason: string;
  ip: string;
  upstream_request_id: string;
  /** What the vendor asks for the call, in billionths of a dollar; absent: unknown. Administrators alone see it. */
  upstream_cost?: number;
  /** Of a refund: request id of the charge. */
  refund_of: string;
  /** Refusals that the row stands for besides its own, and when the last of them was (epoch seconds). */
  repeated: number;
  repeated_until: number;
}

/** The columns of a row that its user sees. One that is not listed here stays inside. */
export const OWN_LOG_FIELDS = [
  "id",
  "request_id",
  "created_at",
  "type",
  "user_id",
  "username",
  "token_id",
  "token_name",
  "group",
  "model_name",
  "quota",
  "prompt_tokens",
  "completion_tokens",
  "use_time",
  "is_stream",
  "content",
  "code",
  "params",
  "other",
  "end_reason",
  "ip",
  "refund_of",
  "repeated",
  "repeated_until",
] as const satisfies readonly (keyof LogColumns)[];

/** Further columns for administrators: where the call went. Others get 0 and '' there. */
export const ADMIN_LOG_FIELDS = [
  "channel",
  "channel_name",
  "upstream_request_id",
  "upstream_cost",
] as const satisfies readonly (keyof LogColumns)[];

export const LOG_FIELDS = [...OWN_LOG_FIELDS, ...ADMIN_LOG_FIELDS] as const;

export type LogView = Pick<LogColumns, (typeof LOG_FIELDS)[number]>;

/**
 * A list by key: `next` is the cursor of the following slice, absent on the last; a slice may be short, even empty, and
 * have one.
 */
export interface LogSlice {
  items: LogView[];
  next?: string;
}

/** A page with its total: exact up to MAX_LOG_TOTAL rows, and that number with `total_exact` false beyond. */
export interface LogPage extends Page<LogView> {
  total_exact: boolean;
  /**
   * Epoch seconds, when older rows of the range were not searched (SEARCHED_ROWS); request them with this as the end.
   */
  searched_from?: number;
}

/** Counting further would cost more than the number is worth. */
export const MAX_LOG_TOTAL = 10_000;

/** Filters without an index (a keyword) search this many rows, the newest of the range. */
export const SEARCHED_ROWS = 50_000;

/** The place of a row in the list: `<created_at>.<id>`. */
export const logPlace = (row: Pick<LogView, "created_at" | "id">): string => `${row.created_at}.${row.id}`;

/** The progress of a log cleaning. */
export interface LogCleaning {
  running: boolean;
  /** Rows older than this are removed; epoch seconds. */
  until: number;
  removed: number;
  /** '' = retention. */
  started_by: string;
  started_at: number;
  /** 0 while it runs. */
  finished_at: number;
}

/** The user of a row, as administrators see it. */
export interface LogUser {
  username: string;
  display_name: string;
  group: string;
  /** Units. */
  quota: number;
  used_quota: number;
  request_count: number;
}

/** Rows that the live log sends at once, and of one page of it. */
export const MAX_TAIL_ROWS = 200;

/** One event of the live log. */
export interface LogTail {
  /** Newest first. */
  items: LogView[];
  /** Cursor of the next request. */
  end: number;
  /** There were more rows than could be sent. */
  skipped: boolean;
}

/** The stored request and response of a call: redacted, shortened. */
export interface LogContent {
  request: string;
  response: string;
}

export interface LogStat {
  /** Units of the consumption under all filters. */
  quota: number;
  /** As in LogPage: earlier consumption is not in `quota`. */
  searched_from?: number;
  /** Calls and tokens of the last 60 seconds, under the filters other than times. */
  rpm: number;
  tpm: number;
}

/** Bars of the chart above the list, at most. */
export const HISTOGRAM_BARS = 60;

/** Rows that are counted one by one for it; beyond, whole hours are counted, or only the newest of them. */
export const HISTOGRAM_ROWS = 20_000;

/** The rows of a filter over time. */
export interface LogHistogram {
  /** Epoch seconds of the first bar, and the seconds of each. */
  start: number;
  step: number;
  /** Rows of failed calls, and all others; every bar of the range. */
  bars: { errors: number; others: number }[];
  /** Epoch seconds, when rows before that time were not counted. */
  counted_from?: number;
}

/** Failed calls that are looked at for their causes, and causes that are told. */
export const CAUSE_ROWS = 2000;
export const MAX_CAUSES = 20;

/** Why calls failed: one entry a code and what would have to be changed (a model, a token, a user, a channel). */
export interface LogCauses {
  /** All of them, also those beyond MAX_CAUSES. */
  causes: number;
  /** With refusals that a row stands for besides its own. */
  calls: number;
  /** Epoch seconds of the oldest call looked at. */
  since: number;
  /** False: there are more failed calls than were looked at. */
  complete: boolean;
  /** Most calls first; `row` is the newest call of the cause. */
  items: { calls: number; since: number; row: LogView }[];
}

const optionalText = z.string().max(500).optional();

/** Names as on the wire of `GET /api/log/`. Texts are exact, except for the model, which is a part of the name. */
const filterShape = {
  /** 0 = all. */
  type: z.int().min(0).optional(),
  start_timestamp: z.number().optional(),
  end_timestamp: z.number().optional(),
  token_name: optionalText,
  model_name: optionalText,
  group: optionalText,
  request_id: optionalText,
  /** A part of the text, of the model's or of the token's name; for administrators also of user and channel. */
  keyword: optionalText,
  token_id: z.int().optional(),
};
const adminShape = {
  ...filterShape,
  username: optionalText,
  channel: z.int().optional(),
  upstream_request_id: optionalText,
};

export interface LogFilter extends z.output<z.ZodObject<typeof adminShape>> {
  /** The model's whole name, with `%` for any text, instead of a part of it. */
  model_like?: string | undefined;
  /** Rows of failed calls are left out. */
  without_errors?: boolean;
}

/**
 * The model over REST: its whole name, or a pattern of at most two `%` (any text), not side by side, and two other
 * characters; `_` is a plain character (new-api model/token.go, validateLikePattern, read 2026-11).
 */
const modelPattern = z
  .string()
  .max(500)
  .refine(
    (text) =>
      !text.includes("%") ||
      (!text.includes("%%") && text.split("%").length <= 3 && text.replaceAll("%", "").length >= 2),
    { error: "invalid_parameter", params: { detail: "model_name" } },
  )
  .optional();

/** Numbers that are none count as absent: old front-ends send `NaN`. */
const lenient = {
  type: filterShape.type.catch(undefined),
  start_timestamp: filterShape.start_timestamp.catch(undefined),
  end_timestamp: filterShape.end_timestamp.catch(undefined),
  token_id: filterShape.token_id.catch(undefined),
};
const lenientAdmin = { ...lenient, channel: adminShape.channel.catch(undefined) };

const cursor = z.string().regex(/^\d{1,15}\.\d{1,15}$/);
const paging = {
  ...pageShape,
  /** Instead of counting up to page `p`: the page directly after this row, or directly before it. */
  after: cursor.optional(),
  before: cursor.optional(),
};

export const logListRest = z.object({ ...adminShape, ...lenientAdmin, ...paging });
const logSelfRest = z.object({ ...filterShape, ...lenient, ...paging });
/** Pages of the console. */
export const logPageInput = logListRest.extend({ page_size: listSize });
export const logOwnPageInput = logSelfRest.extend({ page_size: listSize });
export const logStatRest = z.object({ ...adminShape, ...lenientAdmin });
export const logStatSelfRest = z.object({ ...filterShape, ...lenient });
/** The same over REST, as existing scripts ask. */
export const logListFamily = logListRest.extend({ model_name: modelPattern });
export const logSelfFamily = logSelfRest.extend({ model_name: modelPattern });
export const logStatFamily = logStatRest.extend({ model_name: modelPattern });
export const logStatSelfFamily = logStatSelfRest.extend({ model_name: modelPattern });
export const logSearchRest = z.object({ keyword: z.string().max(500).default("") });
/** An exported file of the log: the filters of the list, and the format. */
export const logExportRest = z.object({
  ...adminShape,
  ...lenientAdmin,
  format: z.enum(["csv", "jsonl"]).default("csv"),
});
export const logTailRest = z.object({ ...adminShape, ...lenientAdmin, since: z.int().min(0).optional() });
/** Rows before this time are removed; epoch seconds. */
export const logCleanRest = z.object({ target_timestamp: z.int().positive() });

const byKey = {
  limit: z.int().min(1).max(MAX_PAGE_SIZE).default(50),
  /** `next` of the previous page. */
  cursor: cursor.nullish(),
};

export const logListInput = z.object({ ...adminShape, ...byKey });
export const logSelfInput = z.object({ ...filterShape, ...byKey });

/** One row by its id or its request id. */
export const logGetInput = z.union([
  z.object({ id: z.int().positive() }),
  z.object({ request_id: z.string().min(1).max(200) }),
]);

export const logUserInput = z.object({ id: z.int().positive() });
export const logContentInput = z.object({ request_id: z.string().min(1).max(200) });
