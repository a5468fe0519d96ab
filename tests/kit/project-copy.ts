/** Copies of the project for tests that run its own commands, or change its files. */
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pkg from "../../package.json" with { type: "json" };
import { bunPackages, hashOf } from "../../scripts/bootstrap.mjs";
import { ROOT } from "../../scripts/run-command";

/** Copies what git knows or would add into `folder`, as a clone of the present state. */
export function copyProject(folder: string): void {
  const listed = Bun.spawnSync(["git", "ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
  const files = listed.stdout.toString().split("\n");
  for (const file of files.filter((name) => name !== "" && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file));
  }
}

/** Lends a copy our packages, link by link: what the copy installs or stamps stays its own. */
export function linkPackages(folder: string): void {
  const packages = join(folder, "node_modules");
  mkdirSync(packages, { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (!name.startsWith(".weir")) symlinkSync(join(ROOT, "node_modules", name), join(packages, name));
  }
}

/** Makes a copy look bootstrapped: our packages and the Bun that runs this test lie where `npm start` puts them. */
export function bootstrapCopy(folder: string): void {
  linkPackages(folder);
  const version = pkg.packageManager.replace("bun@", "");
  writeFileSync(join(folder, "node_modules/.weir-installed"), hashOf(["bun.lock", "package.json"], version));
  const bin = join(folder, ".bun/node_modules/@oven", bunPackages()[0] ?? "", "bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(process.execPath, join(bin, "bun"));
}

/** A folder for PATH with these programs and no other. */
export function pathOf(folder: string, ...programs: string[]): string {
  mkdirSync(folder, { recursive: true });
  for (const name of programs) {
    const found = Bun.which(name);
    if (!found) throw new Error(`${name} is needed on PATH`);
    symlinkSync(found, join(folder, name));
  }
  return folder;
}
