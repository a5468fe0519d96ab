import { beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { bundleScripts, scriptsOf } from "../../scripts/console-scripts";
import type { Script } from "../../scripts/plugins/console-facades";

/** Decided in docs/decisions/0056-few-files.md: Brotli bytes of script and files until a page can be shown. */
const MOST = { login: 180_000, page: 260_000, reference: 400_000, files: 20 } as const;

const PAGE = /"(\/[^"]*)": \{\s*page: lazy\(\(\) => import\("\.\/([^"]+)"\)\)/g;
const PAGES = [...readFileSync("src/client/routes.tsx", "utf8").matchAll(PAGE)].map(
  ([, path = "", source = ""]): [path: string, ...sources: string[]] => [path, source],
);
/** Tabs and steps to which links lead, by what is shown of them first. */
const TABS: [path: string, ...sources: string[]][] = [
  ["/setting?tab=personal", "features/setting/setting-page", "features/personal/personal-tab"],
  ["/setting?tab=operation", "features/setting/setting-page", "features/setting/settings"],
  ["/setup (the first channel)", "features/setup/setup-page", "features/setup/channel-step"],
];

let console: Script[];
const brotli = new Map<Script, number>();
beforeAll(async () => {
  console = await bundleScripts({ prod: true });
  for (const chunk of console) brotli.set(chunk, brotliCompressSync(chunk.code).length);
}, 120_000);

const sizeOf = (scripts: readonly Script[]): number =>
  scripts.reduce((sum, chunk) => sum + (brotli.get(chunk) ?? 0), 0);

test.each([...PAGES, ...TABS])("%s loads no more script than decided, in no more files", (path, ...sources) => {
  const scripts = scriptsOf(console, ...sources);
  expect(scripts.length).toBeLessThanOrEqual(MOST.files);
  expect(sizeOf(scripts)).toBeLessThanOrEqual(path === "/login" ? MOST.login : MOST.page);
});

test("no file only names what another one exports, and no lazy import asks for one that is gone", () => {
  const names = new Set(console.map(({ fileName }) => basename(fileName)));
  expect(console.filter(({ code }) => /^(?:export\{[^}]*\}from|import)"[^"]+";?\s*$/.test(code))).toEqual([]);
  const asked = console.flatMap(({ code }) =>
    [...code.matchAll(/import\(([`"'])\.\/([^`"']+)\1\)/g)].map(([, , name]) => name),
  );
  expect(asked.length).toBeGreaterThan(100);
  expect(asked.filter((name = "") => !names.has(name))).toEqual([]);
});

test("/docs loads no more script than decided", () => {
  const page = readFileSync("src/client/docs/index.html", "utf8");
  const names = [...page.matchAll(/<script src="\/docs\/([^"]+)"/g)].map(([, name = ""]) => name);
  const found = names.map((name) =>
    [`src/client/docs/${name}`, `node_modules/swagger-ui-dist/${name}`].find(existsSync),
  );
  const sizes = found.map((path = "") => {
    // It is served at quality 11, which takes eight seconds and leaves a tenth less.
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
    return brotliCompressSync(readFileSync(path), { params }).length;
  });
  expect(sizes).toHaveLength(2);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(MOST.reference);
});

test("the settings show labels without fetching what checks a text", () => {
  const modules = (...sources: string[]) => scriptsOf(console, ...sources).flatMap(({ moduleIds }) => moduleIds);
  const shown = modules("features/setting/setting-page", "features/setting/settings");
  expect(shown.some((id) => id.endsWith("shared/option-facts.ts"))).toBe(true);
  expect(shown.filter((id) => /[\\/]zod[\\/]|options\.ts\?schemas$/.test(id))).toEqual([]);
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
  const fileOf = (chunks: Script[], name: string) => chunks.find((chunk) => chunk.name === name)?.fileName;
  expect(fileOf(changed, "shell")).not.toBe(fileOf(console, "shell"));
  expect(fileOf(changed, "vendor")).toBe(fileOf(console, "vendor"));
  expect(fileOf(changed, "work-vendor")).toBe(fileOf(console, "work-vendor"));
}, 120_000);

test("a page that does not exist is not measured as light", () => {
  expect(() => scriptsOf(console, "features/none")).toThrow("features/none");
});
