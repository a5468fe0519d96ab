/** Recipes, followed to the letter on a copy of the project. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, runCommand } from "../../scripts/run-command";
import { copyProject, linkPackages } from "../kit/project-copy";

const folder = mkdtempSync(join(tmpdir(), "weir-recipe-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The blocks of code of a recipe, in order. */
const blocksOf = (recipe: string): string[] =>
  [...readFileSync(join(ROOT, "docs/recipes", recipe), "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(
    (match) => match[1] ?? "",
  );

/** Puts text before the one place that `before` matches. */
function insert(file: string, text: string, before: RegExp): void {
  const parts = readFileSync(join(folder, file), "utf8").split(before);
  expect([file, parts.length]).toEqual([file, 2]);
  const [mark = ""] = before.exec(readFileSync(join(folder, file), "utf8")) ?? [];
  writeFileSync(join(folder, file), parts.join(text + mark));
}

const run = (...args: string[]) =>
  runCommand([process.execPath, ...args], { cwd: folder, timeoutMs: 60_000, env: { WEIR_TEST_POSTGRES_URL: "" } });

test("the provider of the recipe takes its entry, its prices and its fake, and nothing else, to be green", async () => {
  copyProject(folder);
  linkPackages(folder);
  const [entry = "", prices = "", vendor = "", ...more] = blocksOf("provider.md");
  expect(more).toEqual([]);
  insert("src/shared/channel-types.ts", entry, /^\] as const satisfies readonly ChannelType\[\];$/m);
  insert("src/shared/model-prices.ts", prices, /^ {2}openai: \[$/m);
  writeFileSync(join(folder, "tests/conformance/vendors/acme.ts"), vendor);

  const docs = await run("scripts/docs.ts");
  expect(docs).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "docs/generated/channel-types.md"), "utf8")).toContain("Acme AI");
  const { code, output } = await run("test", "tests/conformance", "src/shared", "--timeout", "20000");
  if (code !== 0) console.error(output);
  expect(output).toContain("acme > answers anthropic callers, and its usage is charged");
  expect(output).toContain("acme > its verdict stays beside the answer");
  expect(code).toBe(0);
}, 90_000);
