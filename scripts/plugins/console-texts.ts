import { dirname, resolve } from "node:path";
import { compileMessages } from "./lingui-po";

const LANGUAGES = ["zh", "en"] as const;
export type Language = (typeof LANGUAGES)[number];

/** A part of the console that is fetched by itself. Types come by `import type`, so each of these is a call. */
const LAZY_PART = /\bimport\("(\.[^"]+)"\)/g;
/** A literal that may be the id of a message: Lingui's are six characters of base64. */
const MESSAGE_ID = /"([\w+/-]{6})"/g;
const SCRIPT = /\.tsx?$/;

interface Source {
  code: string;
  /** Literals that look like ids of messages. */
  ids: readonly string[];
  /** The modules of the console that it imports, not counting what it imports lazily. */
  imports: readonly string[];
}

interface Options {
  /** The console's folder. */
  client: string;
  /** Its entry. */
  main: string;
  /** The folder of the catalogues. */
  locales: string;
  /** The TypeScript of a module with its macros expanded. */
  read: (path: string) => Promise<string>;
}

/**
 * Which texts each part of the console needs: the shell has those of `main` and all that it imports, a part that is
 * fetched by itself has those that it adds to the shell's.
 */
export class ConsoleTexts {
  readonly #options: Options;
  readonly #sources = new Map<string, Promise<Source>>();
  readonly #catalogues = new Map<Language, Promise<Record<string, unknown>>>();
  readonly #scanners = { ts: new Bun.Transpiler({ loader: "ts" }), tsx: new Bun.Transpiler({ loader: "tsx" }) };

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * The code of the module `path`. What it imports lazily brings its texts along: `import("./page")`
   * becomes `withTexts({ zh: () => import("./page.zh.po"), en: … }, () => import("./page"))`.
   */
  async script(path: string): Promise<string> {
    const { code } = await this.#source(path);
    const parts = [...code.matchAll(LAZY_PART)].map(([, part = ""]) => part);
    const withTexts = new Set<string>();
    for (const part of parts) if (await this.#hasTexts(path, part)) withTexts.add(part);
    if (withTexts.size === 0) return code;
    const i18n = JSON.stringify(resolve(this.#options.client, "lib/i18n"));
    const lazy = code.replace(LAZY_PART, (call, part: string) => {
      if (!withTexts.has(part)) return call;
      const catalogues = LANGUAGES.map((language) => `${language}: () => import("${part}.${language}.po")`);
      return `withTexts({ ${catalogues.join(", ")} }, () => ${call})`;
    });
    return `import { withTexts } from ${i18n};${lazy}`;
  }

  /** The module of the shell's texts, or of those that `part` (a path without ending) adds: it exports `messages`. */
  async catalogue(language: Language, part?: string): Promise<string> {
    const all = await this.#catalogue(language);
    const ids =
      part === undefined ? await this.#idsOf(this.#options.main) : await this.#added(Bun.resolveSync(part, "/"));
    const messages = Object.fromEntries([...ids].toSorted().map((id) => [id, all[id]]));
    return `export const messages = ${JSON.stringify(messages)};`;
  }

  async #hasTexts(importer: string, part: string): Promise<boolean> {
    const path = this.#own(importer, part);
    return path !== null && (await this.#added(path)).size > 0;
  }

  async #added(part: string): Promise<Set<string>> {
    return (await this.#idsOf(part)).difference(await this.#idsOf(this.#options.main));
  }

  /** The ids in `start` and all that it imports. */
  async #idsOf(start: string): Promise<Set<string>> {
    const known = await this.#catalogue("zh");
    const found = new Set([start]);
    const ids = new Set<string>();
    for (const path of found) {
      const source = await this.#source(path);
      for (const id of source.ids) if (id in known) ids.add(id);
      for (const imported of source.imports) found.add(imported);
    }
    return ids;
  }

  #catalogue(language: Language): Promise<Record<string, unknown>> {
    const compiled =
      this.#catalogues.get(language) ?? compileMessages(resolve(this.#options.locales, `${language}.po`));
    this.#catalogues.set(language, compiled);
    return compiled;
  }

  #source(path: string): Promise<Source> {
    const source = this.#sources.get(path) ?? this.#read(path);
    this.#sources.set(path, source);
    return source;
  }

  async #read(path: string): Promise<Source> {
    const code = await this.#options.read(path);
    const scanner = this.#scanners[path.endsWith("x") ? "tsx" : "ts"];
    const statics = scanner.scanImports(code).filter(({ kind }) => kind === "import-statement");
    return {
      code,
      ids: [...code.matchAll(MESSAGE_ID)].map(([, id = ""]) => id),
      imports: statics.flatMap(({ path: name }) => this.#own(path, name) ?? []),
    };
  }

  /** The module of the console that `importer` calls `name`; null for a package, a catalogue, or what it shares. */
  #own(importer: string, name: string): string | null {
    if (!name.startsWith(".")) return null;
    const path = Bun.resolveSync(name, dirname(importer));
    return SCRIPT.test(path) && path.startsWith(this.#options.client) ? path : null;
  }
}
