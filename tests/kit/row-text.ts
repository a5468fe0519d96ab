import type { LogRow } from "../../src/server/db/schema";
import { rowText } from "../../src/shared/row-text";
import type { Lang } from "../../src/shared/text";

/** What the text of a stored row is made of. */
type TextRow = Partial<Pick<LogRow, "type" | "content" | "code" | "params" | "other">>;

/** The text of a stored row as an administrator reads it, amounts in dollars at the default rate. */
export const textOfRow = (row: TextRow | undefined, lang: Lang): string =>
  rowText({ type: 0, content: "", code: "", params: "", other: "", ...row }, lang, (units) => {
    return `$${(units / 500_000).toFixed(2)}`;
  });

export const zhText = (row: TextRow | undefined): string => textOfRow(row, "zh");
