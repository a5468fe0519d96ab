import { channelFields } from "../../../shared/channel";
import { errors, errorText, type ErrorCode } from "../../../shared/errors";
import { currentLanguage } from "../../lib/i18n";

/** The two figures of routing that are edited in the list. */
export type RoutingField = "priority" | "weight";

const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errors, text);

/** What was typed as a number of that field, or why it is none, in the user's language (C-409, C-410). */
export function readRoutingNumber(field: RoutingField, text: string): { value: number } | { problem: string } {
  const typed = /^-?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  const parsed = channelFields.shape[field].unwrap().safeParse(typed);
  if (parsed.success) return { value: parsed.data };
  const code = parsed.error.issues[0]?.message ?? "";
  return { problem: isErrorCode(code) ? errorText(code, {}, currentLanguage()) : code };
}
