import { dirname, join } from "node:path";
import type { CodeSplittingOptions } from "rolldown";
import { SCHEMAS } from "./console-schemas";

/** What `work` holds at least: what this share of the working pages needs. */
const COMMON_SHARE = 0.3;
/** A module of fewer characters is not worth a file of its own; several pages that need it share it with all others. */
const SMALL = 4_000;
/** The pages that people see first, which should be light: no file of the working pages is theirs. */
const LOGIN = /[\\/]login-page\.tsx$/;
const CATALOGUE = /\.po$/;
const HOME = /[\\/]home-page\.tsx$/;

type ModuleOf = (id: string) => {
  code: string | null;
  importedIds: readonly string[];
  dynamicallyImportedIds: readonly string[];
} | null;

/**
 * Which modules of the console (`client`: its folder) lie in a file together, so that a page costs few files:
 *
 * - `vendor`, `shell`: packages and own modules that index.html itself needs; vendor changes only with a package.
 * - `entrance`, `forms`: what the sign-in page shares with most others, and with those that show a form at once.
 * - `zod`: what runs schemas. Pages that only list fetch none (console-schemas.ts).
 * - `work-vendor`, `work`: what many of the other pages need.
 *
 * Everything else is left to the bundler.
 */
export function consoleChunks(client: string): CodeSplittingOptions {
  let chunkOf: ReadonlyMap<string, string> | undefined;
  return {
    includeDependenciesRecursively: false,
    groups: [
      { name: "vendor", test: /node_modules/, tags: ["$initial"], priority: 2 },
      { name: "shell", tags: ["$initial"], priority: 1 },
      { name: "zod", test: /[\\/]node_modules[\\/]zod[\\/]/ },
      {
        debugName: "common",
        name: (id, context) => {
          chunkOf ??= commonChunks((id) => context.getModuleInfo(id), join(client, "routes.tsx"));
          return chunkOf.get(id) ?? null;
        },
      },
    ],
  };
}

function commonChunks(moduleOf: ModuleOf, routes: string): Map<string, string> {
  const needs = needed(moduleOf);
  const pages = (moduleOf(routes)?.dynamicallyImportedIds ?? []).filter((id) => !CATALOGUE.test(id));
  const of = (kind: RegExp): Set<string> =>
    new Set(pages.filter((page) => kind.test(page)).flatMap((page) => [...needs(page)]));
  const [login, home] = [of(LOGIN), of(HOME)];
  const works = pages.filter((page) => !LOGIN.test(page) && !HOME.test(page)).map(needs);
  const chunks = new Map<string, string>();
  for (const id of new Set(works.flatMap((ids) => [...ids]))) {
    const users = works.filter((ids) => ids.has(id)).length;
    const isSmall = (moduleOf(id)?.code?.length ?? 0) < SMALL;
    if (login.has(id)) chunks.set(id, users >= works.length / 2 ? "entrance" : "forms");
    else if (!home.has(id) && (users >= COMMON_SHARE * works.length || (users > 1 && isSmall)))
      chunks.set(id, PACKAGE.test(id) && !ICON.test(id) ? "work-vendor" : "work");
  }
  return chunks;
}

const PACKAGE = /[\\/]node_modules[\\/]/;
const ICON = /[\\/]lucide-react[\\/]/;
const INDEX = /[\\/](?:lucide-react|radix-ui[\\/]dist[\\/]index)\.mjs$/;
const NAMED_IMPORT = /import\s*\{([^}]*)\}\s*from\s*"(?:lucide-react|radix-ui)"/g;
const ICON_EXPORT = /export \{([^}]*)\} from '(\.\/icons\/[\w-]+\.mjs)'/g;
const PART_IMPORT = /import \* as (\w+) from "([^"]+)"/g;

/**
 * All that a module imports, itself included: of an index that imports everything (icons, Radix) only what is named, and
 * no schemas, which are fetched by the forms alone.
 */
function needed(moduleOf: ModuleOf): (start: string) => Set<string> {
  const indexes = new Map<string, ReadonlyMap<string, string>>();
  const readIndex = (index: string): ReadonlyMap<string, string> => {
    const { code, importedIds = [] } = moduleOf(index) ?? {};
    const files = new Map<string, string>();
    for (const [, names = "", path = ""] of (code ?? "").matchAll(ICON_EXPORT))
      for (const name of names.split(",")) files.set(name.replace("default as", "").trim(), join(dirname(index), path));
    for (const [, name = "", part = ""] of (code ?? "").matchAll(PART_IMPORT))
      files.set(name, importedIds.find((imported) => imported.replaceAll("\\", "/").includes(`/${part}/`)) ?? "");
    return files;
  };
  const imports = (id: string): string[] => {
    const { importedIds = [], code } = moduleOf(id) ?? {};
    const named = [...(code ?? "").matchAll(NAMED_IMPORT)].flatMap(([, names = ""]) =>
      names.split(",").map((name) => name.replace(/\sas\s.*/s, "").trim()),
    );
    return importedIds.flatMap((imported) => {
      if (SCHEMAS.test(imported)) return [];
      if (!INDEX.test(imported)) return [imported];
      const files = indexes.get(imported) ?? readIndex(imported);
      indexes.set(imported, files);
      return named.flatMap((name) => files.get(name) ?? []);
    });
  };
  return (start) => {
    const found = new Set([start]);
    for (const id of found) for (const imported of imports(id)) found.add(imported);
    return found;
  };
}
