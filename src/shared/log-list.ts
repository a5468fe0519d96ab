/**
 * Reading the log: filters, pages, the row as callers see it. Two doors: REST in pages with a total (checklist C-481),
 * the console by key, so that a page costs the same however far back it lies.
 */
import * as z from "zod";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "./envelope";

export interface LogView {
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
  content: string;
  /** JSON object (ConsumeOther) or ''. */
  other: string;
  end_reason: string;
  ip: string;
  upstream_request_id: string;
}

/** A list of the console: `next` is the cursor of the following page, absent on the last. */
export interface LogSlice {
  items: LogView[];
  next?: string;
}

export interface LogStat {
  /** Units of the consumption under all filters. */
  quota: number;
  /** Calls and tokens of the last 60 seconds under the filters that are not times. */
  rpm: number;
  tpm: number;
}

const optionalText = z.string().max(500).optional();

/** Names as on the wire of `GET /api/log/`. Texts are exact, but for the model, which is a part of the name. */
const filterShape = {
  /** 0 = all. */
  type: z.int().min(0).optional(),
  start_timestamp: z.number().optional(),
  end_timestamp: z.number().optional(),
  token_name: optionalText,
  model_name: optionalText,
  group: optionalText,
  request_id: optionalText,
};
const adminShape = {
  ...filterShape,
  username: optionalText,
  channel: z.int().optional(),
  upstream_request_id: optionalText,
};

export type LogFilter = z.output<z.ZodObject<typeof adminShape>> & { token_id?: number };

/** Numbers that are none count as absent: old front-ends send `NaN`. */
const lenient = {
  type: filterShape.type.catch(undefined),
  start_timestamp: filterShape.start_timestamp.catch(undefined),
  end_timestamp: filterShape.end_timestamp.catch(undefined),
};
const paging = {
  /** From 1; 0 means 1. */
  p: z
    .int()
    .min(0)
    .transform((p) => Math.max(1, p))
    .catch(1)
    .default(1),
  page_size: z
    .int()
    .min(1)
    .transform((n) => Math.min(n, MAX_PAGE_SIZE))
    .catch(DEFAULT_PAGE_SIZE)
    .default(DEFAULT_PAGE_SIZE),
};

export const logListRest = z.object({
  ...adminShape,
  ...lenient,
  channel: adminShape.channel.catch(undefined),
  ...paging,
});
export const logSelfRest = z.object({ ...filterShape, ...lenient, ...paging });
export const logStatRest = z.object({ ...adminShape, ...lenient, channel: adminShape.channel.catch(undefined) });
export const logStatSelfRest = z.object({ ...filterShape, ...lenient });

const byKey = {
  token_id: z.int().optional(),
  limit: z.int().min(1).max(MAX_PAGE_SIZE).default(50),
  /** `next` of the page before. */
  cursor: z
    .string()
    .regex(/^\d{1,15}\.\d{1,15}$/)
    .nullish(),
};

export const logListInput = z.object({ ...adminShape, ...byKey });
export const logSelfInput = z.object({ ...filterShape, ...byKey });

/** One row by its id or its request id. */
export const logGetInput = z.union([
  z.object({ id: z.int().positive() }),
  z.object({ request_id: z.string().min(1).max(200) }),
]);
