import { rm } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import tailwind from "bun-plugin-tailwind";
import { fontFiles } from "./plugins/font-files";
import { linguiMacro } from "./plugins/lingui-macro";
import { linguiPo } from "./plugins/lingui-po";

/** The result of one build; sizes in bytes. */
export interface ClientBuild {
  outdir: string;
  /** Everything that index.html loads before the first route: scripts and module preloads, gzip. */
  firstLoadJs: number;
  /** The style sheets of index.html, gzip. */
  firstLoadCss: number;
  files: { path: string; bytes: number; gzip: number }[];
}

const ROOT = resolve(import.meta.dir, "..");
const INCOMPRESSIBLE = /\.(png|woff2|ico|webp)$/;

/**
 * Bundles the console (`src/client/index.html`) into `outdir`: split chunks with hashed names, catalogues compiled and
 * split per language, and a `.br` and a `.gz` beside each file that gets smaller.
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
  const [page, theme, worker] = await Promise.all([
    Bun.build({
      ...common,
      entrypoints: [join(ROOT, "src/client/index.html")],
      splitting: true,
      sourcemap: prod ? "none" : "linked",
      plugins: [tailwind, fonts.plugin, linguiMacro({ prod }), linguiPo()],
      naming: { ...naming, entry: "[name].[ext]" },
    }),
    Bun.build({
      ...common,
      entrypoints: [join(ROOT, "src/client/theme-boot.ts")],
      format: "iife",
      naming: { ...naming, entry: "assets/theme-[hash].[ext]" },
    }),
    // At the root and under one name for ever: a browser updates its push worker from the same address.
    Bun.build({
      ...common,
      entrypoints: [join(ROOT, "src/client/push-worker.js")],
      format: "iife",
      naming: { ...naming, entry: "[name].[ext]" },
    }),
  ]);

  const themeScript = theme.outputs.find((output) => output.kind === "entry-point");
  if (!themeScript) throw new Error("the theme script was not built");
  await Promise.all([...fonts.files].map(([path, bytes]) => Bun.write(join(outdir, path), bytes)));

  // Only the text font is worth preloading: the mono font waits until a page shows data.
  const textFace = [...fonts.files.keys()].find((path) => path.includes("inter-"));
  const htmlPath = join(outdir, "index.html");
  const html = (await Bun.file(htmlPath).text()).replace(
    /<head>/,
    `<head><script src="/assets/${basename(themeScript.path)}"></script>${
      textFace ? `<link rel="preload" href="/${textFace}" as="font" type="font/woff2" crossorigin>` : ""
    }`,
  );
  await Bun.write(htmlPath, html);

  const files: ClientBuild["files"] = [];
  for (const path of [...page.outputs, ...theme.outputs, ...worker.outputs].map((output) => output.path)) {
    const bytes = Buffer.from(await Bun.file(path).arrayBuffer());
    const gzip = gzipSync(bytes, { level: 9 });
    files.push({ path: relative(outdir, path), bytes: bytes.length, gzip: gzip.length });
    if (!prod || bytes.length < 256 || INCOMPRESSIBLE.test(path)) continue;
    const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    await Promise.all([Bun.write(`${path}.gz`, gzip), Bun.write(`${path}.br`, brotli)]);
  }

  await apiReference(outdir, prod, basename(themeScript.path));

  const named = new Set([...html.matchAll(/(?:src|href)="\/([^"]+)"/g)].map((match) => match[1]));
  const sum = (ending: string) =>
    files
      .filter((file) => named.has(file.path) && file.path.endsWith(ending))
      .reduce((total, file) => total + file.gzip, 0);
  return { outdir, files, firstLoadJs: sum(".js"), firstLoadCss: sum(".css") };
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
  const kb = (bytes: number) => `${(bytes / 1024).toFixed(1)} kB`;
  for (const file of build.files.toSorted((a, b) => b.gzip - a.gzip).slice(0, 25)) {
    console.log(kb(file.gzip).padStart(10), file.path);
  }
  console.log(`first load: ${kb(build.firstLoadJs)} JS, ${kb(build.firstLoadCss)} CSS (gzip)`);
  console.log(`console built into ${relative(ROOT, build.outdir)} in ${Math.round(performance.now() - started)} ms`);
}
