/** Who imports whom, as the bundler sees it: type-only imports are gone, so what is left is code that gets loaded. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "../..");

export interface SourceFile {
  /** Relative to the project. */
  path: string;
  text: string;
  /** Files of ours (relative to the project) and package names that the file loads. */
  imports: string[];
}

const scanners = {
  ts: new Bun.Transpiler({ loader: "ts" }),
  tsx: new Bun.Transpiler({ loader: "tsx" }),
};

/** Source files that match a glob, tests left out. */
export function sourceFiles(glob: string): SourceFile[] {
  return [...new Bun.Glob(glob).scanSync({ cwd: ROOT })]
    .filter((path) => !/\.test\.tsx?$|\.d\.ts$/.test(path))
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      const scanner = path.endsWith(".tsx") ? scanners.tsx : scanners.ts;
      const imports = scanner.scanImports(text).map((found) => resolveImport(path, found.path));
      return { path, text, imports: [...new Set(imports)].filter((name) => name !== "") };
    });
}

/** A relative specifier becomes a path of the project; what the transpiler adds itself (JSX runtime) is left out. */
function resolveImport(from: string, specifier: string): string {
  if (/^react\/jsx/.test(specifier)) return "";
  if (!specifier.startsWith(".")) return specifier;
  const base = resolve(ROOT, dirname(from), specifier);
  const found = ["", ".ts", ".tsx", "/index.ts"]
    .map((ending) => base + ending)
    .find((path) => /\.\w+$/.test(path) && existsSync(path));
  return relative(ROOT, found ?? base);
}
