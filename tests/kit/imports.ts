/** The import graph: what the bundler loads, and every import, types included. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "../..");

export interface SourceFile {
  /** Relative to the project. */
  path: string;
  text: string;
  /** The project's files (relative paths) and package names that the file loads; type-only imports are left out. */
  imports: string[];
  /** The same including types. */
  names: string[];
}

const scanners = {
  ts: new Bun.Transpiler({ loader: "ts" }),
  tsx: new Bun.Transpiler({ loader: "tsx" }),
};

/** `import … from "x"`, `export … from "x"`, `import "x"`, `import("x")`, as a type or not. */
const SPECIFIER = /(?:\bfrom|^import|\bimport\()\s*"([^"]+)"/gm;

/** Source files that match a glob, without tests. */
export function sourceFiles(glob: string): SourceFile[] {
  return [...new Bun.Glob(glob).scanSync({ cwd: ROOT })]
    .filter((path) => !/\.test\.tsx?$|\.d\.ts$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      const scanner = path.endsWith(".tsx") ? scanners.tsx : scanners.ts;
      const loaded = scanner.scanImports(text).map((found) => found.path);
      const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, "");
      const named = [...code.matchAll(SPECIFIER)].map((match) => match[1] ?? "");
      const all = (specifiers: string[]): string[] =>
        [...new Set(specifiers.map((specifier) => resolveImport(path, specifier)))].filter((name) => name !== "");
      return { path, text, imports: all(loaded), names: all([...loaded, ...named]) };
    });
}

/**
 * Resolves a relative specifier to a path of the project; imports that the transpiler adds (JSX runtime) are left out.
 */
function resolveImport(from: string, specifier: string): string {
  if (/^react\/jsx/.test(specifier)) return "";
  if (!specifier.startsWith(".")) return specifier;
  const base = resolve(ROOT, dirname(from), specifier);
  const found = ["", ".ts", ".tsx", "/index.ts"]
    .map((ending) => base + ending)
    .find((path) => /\.\w+$/.test(path) && existsSync(path));
  return relative(ROOT, found ?? base);
}

/** Import cycles, each as a path that ends where it begins: the shortest through one of its files. */
export function circles(files: readonly SourceFile[]): string[][] {
  const edges = new Map(files.map(({ path, names }) => [path, names.filter((name) => name !== path)]));
  const found: string[][] = [];
  const known = new Set<string>();
  for (const start of edges.keys()) {
    if (known.has(start)) continue;
    const path = wayBack(edges, start);
    if (!path) continue;
    found.push(path);
    for (const name of path) known.add(name);
  }
  return found;
}

/** The shortest path from a file to itself. */
function wayBack(edges: ReadonlyMap<string, readonly string[]>, start: string): string[] | undefined {
  const from = new Map<string, string>();
  const waiting = [start];
  for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
    for (const next of edges.get(at) ?? []) {
      if (next === start) {
        const way = [at, start];
        for (let step = from.get(at); step !== undefined; step = from.get(step)) way.unshift(step);
        return way[0] === start ? way : [start, ...way];
      }
      if (from.has(next) || !edges.has(next)) continue;
      from.set(next, at);
      waiting.push(next);
    }
  }
  return undefined;
}
