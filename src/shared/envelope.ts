import * as z from "zod";

/** An id in a list: a whole number, or its digits as some front-ends send them. An array or an object is refused. */
export const idNumber = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ])
  .pipe(z.number().int().positive());

/** A page of a list. */
export interface Page<T> {
  items: T[];
  page: number;
  page_size: number;
  total: number;
}

export const DEFAULT_PAGE_SIZE = 10;
export const MAX_PAGE_SIZE = 100;
