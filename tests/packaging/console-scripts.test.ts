import { beforeAll, expect, test } from "bun:test";
import { brotliCompressSync } from "node:zlib";
import type { OutputChunk } from "rolldown";
import { bundleScripts, scriptsOf } from "../../scripts/console-scripts";

/** Decided in docs/decisions/0056-few-files.md: Brotli bytes of script and files until a page can be shown. */
const BUDGETS = [
  ["/login", "features/auth/login-page", 225_000, 10],
  ["/", "features/home/home-page", 195_000, 12],
  ["/log", "features/log/log-page", 315_000, 25],
  ["/channel", "features/channel/channel-page", 335_000, 30],
] as const;

let console: OutputChunk[];
beforeAll(async () => {
  console = await bundleScripts({ prod: true });
}, 120_000);

const brotli = (chunk: OutputChunk): number => brotliCompressSync(chunk.code).length;

test.each(BUDGETS)("%s loads no more script than decided, in no more files", (_path, source, bytes, files) => {
  const scripts = scriptsOf(console, source);
  expect(scripts.length).toBeLessThanOrEqual(files);
  expect(scripts.map(brotli).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(bytes);
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
