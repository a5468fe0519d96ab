import { activateLanguage, currentLanguage } from "../../lib/i18n";
import { readStored } from "../../lib/storage";

/**
 * Only the wizard uses the browser's language (D-01): no choice has been stored yet. Nothing
 * is stored until the first step is finished.
 */
export async function guessLanguage(): Promise<void> {
  if (readStored("language") !== null || readStored("i18nextLng") !== null) return;
  const wanted = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  if (wanted !== currentLanguage()) await activateLanguage(wanted);
}
