/** Pages of lists as calls request them. */
import * as z from "zod";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type Page } from "./envelope";
import { MAX_LIST_SIZE } from "./list-size";

const sizeUpTo = (most: number) =>
  z
    .int()
    .min(1)
    .transform((n) => Math.min(n, most))
    .catch(DEFAULT_PAGE_SIZE)
    .default(DEFAULT_PAGE_SIZE);

/** Rows of a page; invalid values fall back (C-482). */
export const pageSize = sizeUpTo(MAX_PAGE_SIZE);

/** The same of a route that programs and the console share. */
export const longPageSize = sizeUpTo(MAX_LIST_SIZE);

/** Rows of a page of the console's own lists. */
export const listSize = z.int().min(1).max(MAX_LIST_SIZE).default(DEFAULT_PAGE_SIZE);

/** p from 1, and 0 means 1; invalid values fall back (C-481). */
export const pageShape = {
  p: z
    .int()
    .min(0)
    .transform((p) => Math.max(1, p))
    .catch(1)
    .default(1),
  page_size: pageSize,
};

/** A search, which is all on one page unless `page_size` is sent. */
export const searchShape = {
  p: pageShape.p,
  page_size: z
    .int()
    .min(1)
    .transform((n) => Math.min(n, MAX_PAGE_SIZE))
    .optional()
    .catch(undefined),
};

/** One page of all rows that were found. */
export const wholePage = <T>(items: T[]): Page<T> => ({ items, page: 1, page_size: items.length, total: items.length });
