/** Reports of imports, as the console shows them. */
import * as z from "zod";

export interface ImportReportView {
  id: number;
  /** Epoch seconds. */
  created_at: number;
  /** Name of the source: "new-api:10402ed07feb". */
  source: string;
}

export interface ImportReportText {
  /** What `weir import` printed. */
  text: string;
}

export const importReportInput = z.object({ id: z.int().positive() });
