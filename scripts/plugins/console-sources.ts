import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Plugin } from "rolldown";
import { ConsoleTexts, type Language } from "./console-texts";
import { expandMacros } from "./lingui-macro";

const BUN_MACRO = /^import \{ (\w+) \} from "([^"]+)" with \{ type: "macro" \};$/m;
/** The catalogue of the shell, `locales/zh.po`, or that of a part, `log-page.zh.po` beside it. */
const CATALOGUE = /(?:[\\/]|(.+)\.)(zh|en)\.po$/;

/**
 * Rolldown plugin for what is particular to the console's sources (folder `client`, entry `main`, catalogues in
 * `locales`): Lingui's macros, `.po` catalogues, of which each part of the console gets what it needs, and Bun's macros
 * (functions that run while it is bundled and leave a text). The tests load the same files by Bun's own plugins.
 */
export function consoleSources({
  prod,
  ...places
}: {
  prod: boolean;
  client: string;
  main: string;
  locales: string;
}): Plugin {
  const read = async (id: string): Promise<string> =>
    withoutBunMacro(id, await expandMacros(id, await readFile(id, "utf8"), { prod }));
  const texts = new ConsoleTexts({ ...places, read });
  return {
    name: "console-sources",
    // The catalogue of a part is called like the part and has no file.
    resolveId: {
      filter: { id: /\.po$/ },
      handler: (id, importer = "") => resolve(dirname(importer), id),
    },
    load: {
      filter: { id: [/[\\/]src[\\/]client[\\/].*\.tsx?$/, /\.po$/] },
      async handler(id) {
        const [, part, language] = CATALOGUE.exec(id) ?? [];
        if (language) return { code: await texts.catalogue(language as Language, part), moduleType: "js" };
        return { code: await texts.script(id), moduleType: id.endsWith("x") ? "tsx" : "ts" };
      },
    },
  };
}

async function withoutBunMacro(id: string, source: string): Promise<string> {
  const [line, name, path] = BUN_MACRO.exec(source) ?? [];
  if (!line || !name || !path) return source;
  const macros: Record<string, () => string> = await import(join(dirname(id), path));
  const macro = macros[name];
  if (!macro) throw new Error(`${path} has no ${name}`);
  return source.replace(line, () => `const ${name} = () => ${JSON.stringify(macro())};`);
}
