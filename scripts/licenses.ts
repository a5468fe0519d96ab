/**
 * What Weir contains of others: each package that may be inside the executable, with version, licence and its text.
 * The list follows from package.json through node_modules, which the lock file determines, and is the same everywhere.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Development packages of which the console contains a part: the API reference, the base styles, logos. */
const BUILT_IN = ["swagger-ui-dist", "tailwindcss", "@lobehub/icons-static-svg"];
const LICENCE_FILE = /^(licen[cs]e|copying|notice|ofl)([.-].*)?$/i;
/** Licences whose terms ask that the source can be found. */
const SOURCE_NAMED = /^(MPL|OFL)/;

interface Manifest {
  name: string;
  version: string;
  license?: string | { type: string };
  author?: string | { name: string };
  dependencies?: Record<string, string>;
}

interface Package {
  name: string;
  version: string;
  licence: string;
  text: string;
}

/** The folder of a package as Node finds it from `folder`. */
function folderOf(name: string, folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    const found = join(at, "node_modules", name);
    if (existsSync(join(found, "package.json"))) return found;
    if (at === dirname(at)) throw new Error(`${name} is not installed: npm start installs`);
  }
}

const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** Packages without a file of their own: the text that their licence id means. */
function usualText(root: string, { name, license, author }: Manifest): string {
  const holder = typeof author === "string" ? author : (author?.name ?? `the authors of ${name}`);
  switch (license) {
    case "MIT":
      return readFileSync(join(root, "scripts/licenses/MIT.txt"), "utf8").replace("{holder}", holder);
    case "Apache-2.0":
      return readFileSync(join(root, "LICENSE"), "utf8");
    case "Unlicense":
      return readFileSync(join(root, "scripts/licenses/Unlicense.txt"), "utf8");
    default:
      throw new Error(`${name}: no licence file, and no usual text for ${JSON.stringify(license)}`);
  }
}

function packagesOf(root: string): Package[] {
  const found = new Map<string, Package>();
  const waiting = [...Object.keys(manifestOf(root).dependencies ?? {}), ...BUILT_IN].map((name) => ({
    name,
    from: root,
  }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const folder = folderOf(next.name, next.from);
    const manifest = manifestOf(folder);
    const { name, version, license } = manifest;
    const key = `${name} ${version}`;
    if (found.has(key)) continue;
    const licence = typeof license === "object" ? license.type : license;
    if (!licence) throw new Error(`${name} names no licence`);
    const files = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && LICENCE_FILE.test(entry.name))
      .map((entry) => entry.name)
      .toSorted();
    const texts = files.map((file) => readFileSync(join(folder, file), "utf8"));
    found.set(key, { name, version, licence, text: texts.join("\n\n") || usualText(root, manifest) });
    waiting.push(...Object.keys(manifest.dependencies ?? {}).map((inner) => ({ name: inner, from: folder })));
  }
  return [...found.values()].toSorted((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1));
}

/** Lines end without blanks and empty ones are single: texts that differ in nothing else are one. */
const clean = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();

const sourceOf = ({ name, version }: Package): string =>
  `https://registry.npmjs.org/${name}/-/${name.replace(/^@[^/]+\//, "")}-${version}.tgz`;

/** The text of NOTICE, which `weir licenses` prints. */
export function notice(root: string): string {
  const packages = packagesOf(root);
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { packageManager: string };
  const texts = Map.groupBy(packages, ({ text }) => clean(text));
  const rule = "=".repeat(80);
  const named = packages.filter(({ licence }) => SOURCE_NAMED.test(licence));
  return `Weir
Licensed under the Apache License, Version 2.0 (see LICENSE).

Written by \`npm run docs\`; do not edit. \`weir licenses\` prints this file.

Weir contains software of others. Below are the packages that the executable and the console are built from, and the
text of each licence.

The executable contains Bun ${packageManager.replace("bun@", "")} (MIT), which contains JavaScriptCore and parts of WebKit (LGPL-2.0 and
BSD-2-Clause) and further libraries: https://bun.com/docs/project/licensing
Their sources: https://github.com/oven-sh/bun and https://github.com/oven-sh/WebKit

Sources of what is under the Mozilla Public License and the SIL Open Font License, unchanged in Weir:
${named.map((one) => `  ${one.name} ${one.version} (${one.licence}): ${sourceOf(one)}`).join("\n")}

${rule}
Packages
${rule}

${packages.map(({ name, version, licence }) => `${name} ${version}  ${licence}`).join("\n")}
${[...texts]
  .map(
    ([text, of]) =>
      `\n${rule}\n${of.map(({ name, version }) => `${name} ${version}`).join("\n")}\n${rule}\n\n${text}\n`,
  )
  .join("")}`;
}
