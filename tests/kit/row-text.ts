import type { LogRow } from "../../src/server/db/schema";
import { rowText } from "../../src/shared/row-text";

/** The text of a stored row as a Chinese reader sees it, amounts in dollars at the default rate. */
export const zhText = (row: LogRow | undefined): string =>
  row ? rowText(row, "zh", (units) => `$${(units / 500_000).toFixed(2)}`) : "";
