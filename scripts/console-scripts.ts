import { join, relative, resolve } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { consoleChunks } from "./plugins/console-chunks";
import { consoleConstants } from "./plugins/console-constants";
import { type Script, withoutFacades } from "./plugins/console-facades";
import { consoleSchemas } from "./plugins/console-schemas";
import { consoleSources } from "./plugins/console-sources";

const ROOT = resolve(import.meta.dir, "..");
const CLIENT = join(ROOT, "src/client");
const MAIN = join(CLIENT, "main.tsx");

/** Packages say "use client" for frameworks that render on a server; on a busy machine plugins take long. */
const HARMLESS: ReadonlySet<string> = new Set(["MODULE_LEVEL_DIRECTIVE", "PLUGIN_TIMINGS"]);

/**
 * The console's scripts, bundled by Rolldown, which can say what lies in a file together (`plugins/console-chunks.ts`;
 * docs/decisions/0056-few-files.md). Nothing is written. In development (`prod: false`) they are readable and carry
 * their source maps. Throws for whatever the bundler warns of.
 */
export async function bundleScripts({
  prod,
  plugins = [],
}: {
  prod: boolean;
  plugins?: readonly Plugin[];
}): Promise<Script[]> {
  const bundle = await rolldown({
    input: { main: MAIN },
    cwd: ROOT,
    platform: "browser",
    transform: { define: { "process.env.NODE_ENV": prod ? '"production"' : '"development"' } },
    plugins: [
      consoleConstants(),
      consoleSchemas(),
      consoleSources({ prod, client: CLIENT, main: MAIN, locales: join(ROOT, "locales") }),
      ...plugins,
    ],
    preserveEntrySignatures: false,
    onLog: (level, log) => {
      if (level === "warn" && !HARMLESS.has(log.code ?? "")) throw new Error(log.message);
    },
  });
  const { output } = await bundle.generate({
    minify: prod,
    sourcemap: prod ? false : "inline",
    entryFileNames: "assets/[name]-[hash].js",
    chunkFileNames: "assets/[name]-[hash].js",
    codeSplitting: consoleChunks(CLIENT),
  });
  await bundle.close();
  const scripts = output.filter((file) => file.type === "chunk");
  return prod ? withoutFacades(scripts) : scripts;
}

/** `first` and all that they import, without what they only import lazily. */
export function fetchedBy(chunks: readonly Script[], first: readonly Script[]): Script[] {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const found = new Set(first);
  for (const chunk of found)
    for (const name of chunk.imports) {
      const imported = byName.get(name);
      if (imported) found.add(imported);
    }
  return [...found];
}

/**
 * What a browser fetches before the page or the tab of a page can be shown that consists of `sources` (paths below
 * `src/client` without their ending): the entry, those, their texts in one language, and all that they import. Throws
 * for a source that the console lacks.
 */
export function scriptsOf(chunks: readonly Script[], ...sources: readonly string[]): Script[] {
  const shown = sources.map((source) => {
    const holds = (id: string): boolean => relative(CLIENT, id).replace(/\.tsx?$/, "") === source;
    const part = chunks.find((chunk) => chunk.moduleIds.some(holds));
    if (!part) throw new Error(`the console has no ${source}`);
    return part;
  });
  const first = new Set([join(ROOT, "locales/zh.po"), ...sources.map((source) => join(CLIENT, `${source}.zh.po`))]);
  const isFirst = (chunk: Script): boolean => chunk.isEntry || first.has(chunk.facadeModuleId ?? "");
  return fetchedBy(chunks, [...chunks.filter(isFirst), ...shown]);
}
