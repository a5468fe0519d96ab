/** Every copy of Weir comes with the licences of what is in it. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pkg from "../../package.json" with { type: "json" };

const ROOT = join(import.meta.dir, "../..");
const NOTICE = readFileSync(join(ROOT, "NOTICE"), "utf8");
const [list = ""] = NOTICE.slice(NOTICE.indexOf("Packages\n")).split("\n\n", 2).slice(1);
const listed = list.split("\n").map((line) => /^(\S+) (\S+) {2}(.+)$/.exec(line)?.slice(1) ?? [line]);

test("`weir licenses` prints NOTICE, whole, and starts nothing", async () => {
  const child = Bun.spawn([process.execPath, join(ROOT, "src/server/main.ts"), "licenses"], {
    env: { PATH: process.env.PATH, WEIR_DATA_DIR: "/nonexistent" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  expect([code, text === NOTICE]).toEqual([0, true]);
});

describe("NOTICE", () => {
  test("lists every dependency and what they bring, in the versions of the lock file, each with its licence", () => {
    expect(listed.length).toBeGreaterThan(100);
    for (const [name, version] of Object.entries(pkg.dependencies))
      expect(listed).toContainEqual([name, version, expect.stringMatching(/\S/)]);
    const lock = readFileSync(join(ROOT, "bun.lock"), "utf8");
    for (const [name, version] of listed) expect(lock).toContain(`["${name}@${version}",`);
  });

  test("has the text that applies to every package", () => {
    const headed = NOTICE.split(`${"=".repeat(80)}\n`).slice(3);
    const texts = new Map<string, string>();
    for (let i = 0; i + 1 < headed.length; i += 2)
      for (const name of headed[i]?.trim().split("\n") ?? []) texts.set(name, headed[i + 1] ?? "");
    for (const [name, version] of listed) {
      const text = texts.get(`${name} ${version}`) ?? "";
      expect([name, text.length > 100]).toEqual([name, true]);
    }
    expect(texts.get(`web-push ${pkg.dependencies["web-push"]}`)).toMatch(/Mozilla Public\s+License/);
    expect(texts.get(`jose ${pkg.dependencies.jose}`)).toMatch(/Permission is hereby granted/);
  });

  test("names where the sources of web-push (MPL-2.0), the fonts (OFL-1.1) and Bun (with LGPL-2.0 parts) are", () => {
    for (const name of ["web-push", "@fontsource-variable/inter", "@fontsource-variable/jetbrains-mono"] as const) {
      const file = `${name.replace(/^@[^/]+\//, "")}-${pkg.dependencies[name]}.tgz`;
      expect(NOTICE).toContain(`https://registry.npmjs.org/${name}/-/${file}`);
    }
    expect(NOTICE).toContain("https://github.com/oven-sh/WebKit");
  });

  test("is in the image, beside Weir's own licence", () => {
    const read = (file: string): string[] => readFileSync(join(ROOT, file), "utf8").split("\n");
    expect(read("Dockerfile")).toContain("COPY LICENSE NOTICE /usr/share/doc/weir/");
    expect(read(".dockerignore")).toEqual(expect.arrayContaining(["!LICENSE", "!NOTICE"]));
  });
});
