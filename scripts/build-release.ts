/**
 * The executable of a release, built from its own commit with its own Bun, lock file and build script; upgrades are
 * tested from it.
 *
 *   bun run build:release 0.1.0              a release of scripts/releases.json: dist/releases/weir-0.1.0-…
 *   bun run build:release <tag or commit>    any other commit
 *   bun run build:release 0.1.0 --outdir=/somewhere
 *
 * A finished build is kept, by commit and machine. Needs git with the commit in its history, and the npm registry.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import releases from "./releases.json" with { type: "json" };
import { ROOT, runCommand } from "./run-command";

export const KEPT_RELEASES = join(ROOT, "dist/releases");

/** The commit of a version in releases.json, a tag or a commit; undefined where git or its history does not have it. */
export async function commitOf(name: string): Promise<string | undefined> {
  const listed = releases.find(({ version }) => version === name.replace(/^v/, ""))?.commit;
  const { code, output } = await runCommand(["git", "rev-parse", "--verify", "--quiet", `${listed ?? name}^{commit}`], {
    timeoutMs: 10_000,
  });
  return code === 0 ? output.trim() : undefined;
}

/**
 * Path of the release's executable for this machine, built when it is not there yet. Throws with the output of what
 * failed.
 */
export async function buildRelease(name: string, outdir = KEPT_RELEASES): Promise<string> {
  const commit = await commitOf(name);
  if (!commit)
    throw new Error(`${name} is not in the history of this clone. Fetch it whole: git fetch --unshallow --tags`);
  const folder = resolve(outdir);
  const executable = join(folder, `weir-${name}-${commit.slice(0, 12)}-${process.platform}-${process.arch}`);
  if (existsSync(executable)) return executable;
  await mkdir(folder, { recursive: true });
  const temporary = await mkdtemp(join(tmpdir(), "weir-release-"));
  const tree = join(temporary, "tree");
  try {
    await run(["git", "worktree", "add", "--detach", tree, commit], ROOT);
    // The release's own bootstrap: its Bun, the packages of its lock file, then its build.
    await run([process.execPath, "scripts/install.mjs", "build", `--outdir=${join(temporary, "built")}`], tree);
    // Under a temporary name first: the two folders may be on different disks, and another process may build the same.
    const draft = `${executable}.${process.pid}`;
    await Bun.write(draft, Bun.file(join(temporary, "built/weir")), { mode: 0o755 });
    await rename(draft, executable);
  } finally {
    await runCommand(["git", "worktree", "remove", "--force", tree], { timeoutMs: 30_000 });
    await rm(temporary, { recursive: true, force: true });
  }
  return executable;
}

async function run(command: string[], cwd: string): Promise<void> {
  const { code, output } = await runCommand(command, { timeoutMs: 5 * 60_000, cwd, env: { NODE_ENV: undefined } });
  if (code !== 0) throw new Error(`${command.join(" ")} failed:\n${output}`);
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { outdir: { type: "string" } } });
  const [name] = positionals;
  if (!name || positionals.length > 1) {
    console.error("Usage: bun run build:release <version, tag or commit> [--outdir=folder]");
    process.exit(2);
  }
  const built = await buildRelease(name, values.outdir).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
  console.log(relative(process.cwd(), built));
}
