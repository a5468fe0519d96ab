import type { PluginItem } from "@babel/core";
import type { BunPlugin } from "bun";
import { kept } from "./kept";

const IMPORTS_A_MACRO = /@lingui\/(core|react)\/macro/;

/**
 * Bun plugin that expands the Lingui macros of `src/client`.
 *
 * In production messages keep only their id (the catalogue has the text); in development and tests the Chinese text
 * stays in the code, so that a page is readable without a catalogue. `keep`: compiled files are kept on disk (tests).
 */
export function linguiMacro({ prod = false, keep = false }: { prod?: boolean; keep?: boolean } = {}): BunPlugin {
  const macro: PluginItem = ["@lingui/babel-plugin-lingui-macro", prod ? { descriptorFields: "id-only" } : {}];
  return {
    name: "lingui-macro",
    setup(build) {
      build.onLoad({ filter: /[\\/]src[\\/]client[\\/].*\.tsx?$/ }, async ({ path }) => {
        const source = await Bun.file(path).text();
        const loader = path.endsWith("x") ? "tsx" : "ts";
        if (!IMPORTS_A_MACRO.test(source)) return { contents: source, loader };
        const compile = () => compiled(path, source, macro);
        return { contents: await (keep ? kept(import.meta.path, path, source, compile) : compile()), loader };
      });
    },
  };
}

async function compiled(path: string, source: string, macro: PluginItem): Promise<string> {
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

/** For `[serve.static] plugins` in bunfig.toml (development). */
export default linguiMacro();
