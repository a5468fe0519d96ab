import type { Text } from "../../../shared/text";
import { currentLanguage } from "../../lib/i18n";

/** What a built-in price leaves out; nothing for most. */
export function PriceNote({ note }: { note: Text | undefined }) {
  return note ? <p className="text-ink-2">{note[currentLanguage()]}</p> : null;
}
