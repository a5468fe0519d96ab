import { existsSync } from "node:fs";

const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * The Chromium that end-to-end tests use: WEIR_CHROMIUM, else the first of the usual names on PATH. The headless shell
 * is the same engine without the windows around it, and takes a third less of a core.
 */
export function findChromium(): string | undefined {
  const named = process.env.WEIR_CHROMIUM;
  if (named) return existsSync(named) ? named : undefined;
  for (const name of NAMES) {
    const path = Bun.which(name);
    if (path) return path;
  }
  return undefined;
}

export const HOW_TO_GET_CHROMIUM =
  "Install it (Debian: apt-get install chromium-headless-shell; Ubuntu: chromium) or name one in WEIR_CHROMIUM, then run npm test again.";
