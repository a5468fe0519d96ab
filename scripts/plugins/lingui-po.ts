import { relative } from "node:path";
import type { BunPlugin } from "bun";
import { createCompiledCatalog, getCatalogForFile, getCatalogs } from "@lingui/cli/api";
import { getConfig } from "@lingui/conf";

/**
 * Bun plugin that compiles `locales/<locale>.po` when it is imported: `import { messages } from "…/en.po"`. No
 * generated catalogue has to be in git.
 */
export function linguiPo(): BunPlugin {
  return {
    name: "lingui-po",
    setup(build) {
      build.onLoad({ filter: /\.po$/ }, async ({ path }) => {
        const config = getConfig({ cwd: process.cwd() });
        const found = getCatalogForFile(relative(process.cwd(), path), await getCatalogs(config));
        if (!found) throw new Error(`${path} belongs to no catalogue of lingui.config.ts`);
        const { messages } = await found.catalog.getTranslations(found.locale, {
          fallbackLocales: config.fallbackLocales,
          sourceLocale: config.sourceLocale,
        });
        const { source, errors } = createCompiledCatalog(found.locale, messages, { namespace: "json" });
        const [broken] = errors;
        if (broken) throw new Error(`${path}: "${broken.source}" is not a valid message: ${broken.error.message}`);
        const compiled: { messages: unknown } = JSON.parse(source);
        return { contents: `export const messages = ${JSON.stringify(compiled.messages)};`, loader: "js" };
      });
    },
  };
}

/** For `[serve.static] plugins` in bunfig.toml (development). */
export default linguiPo();
