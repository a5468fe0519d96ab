import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import type { OutputChunk } from "rolldown";
import { bundleScripts, scriptsOf } from "../../scripts/console-scripts";

/** Decided in docs/decisions/0056-few-files.md: Brotli bytes of script and files until a page can be shown. */
const BUDGETS: Readonly<Record<string, readonly [bytes: number, files: number]>> = {
  "/": [160_000, 12],
  "/login": [180_000, 11],
  "/pricing": [255_000, 24],
  "/setup": [262_000, 29],
  "/log": [240_000, 24],
  "/playground": [260_000, 24],
  // These read every option by its schema.
  "/setting": [290_000, 32],
  "/setting/pricing": [330_000, 42],
};
const ANY_PAGE = [260_000, 20] as const;

const PAGE = /"(\/[^"]*)": \{\s*page: lazy\(\(\) => import\("\.\/([^"]+)"\)\)/g;
const PAGES = [...readFileSync("src/client/routes.tsx", "utf8").matchAll(PAGE)].map(
  ([, path = "", source = ""]) => [path, source] as const,
);

let console: OutputChunk[];
const brotli = new Map<OutputChunk, number>();
beforeAll(async () => {
  console = await bundleScripts({ prod: true });
  for (const chunk of console) brotli.set(chunk, brotliCompressSync(chunk.code).length);
}, 120_000);

test.each(PAGES)("%s loads no more script than decided, in no more files", (path, source) => {
  const [bytes, files] = BUDGETS[path] ?? ANY_PAGE;
  const scripts = scriptsOf(console, source);
  expect(scripts.length).toBeLessThanOrEqual(files);
  expect(scripts.reduce((sum, chunk) => sum + (brotli.get(chunk) ?? 0), 0)).toBeLessThanOrEqual(bytes);
});

test("after a change of the console's own code browsers keep the packages that they have", async () => {
  const changed = await bundleScripts({
    prod: true,
    plugins: [
      {
        name: "another-brand",
        transform: {
          filter: { id: /shell[\\/]brand\.tsx$/ },
          handler: (code) => `${code}\nexport const another = 1;\nglobalThis.brand = another;`,
        },
      },
    ],
  });
  const fileOf = (chunks: OutputChunk[], name: string) => chunks.find((chunk) => chunk.name === name)?.fileName;
  expect(fileOf(changed, "shell")).not.toBe(fileOf(console, "shell"));
  expect(fileOf(changed, "vendor")).toBe(fileOf(console, "vendor"));
  expect(fileOf(changed, "work-vendor")).toBe(fileOf(console, "work-vendor"));
}, 120_000);

test("a page that does not exist is not measured as light", () => {
  expect(() => scriptsOf(console, "features/none")).toThrow("features/none");
});
