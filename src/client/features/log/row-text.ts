import type { LogView } from "../../../shared/log-list";
import { rowText } from "../../../shared/row-text";
import { currentLanguage } from "../../lib/i18n";
import { quotaText } from "../../lib/quota-text";

/** The row's text in the console's language: the server rendered `content` in the one of the time it was loaded. */
export const textOf = (row: LogView): string => rowText(row, currentLanguage(), (units) => quotaText(units));
