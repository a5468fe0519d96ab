/** Runs before the first paint, as a file of its own (see scripts/build-client.ts), so that no theme flashes. */
import { applyLanguage, applyTheme, storedLanguage, storedTheme } from "./lib/theme-choice";

// Zod would compile its checks with `new Function` as soon as it loads, which the content security policy refuses: each
// page would report a violation. It reads this when it loads (zod/v4/core/core.js, 4.6.7).
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } });
applyTheme(storedTheme());
applyLanguage(storedLanguage());
