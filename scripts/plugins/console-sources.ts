import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Plugin } from "rolldown";
import { expandMacros } from "./lingui-macro";
import { compileCatalogue } from "./lingui-po";

const BUN_MACRO = /^import \{ (\w+) \} from "([^"]+)" with \{ type: "macro" \};$/m;

/**
 * Rolldown plugin for what is particular to the console's sources: Lingui's macros, `.po` catalogues and Bun's macros
 * (functions that run while it is bundled and leave a text). The tests load the same files by Bun's own plugins.
 */
export function consoleSources({ prod }: { prod: boolean }): Plugin {
  return {
    name: "console-sources",
    load: {
      filter: { id: [/[\\/]src[\\/]client[\\/].*\.tsx?$/, /\.po$/] },
      async handler(id) {
        if (id.endsWith(".po")) return { code: await compileCatalogue(id), moduleType: "js" };
        const source = await readFile(id, "utf8");
        const expanded = await expandMacros(id, source, { prod });
        return { code: await withoutBunMacro(id, expanded), moduleType: id.endsWith("x") ? "tsx" : "ts" };
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
