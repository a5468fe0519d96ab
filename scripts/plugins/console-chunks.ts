import { basename, dirname, extname, join } from "node:path";
import type { CodeSplittingOptions } from "rolldown";
import { SCHEMAS } from "./console-schemas";

/** What `work` holds at least: what this share of the working pages needs. */
const COMMON_SHARE = 0.3;
/** What the sign-in page has and at least this share of the others is fetched apart from the form's own. */
const ENTRANCE_SHARE = 0.4;
/** A module of fewer characters is not worth a file of its own: what several pages need is shared with all others. */
const SMALL = 4_000;
/** The same for what one page and windows of others need. */
const TINY = 1_000;
/** The pages that people see first, which should be light: no file of the working pages is theirs. */
const LOGIN = /[\\/]login-page\.tsx$/;
const CATALOGUE = /\.po$/;
const HOME = /[\\/]home-page\.tsx$/;

/** What few pages need lies together by topic, where most that need a part of it need more of it. */
const TOPICS: readonly { name: string; test: RegExp; inWindows?: true }[] = [
  { name: "controls", test: /[\\/]src[\\/]client[\\/]ui[\\/]|[\\/]@radix-ui[\\/]/ },
  {
    name: "prices",
    test: /[\\/]shared[\\/](?:price|pricing|model-prices|charge|built-in-rules|video-tariffs|vendors|factor-rules|image-factors|ruled-price|quota)[\w-]*\.ts(?:\?values)?$|[\\/]features[\\/]pricing[\\/](?:prices|price-unit|price-cells)\.tsx?$/,
  },
  { name: "calls", test: /[\\/]shared[\\/](?:events|failures|log|log-text)\.ts(?:\?values)?$/ },
  // The bell of administrators comes after every page.
  {
    name: "bell",
    test: /[\\/](?:incident[\\/]incident-(?:bell|look)\.tsx|shared[\\/]incidents\.ts(?:\?values)?|components[\\/]health-dot\.tsx|icons[\\/]bell(?:-off)?\.mjs)$/,
    inWindows: true,
  },
  {
    name: "log-rows",
    test: /[\\/]features[\\/]log[\\/](?:log-bill|log-details|row-text)\.tsx?$|[\\/]shared[\\/]row-text\.ts$/,
  },
  {
    name: "account",
    test: /[\\/]personal[\\/](?:binding-row|email-binding|password-dialog|profile-card|security-card)\.tsx$|[\\/]identity[\\/](?:identity-bindings|telegram-widget|wechat-dialog)\.tsx$|[\\/]auth[\\/]send-code-button\.tsx$|[\\/]icons[\\/]mail\.mjs$/,
    inWindows: true,
  },
  // The names of the cards and tabs: too small for a file.
  { name: "work", test: /[\\/]shared[\\/]options\.ts\?values$/ },
  // The tables of a card are fetched by themselves.
  {
    name: "settings",
    test: /[\\/]setting[\\/](?:option-checks|option-field|setting-history|setting-values|use-settings)\.tsx?$/,
    inWindows: true,
  },
];

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
 * - A file for each page: what no other page needs, nor any window of another.
 * - A file for each of `TOPICS`.
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
          chunkOf ??= commonChunks(
            (id) => context.getModuleInfo(id),
            join(client, "main.tsx"),
            join(client, "routes.tsx"),
          );
          return chunkOf.get(id) ?? null;
        },
      },
    ],
  };
}

function commonChunks(moduleOf: ModuleOf, main: string, routes: string): Map<string, string> {
  const needs = needed(moduleOf);
  const pages = (moduleOf(routes)?.dynamicallyImportedIds ?? []).filter((id) => !CATALOGUE.test(id));
  const of = (kind: RegExp): Set<string> =>
    new Set(pages.filter((page) => kind.test(page)).flatMap((page) => [...needs(page)]));
  const [login, home] = [of(LOGIN), of(HOME)];
  const works = pages.filter((page) => !LOGIN.test(page) && !HOME.test(page)).map(needs);
  const users = new Map<string, number>();
  for (const id of works.flatMap((ids) => [...ids])) users.set(id, (users.get(id) ?? 0) + 1);
  const isCommon = (id: string): boolean => (users.get(id) ?? 0) >= COMMON_SHARE * works.length;

  const all = needed(moduleOf, { schemas: true, lazily: true });
  const pagesOf = new Map<string, number>();
  for (const id of pages.flatMap((page) => [...all(page)])) pagesOf.set(id, (pagesOf.get(id) ?? 0) + 1);

  // A small module joins what is common if it brings nothing else along.
  const first = needs(main);
  const common = new Set([...users.keys()].filter(isCommon));
  const isSmall = (id: string): boolean => (moduleOf(id)?.code?.length ?? 0) < (users.get(id) === 1 ? TINY : SMALL);
  const small = [...users.keys()].filter((id) => isSmall(id) && pagesOf.get(id) !== 1);
  for (const id of small.toSorted((a, b) => needs(a).size - needs(b).size))
    if ([...needs(id)].every((other) => other === id || common.has(other) || first.has(other))) common.add(id);

  const chunks = new Map<string, string>();
  for (const [id, count] of users)
    if (login.has(id)) chunks.set(id, count >= ENTRANCE_SHARE * works.length ? "entrance" : "forms");
    else if (common.has(id) && !home.has(id))
      chunks.set(id, PACKAGE.test(id) && !ICON.test(id) ? "work-vendor" : "work");
  // What only one page needs lies with it, whatever its windows share with it; not what windows or schemas of
  // others need.
  for (const page of pages)
    for (const id of needs(page))
      if (pagesOf.get(id) === 1 && users.has(id) && !chunks.has(id)) chunks.set(id, basename(page, extname(page)));
  for (const id of all(main)) {
    const topic = TOPICS.find(({ test, inWindows }) => test.test(id) && (inWindows || users.has(id)));
    if (topic && !chunks.has(id)) chunks.set(id, topic.name);
    else if (ICON.test(id) && home.has(id) && !chunks.has(id)) chunks.set(id, "icons");
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
 * All that a module imports, itself included: of an index that imports everything (icons, Radix) only what is named,
 * no `schemas` unless asked for: only forms fetch them, and what it imports lazily only if asked for.
 */
function needed(moduleOf: ModuleOf, { schemas = false, lazily = false } = {}): (start: string) => Set<string> {
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
    const { importedIds = [], dynamicallyImportedIds = [], code } = moduleOf(id) ?? {};
    const windows = lazily ? dynamicallyImportedIds.filter((imported) => !CATALOGUE.test(imported)) : [];
    const named = [...(code ?? "").matchAll(NAMED_IMPORT)].flatMap(([, names = ""]) =>
      names.split(",").map((name) => name.replace(/\sas\s.*/s, "").trim()),
    );
    return [...importedIds, ...windows].flatMap((imported) => {
      if (!schemas && SCHEMAS.test(imported)) return [];
      if (!INDEX.test(imported)) return [imported];
      const files = indexes.get(imported) ?? readIndex(imported);
      indexes.set(imported, files);
      return named.flatMap((name) => files.get(name) ?? []);
    });
  };
  const known = new Map<string, Set<string>>();
  return (start) => {
    const found = known.get(start) ?? new Set([start]);
    if (!known.has(start)) for (const id of found) for (const imported of imports(id)) found.add(imported);
    known.set(start, found);
    return found;
  };
}
