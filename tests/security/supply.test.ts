/** The supply chain of the program (docs/security.md; a poisoned release of 2026-03-24). */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

test("PyPI 1.82.7: every library is pinned and locked with its checksum, and no file holds a key to publish with", async () => {
  const manifest = JSON.parse(read("package.json")) as Record<
    "dependencies" | "devDependencies",
    Record<string, string>
  >;
  const ranged = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  );
  expect(ranged).toEqual([]);
  const lock = read("bun.lock");
  const packages = lock.split("\n").filter((line) => /^ {4}"[^"]+": \["/.test(line));
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter((line) => !/"sha512-[A-Za-z0-9+/=]+"\],?$/.test(line))).toEqual([]);
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }))
    expect(lock).toContain(`"${name}"`);
  const held: string[] = [];
  for (const pattern of [".ci/**", "scripts/**", ".github/**", "*.{json,toml,ts,yml,yaml}", ".npmrc", "Dockerfile"]) {
    for (const path of new Bun.Glob(pattern).scanSync({ cwd: ROOT, dot: true, onlyFiles: true })) {
      if (
        /npm_[A-Za-z0-9]{36}|NPM_TOKEN|_authToken|ghp_[A-Za-z0-9]{36}|github_pat_|PYPI_TOKEN|DOCKER_PASSWORD/.test(
          read(path),
        )
      )
        held.push(path);
    }
  }
  expect(held).toEqual([]);
});

test("every base of the image is pinned by digest: a rebuild takes the bytes that were reviewed", () => {
  const bases = [...read("Dockerfile").matchAll(/^FROM (\S+)/gm)].map(([, base = ""]) => base);
  expect(bases.length).toBeGreaterThan(1);
  expect(bases.filter((base) => !/@sha256:[0-9a-f]{64}$/.test(base))).toEqual([]);
});
