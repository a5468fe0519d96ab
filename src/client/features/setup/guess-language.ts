import { activateLanguage, currentLanguage } from "../../lib/i18n";
import { readStored } from "../../lib/storage";

/**
 * The wizard alone takes the browser's wish for the language (D-01): who installs Weir has made no choice yet. Nothing
 * is stored until the first step is finished.
 */
export async function guessLanguage(): Promise<void> {
  if (readStored("language") !== null || readStored("i18nextLng") !== null) return;
  const wanted = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  if (wanted !== currentLanguage()) await activateLanguage(wanted);
}
