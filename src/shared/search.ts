/** What Ctrl K asks a list for: the few that fit best, without a total, which would cost more than the rows. */
import * as z from "zod";

/** Rows of each kind. */
export const MOST_FOUND = 5;

export const findInput = z.object({ words: z.string().trim().min(1).max(100) });
