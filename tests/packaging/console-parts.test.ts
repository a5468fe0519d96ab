import { expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { divided } from "../../scripts/plugins/console-schemas";
import { ConsoleTexts } from "../../scripts/plugins/console-texts";
import { compileMessages } from "../../scripts/plugins/lingui-po";

const LOCALES = resolve(import.meta.dir, "../../locales");
const COMPILING = 60_000;

async function inFolder(files: Readonly<Record<string, string>>, work: (folder: string) => Promise<void>) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "weir-parts-")));
  try {
    for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test(
  "a part brings the texts of all that it imports and the shell does not, and each is in both languages",
  async () => {
    const [shell = "", page = "", cell = "", window = ""] = Object.keys(await compileMessages(join(LOCALES, "zh.po")));
    const files = {
      "main.tsx": `import "./shell"; import("./page"); import("./silent");`,
      "shell.ts": `show("${shell}");`,
      "page.tsx": `import "./cell"; import "./shell"; show("${page}"); import("./window");`,
      "cell.tsx": `show("${cell}");`,
      "window.tsx": `show("${window}");`,
      "silent.ts": `import "./shell";`,
    };
    await inFolder(files, async (client) => {
      const main = join(client, "main.tsx");
      const read = (path: string) => Bun.file(path).text();
      const texts = new ConsoleTexts({ client, main, locales: LOCALES, read });
      const idsOf = async (part?: string) =>
        ["zh", "en"].map(async (language) => {
          const module = await texts.catalogue(language as "zh" | "en", part && join(client, part));
          return Object.keys(JSON.parse(module.slice(module.indexOf("{"), -1)));
        });
      const both = (...ids: string[]) => [ids.toSorted(), ids.toSorted()];
      expect(await Promise.all(await idsOf())).toEqual(both(shell));
      expect(await Promise.all(await idsOf("page"))).toEqual(both(page, cell));
      expect(await Promise.all(await idsOf("window"))).toEqual(both(window));

      const script = await texts.script(main);
      expect(script).toContain('withTexts({ zh: () => import("./page.zh.po"), en: () => import("./page.en.po") }');
      expect(script).toContain(' import("./silent");');
    });
  },
  COMPILING,
);

test("of a module's halves only that with the schemas needs what only they use", async () => {
  const files = {
    "page.ts": `import * as z from "zod"; export const SIZE = 20; export const page = z.int().max(SIZE);`,
    "list.ts": `
      import ip from "ipaddr.js";
      import * as z from "zod";
      import { page, SIZE } from "./page";
      export const KINDS = ["a", "b"] as const;
      export type Kind = z.infer<typeof kind>;
      const MOST = 5;
      const isAddress = (text: string) => ip.isValid(text);
      const kind = z.enum(KINDS).refine(isAddress);
      export const input = page.max(MOST);
      export const isKind = (text: string): text is Kind => KINDS.some((name) => name === text) && MOST > SIZE;
      export const read = (value: unknown) => kind.parse(value);`,
  };
  await inFolder(files, async (folder) => {
    const halves = (path: string): ReturnType<typeof divided> => divided(path, halves);
    const { schemas, halfOf } = halves(join(folder, "list.ts"));
    expect([...schemas].toSorted()).toEqual(["input", "read"]);
    const scan = (code: string) => new Bun.Transpiler({ loader: "ts" }).scan(code);
    const [values, forms] = [scan(halfOf("values")), scan(halfOf("schemas"))];
    expect(values.exports.toSorted()).toEqual(["KINDS", "MOST", "isKind"]);
    expect(values.imports.map(({ path }) => path)).toEqual(["./page"]);
    expect(forms.imports.map(({ path }) => path)).toEqual(["ipaddr.js", "zod", "./page", `${folder}/list.ts?values`]);
    expect(halves(join(folder, "page.ts")).schemas).toEqual(new Set(["page"]));
  });
});
