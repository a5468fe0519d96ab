import { defineConfig } from "@lingui/conf";
import { formatter } from "@lingui/format-po";

/**
 * Message catalogues: Chinese is the source and the message text itself, English must be complete.
 * No `fallbackLocales`: with them a missing translation would not fail the check.
 * Origins are left out so that moving code does not change the catalogues.
 */
export default defineConfig({
  sourceLocale: "zh",
  locales: ["zh", "en"],
  catalogs: [
    {
      path: "<rootDir>/locales/{locale}",
      include: ["<rootDir>/src/client"],
      exclude: ["**/*.test.ts", "**/*.test.tsx", "**/*.css", "**/*.html"],
    },
  ],
  format: formatter({ origins: false, lineNumbers: false }),
  orderBy: "message",
});
