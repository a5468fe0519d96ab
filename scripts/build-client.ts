import { rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import { bundleScripts, fetchedBy, scriptsOf } from "./console-scripts";
import { fontFiles } from "./plugins/font-files";

/** The result of one build; sizes in bytes. */
export interface ClientBuild {
  outdir: string;
  files: { path: string; bytes: number; gzip: number; brotli: number }[];
  /** The scripts that a browser fetches before a page can be shown; `source`: see `scriptsOf` in console-scripts.ts. */
  scriptsOf: (source: string) => ClientBuild["files"];
}

const ROOT = resolve(import.meta.dir, "..");
const CLIENT = join(ROOT, "src/client");
const INCOMPRESSIBLE = /\.(png|woff2|ico|webp)$/;

/**
 * Bundles the console (`src/client/index.html`) into `outdir`: its scripts by Rolldown, which can say what lies in a
 * file together (`plugins/console-chunks.ts`), its styles by Bun; hashed names, catalogues compiled and split per
 * language, and a `.br` and a `.gz` beside each file that gets smaller.
 *
 * The theme is set by a small blocking script (`/assets/theme-<hash>.js`), so that nothing flashes and the content
 * security policy needs no inline script.
 */
export async function buildClient(options: { outdir?: string; prod?: boolean } = {}): Promise<ClientBuild> {
  const { prod = true } = options;
  const outdir = resolve(options.outdir ?? join(ROOT, "dist/client"));
  await rm(outdir, { recursive: true, force: true });

  const define = { "process.env.NODE_ENV": prod ? '"production"' : '"development"' };
  const common = { outdir, target: "browser", minify: prod, publicPath: "/", define, root: ROOT } as const;
  const naming = { chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" };
  const fonts = fontFiles();
  const [scripts, styles, theme, worker] = await Promise.all([
    bundleScripts({ prod }),
    Bun.build({
      ...common,
      entrypoints: [join(CLIENT, "styles/app.css")],
      plugins: [tailwind, fonts.plugin],
      naming: { ...naming, entry: "assets/[name]-[hash].[ext]" },
    }),
    Bun.build({
      ...common,
      entrypoints: [join(CLIENT, "theme-boot.ts")],
      format: "iife",
      naming: { ...naming, entry: "assets/theme-[hash].[ext]" },
    }),
    // At the root and under one name for ever: a browser updates its push worker from the same address.
    Bun.build({
      ...common,
      entrypoints: [join(CLIENT, "push-worker.js")],
      format: "iife",
      naming: { ...naming, entry: "[name].[ext]" },
    }),
  ]);

  const built = (build: Bun.BuildOutput): string => {
    const entry = build.outputs.find((output) => output.kind === "entry-point" || output.path.endsWith(".css"));
    if (!entry) throw new Error("a part of the console was not built");
    return relative(outdir, entry.path);
  };
  const themeScript = built(theme);
  const icon = Buffer.from(await Bun.file(join(CLIENT, "styles/icon.svg")).arrayBuffer());
  const iconPath = `assets/icon-${Bun.hash(icon).toString(36).slice(0, 8)}.svg`;
  await Promise.all(
    [...fonts.files, [iconPath, icon] as const].map(([path, bytes]) => Bun.write(join(outdir, path), bytes)),
  );

  await Promise.all(scripts.map(({ fileName, code }) => Bun.write(join(outdir, fileName), code)));
  const main = scripts.find((chunk) => chunk.isEntry);
  if (!main) throw new Error("the console has no entry");
  // Only the text font is worth preloading: the mono font waits until a page shows data.
  const textFace = [...fonts.files.keys()].find((path) => path.includes("inter-"));
  const head = [
    `<script src="/${themeScript}"></script>`,
    textFace && `<link rel="preload" href="/${textFace}" as="font" type="font/woff2" crossorigin>`,
    ...fetchedBy(scripts, [main]).map(({ fileName }) =>
      fileName === main.fileName
        ? `<script type="module" crossorigin src="/${fileName}"></script>`
        : `<link rel="modulepreload" crossorigin href="/${fileName}">`,
    ),
  ];
  const html = (await Bun.file(join(CLIENT, "index.html")).text())
    .replace("<head>", () => `<head>${head.filter(Boolean).join("")}`)
    .replace('<script type="module" src="./main.tsx"></script>', "")
    .replace("./styles/app.css", `/${built(styles)}`)
    .replace("./styles/icon.svg", `/${iconPath}`);
  await Bun.write(join(outdir, "index.html"), html);

  const paths = [
    "index.html",
    iconPath,
    ...scripts.map(({ fileName }) => fileName),
    ...[styles, theme, worker].flatMap((build) => build.outputs.map((output) => relative(outdir, output.path))),
  ];
  const files = await Promise.all(paths.map((path) => compressed(outdir, path, prod)));
  await apiReference(outdir, prod, basename(themeScript));

  const byPath = new Map(files.map((file) => [file.path, file]));
  const sizesOf = (source: string): ClientBuild["files"] =>
    [themeScript, ...scriptsOf(scripts, source).map(({ fileName }) => fileName)].flatMap(
      (path) => byPath.get(path) ?? [],
    );
  return { outdir, files, scriptsOf: sizesOf };
}

/** Writes `.gz` and `.br` beside a file that gets smaller by them. */
async function compressed(outdir: string, path: string, prod: boolean): Promise<ClientBuild["files"][number]> {
  const target = join(outdir, path);
  const bytes = Buffer.from(await Bun.file(target).arrayBuffer());
  const gzip = gzipSync(bytes, { level: 9 });
  const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: prod ? 11 : 5 } });
  const sizes = { path, bytes: bytes.length, gzip: gzip.length, brotli: brotli.length };
  if (!prod || bytes.length < 256 || INCOMPRESSIBLE.test(path)) return sizes;
  await Promise.all([Bun.write(`${target}.gz`, gzip), Bun.write(`${target}.br`, brotli)]);
  return sizes;
}

/**
 * The documentation at /docs: a quick start, and Swagger UI (swagger-ui-dist) over /api/openapi.json, from this server
 * alone: nothing is loaded from elsewhere and no inline script is needed. Theme and language are the console's.
 */
async function apiReference(outdir: string, prod: boolean, themeScript: string): Promise<void> {
  const from = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
  const copies = ["swagger-ui-bundle.js", "swagger-ui.css"].map((name) => [name, join(from, name)] as const);
  const own = (name: string) => Bun.file(join(ROOT, "src/client", name)).text();
  const page = (await own("docs/index.html")).replace("<head>", `<head><script src="/assets/${themeScript}"></script>`);
  const texts = [
    ["index.html", page],
    ["start.js", await own("docs/start.js")],
    ["docs.css", (await own("styles/tokens.css")) + (await own("docs/docs.css"))],
  ] as const;
  const copied = copies.map(async ([name, path]) => [name, await Bun.file(path).arrayBuffer()] as const);
  for (const [name, content] of [...(await Promise.all(copied)), ...texts]) {
    const bytes = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
    const target = join(outdir, "docs", name);
    await Bun.write(target, bytes);
    if (!prod || bytes.length < 256) continue;
    await Bun.write(`${target}.gz`, gzipSync(bytes, { level: 9 }));
    await Bun.write(`${target}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
}

if (import.meta.main) {
  const started = performance.now();
  const build = await buildClient({ prod: !process.argv.includes("--dev") });
  const kb = (bytes: number) => `${(bytes / 1000).toFixed(1)} kB`;
  for (const file of build.files.toSorted((a, b) => b.brotli - a.brotli).slice(0, 25)) {
    console.log(kb(file.brotli).padStart(10), file.path);
  }
  for (const [path, source] of [
    ["/login", "features/auth/login-page"],
    ["/log", "features/log/log-page"],
    ["/channel", "features/channel/channel-page"],
  ] as const) {
    const scripts = build.scriptsOf(source);
    console.log(`${path}: ${kb(scripts.reduce((sum, file) => sum + file.brotli, 0))} in ${scripts.length} scripts`);
  }
  console.log(`console built into ${relative(ROOT, build.outdir)} in ${Math.round(performance.now() - started)} ms`);
}
