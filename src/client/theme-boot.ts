/** Runs before the first paint, as a file of its own (see scripts/build-client.ts), so that no theme flashes. */
import { applyLanguage, applyTheme, storedLanguage, storedTheme } from "./lib/theme-choice";

applyTheme(storedTheme());
applyLanguage(storedLanguage());
