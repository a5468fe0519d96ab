import { existsSync } from "node:fs";

/** The Chromium that end-to-end tests use: WEIR_CHROMIUM, else the first of the usual names on PATH. */
export function findChromium(): string | undefined {
  const named = process.env.WEIR_CHROMIUM;
  if (named) return existsSync(named) ? named : undefined;
  for (const name of ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]) {
    const path = Bun.which(name);
    if (path) return path;
  }
  return undefined;
}

export const HOW_TO_GET_CHROMIUM =
  "Install it (Debian, Ubuntu: apt-get install chromium) or name one in WEIR_CHROMIUM, then run npm test again.";
