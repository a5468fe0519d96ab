import type { PluginItem } from "@babel/core";
import type { BunPlugin } from "bun";
import { kept } from "./kept";

const IMPORTS_A_MACRO = /@lingui\/(core|react)\/macro/;

/**
 * Bun plugin that expands the Lingui macros of `src/client` for tests: the Chinese text stays in the code, so that a
 * page is readable without a catalogue. `keep`: compiled files are kept on disk.
 */
export function linguiMacro({ keep = false }: { keep?: boolean } = {}): BunPlugin {
  return {
    name: "lingui-macro",
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]client[\\/].*\.tsx?$/ }, async ({ path }) => {
        const source = await Bun.file(path).text();
        const expand = () => expandMacros(path, source);
        const contents =
          keep && IMPORTS_A_MACRO.test(source) ? await kept(import.meta.path, path, source, expand) : await expand();
        return { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
      });
    },
  };
}

/**
 * The TypeScript of `source` (file `path`) with its Lingui macros expanded; unchanged when it has none. In production
 * (`prod`) messages keep only their id: the catalogue has the text.
 */
export async function expandMacros(path: string, source: string, { prod = false } = {}): Promise<string> {
  if (!IMPORTS_A_MACRO.test(source)) return source;
  const macro: PluginItem = ["@lingui/babel-plugin-lingui-macro", prod ? { descriptorFields: "id-only" } : {}];
  // Babel is loaded only when a file needs it: server tests never do.
  const { transformAsync } = await import("@babel/core");
  const result = await transformAsync(source, {
    filename: path,
    babelrc: false,
    configFile: false,
    sourceMaps: "inline",
    retainLines: true,
    compact: false,
    parserOpts: { plugins: ["typescript", "jsx", "importAttributes"] },
    plugins: [macro],
  });
  if (typeof result?.code !== "string") throw new Error(`the Lingui macro produced nothing for ${path}`);
  return result.code;
}
