import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { BunPlugin } from "bun";
import { kept } from "./kept";

/**
 * Bun plugin that compiles `locales/<locale>.po` when it is imported: `import { messages } from "…/en.po"`. No
 * generated catalogue has to be in git. `keep`: the compiled catalogue is kept on disk (tests).
 */
export function linguiPo({ keep = false }: { keep?: boolean } = {}): BunPlugin {
  return {
    name: "lingui-po",
    setup(build) {
      build.onLoad({ filter: /\.po$/ }, async ({ path }) => {
        const compile = () => compileCatalogue(path);
        const contents = keep
          ? await kept(import.meta.path, path, readFileSync(path, "utf8"), compile)
          : await compile();
        return { contents, loader: "js" };
      });
    },
  };
}

/** The module of a catalogue (`locales/<locale>.po`): it exports `messages`. Throws for an invalid message. */
async function compileCatalogue(path: string): Promise<string> {
  return `export const messages = ${JSON.stringify(await compileMessages(path))};`;
}

/** The compiled messages of a catalogue (`locales/<locale>.po`) by their ids. Throws for an invalid message. */
export async function compileMessages(path: string): Promise<Record<string, unknown>> {
  // Loaded only when a catalogue is: most tests import none.
  const { createCompiledCatalog, getCatalogForFile, getCatalogs } = await import("@lingui/cli/api");
  const { getConfig } = await import("@lingui/conf");
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
  const catalogue: { messages: Record<string, unknown> } = JSON.parse(source);
  return catalogue.messages;
}
