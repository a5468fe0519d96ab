/**
 * One executable with console, migrations and catalogues inside.
 *
 *   bun run build                            for this machine: dist/weir
 *   bun run build --all                      dist/weir-linux-x64 and dist/weir-linux-arm64
 *   bun run build --target=bun-darwin-arm64  any target of `bun build --compile`: dist/weir-darwin-arm64
 *   bun run build --outdir=/somewhere        instead of dist/
 *
 * For another machine Bun fetches that machine's runtime from the npm registry. Do not `strip` the result: the program
 * lies behind the runtime's own sections, and what is left is plain Bun.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import pkg from "../package.json" with { type: "json" };
import { buildClient } from "./build-client";
import { ROOT, runCommand } from "./run-command";

const RELEASE_TARGETS = ["bun-linux-x64", "bun-linux-arm64"];

export interface Executable {
  /** Absolute. */
  path: string;
  bytes: number;
}

/** package.json's version, with the commit where it is not a tagged release: `0.1.0+4baccf1`, `0.1.0+4baccf1.dirty`. */
export async function buildVersion(): Promise<string> {
  const { code, output } = await runCommand(
    ["git", "describe", "--tags", "--always", "--dirty=.dirty", "--exclude=*-*"],
    { timeoutMs: 10_000 },
  );
  const described = output.trim();
  if (code !== 0 || described === "" || described === `v${pkg.version}`) return pkg.version; // no git: a source archive
  const commit = /(?:^|-g)([0-9a-f]{7,40}(?:\.dirty)?)$/.exec(described)?.[1];
  return commit ? `${pkg.version}+${commit}` : pkg.version;
}

/**
 * Builds the console once and one executable a target (`undefined` is this machine). Throws with the compiler's output.
 */
export async function buildExecutables(
  targets: (string | undefined)[],
  outdir = join(ROOT, "dist"),
): Promise<Executable[]> {
  const folder = resolve(outdir);
  await mkdir(folder, { recursive: true });
  const assets = join(folder, "client"); // only the last segment of its path is kept inside the executable
  await buildClient({ outdir: assets });
  const version = await buildVersion();
  const built: Executable[] = [];
  for (const target of targets) {
    const path = join(folder, target ? `weir-${target.replace(/^bun-/, "")}` : "weir");
    await rm(path, { force: true });
    const command = [
      process.execPath,
      "build",
      "--compile",
      "--minify",
      "--bytecode",
      "--format=esm",
      "--sourcemap=none",
      "--no-compile-autoload-bunfig",
      // Both entry points are side by side, so that `new URL("./read-worker.ts", import.meta.url)` is right inside too.
      "--entry-naming=[name].[ext]",
      `--define=WEIR_VERSION=${JSON.stringify(version)}`,
      `--define=process.env.NODE_ENV="production"`,
      "--asset",
      assets,
      ...(target ? [`--target=${target}`] : []),
      "--outfile",
      path,
      join(ROOT, "src/server/main.ts"),
      join(ROOT, "src/server/db/read-worker.ts"),
    ];
    // Bun writes its half-finished executable into the current folder.
    const { code, output } = await runCommand(command, {
      timeoutMs: 5 * 60_000,
      env: { NODE_ENV: undefined },
      cwd: folder,
    });
    if (code !== 0) throw new Error(`building ${relative(ROOT, path)} failed:\n${output}`);
    built.push({ path, bytes: (await stat(path)).size });
  }
  return built;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { all: { type: "boolean" }, target: { type: "string", multiple: true }, outdir: { type: "string" } },
  });
  const started = performance.now();
  const targets = values.all ? RELEASE_TARGETS : (values.target ?? [undefined]);
  for (const { path, bytes } of await buildExecutables(targets, values.outdir)) {
    console.log(`${relative(process.cwd(), path)}  ${(bytes / 1024 / 1024).toFixed(1)} MB`);
  }
  console.log(`weir ${await buildVersion()} built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
}
