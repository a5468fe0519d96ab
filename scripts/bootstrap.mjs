/**
 * Everything that has to exist before the project can run: the pinned Bun and the packages of bun.lock. Runs on plain
 * Node 20 without packages, because a new machine has nothing else; works under Bun as well.
 *
 * Bun comes from its platform package, which contains the real executable: no install script has to run, so npm 10, 11
 * and 12 (which differ in the scripts they allow) behave alike. Network: only the package registries that npm is
 * configured for.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/[/\\]$/, "");
const LEAST_NODE = 20;
const WINDOWS = process.platform === "win32";
const BUN_FILE = WINDOWS ? "bun.exe" : "bun";

/** A reason to stop that the reader can fix; shown without a stack trace. */
export class Stop extends Error {}

/** Runs `work` and ends the process with its exit code; a `Stop` is printed as plain text. */
export async function runMain(work) {
  try {
    process.exitCode = await work();
  } catch (error) {
    console.error(error instanceof Stop ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

/** @returns {Promise<string>} path of the pinned Bun, with every package of bun.lock installed */
export async function bootstrap() {
  const node = Number(process.versions.node.split(".")[0]);
  if (!process.versions.bun && node < LEAST_NODE) {
    throw new Stop(
      `Node ${process.versions.node} is too old: Weir is started by Node ${LEAST_NODE} or newer (or by Bun).`,
    );
  }
  const bun = ensureBun();
  ensurePackages(bun);
  return bun;
}

/** SHA-256 over names and contents of files and folders (relative to the project). */
export function hashOf(paths, salt = "") {
  const hash = createHash("sha256").update(salt);
  const add = (path) => {
    const entries = existsSync(path) ? readEntries(path) : undefined;
    if (entries) for (const name of entries.sort()) add(join(path, name));
    else if (existsSync(path)) hash.update(relative(ROOT, path)).update("\0").update(readFileSync(path)).update("\0");
  };
  for (const path of paths) add(join(ROOT, path));
  return hash.digest("hex");
}

function readEntries(path) {
  try {
    return readdirSync(path);
  } catch {
    return undefined; // a file
  }
}

/** Whether the stamp file contains `hash`. */
export const isStamped = (file, hash) => existsSync(file) && readFileSync(file, "utf8") === hash;

/**
 * Runs a child process on the same terminal, forwards signals and returns its exit code (128 + n for a signal).
 *
 * The child leads its own process group, so that Ctrl-C in a terminal reaches it once, from here, and not a second time
 * from npm or the terminal: a second signal means "at once".
 */
export function runChild(command, args) {
  return new Promise((resolve, reject) => {
    // Scripts of package.json call `bun`.
    const env = { ...process.env, PATH: `${dirname(command)}${delimiter}${process.env.PATH ?? ""}` };
    const child = spawn(command, args, { cwd: ROOT, stdio: "inherit", env, detached: !WINDOWS });
    let last = 0;
    const pass = (signal) => {
      const now = Date.now();
      const repeated = now - last < 500;
      last = now;
      if (!repeated) child.kill(signal === "SIGHUP" ? "SIGTERM" : signal);
    };
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
    for (const signal of signals) process.on(signal, pass);
    // npm runs scripts in a shell and passes SIGTERM only to that shell, which dies silently: under npm a lost parent
    // means the same.
    const parent = process.ppid;
    const watch =
      process.env.npm_lifecycle_event && !WINDOWS
        ? setInterval(() => process.ppid !== parent && pass("SIGTERM"), 300)
        : undefined;
    const end = () => {
      clearInterval(watch);
      for (const signal of signals) process.removeListener(signal, pass);
    };
    child.on("error", (error) => {
      end();
      reject(error);
    });
    child.on("exit", (code, signal) => {
      end();
      resolve(code ?? (signal === "SIGINT" ? 130 : 143));
    });
  });
}

function pinnedVersion() {
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  return packageManager.replace(/^bun@/, "").replace(/\+.*$/, "");
}

const versionOf = (bun) => spawnSync(bun, ["--version"], { encoding: "utf8", timeout: 20_000 }).stdout?.trim() ?? "";

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function ensureBun() {
  const version = pinnedVersion();
  if (process.versions.bun === version) return process.execPath;
  const folder = join(ROOT, ".bun");
  const own = (name) => join(folder, "node_modules/@oven", name, "bin", BUN_FILE);
  const names = bunPackages();
  const onPath = (process.env.PATH ?? "")
    .split(delimiter)
    .filter(Boolean)
    .map((dir) => join(dir, BUN_FILE));
  for (const candidate of [...names.map(own), ...onPath]) {
    if (isExecutable(candidate) && versionOf(candidate) === version) return candidate;
  }

  mkdirSync(folder, { recursive: true });
  for (const name of names) {
    console.log(`Installing Bun ${version} (@oven/${name}) into .bun/ …`);
    runNpm([
      "install",
      "--ignore-scripts",
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--no-package-lock",
      "--loglevel=error",
      "--prefix",
      folder,
      `@oven/${name}@${version}`,
    ]);
    // A processor without AVX2 that was not detected as such kills the first candidate; the next one is built for it.
    if (versionOf(own(name)) === version) return own(name);
  }
  throw new Stop(`Bun ${version} does not run on this machine (${process.platform} ${process.arch}).`);
}

/** Bun's platform packages (`@oven/…`) that fit this machine, best first. */
export function bunPackages() {
  const system = { linux: "linux", darwin: "darwin", win32: "windows" }[process.platform];
  const cpu = { x64: "x64", arm64: "aarch64" }[process.arch];
  if (!system || !cpu) throw new Stop(`Bun does not exist for ${process.platform} on ${process.arch}.`);
  const libc = system === "linux" && isMusl() ? "-musl" : "";
  const name = `${system}-${cpu}${libc}`;
  if (cpu !== "x64") return [`bun-${name}`];
  const baseline = `bun-${system}-x64${libc}-baseline`;
  return hasAvx2() ? [`bun-${name}`, baseline] : [baseline];
}

const isMusl = () => readEntries("/lib")?.some((name) => name.startsWith("ld-musl-")) && !existsGlibc();
const existsGlibc = () =>
  ["/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib"].some((dir) =>
    readEntries(dir)?.some((name) => name.startsWith("ld-linux-")),
  );

function hasAvx2() {
  if (process.platform !== "linux") return process.platform === "darwin";
  return !existsSync("/proc/cpuinfo") || /\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
}

/** The npm that started this process, else the one on PATH. */
function npmCommand() {
  const path = process.env.npm_execpath;
  return path && /npm-cli\.(c|m)?js$/.test(path) && !process.versions.bun
    ? [process.execPath, [path]]
    : [WINDOWS ? "npm.cmd" : "npm", []];
}

function runNpm(args) {
  const [command, before] = npmCommand();
  const run = spawnSync(command, [...before, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    shell: WINDOWS,
  });
  if (run.status !== 0) throw new Stop(NO_REGISTRY);
}

const NO_REGISTRY =
  "Packages could not be installed; the reason stands above. This step needs the npm registry: check the connection, and\n" +
  "registry and proxy in your npm configuration. Nothing else is downloaded. Then run the same command again.";

function ensurePackages(bun) {
  const stamp = join(ROOT, "node_modules/.weir-installed");
  const hash = hashOf(["bun.lock", "package.json"], pinnedVersion());
  if (isStamped(stamp, hash)) return;
  console.log("Installing packages …");
  const args = ["install", "--frozen-lockfile"];
  const { env, cafile } = registryOfNpm();
  if (cafile) args.push(`--cafile=${cafile}`);
  const run = spawnSync(bun, args, { cwd: ROOT, encoding: "utf8", env });
  if (run.status !== 0) {
    console.error(`${run.stdout ?? ""}${run.stderr ?? ""}`.trim());
    throw new Stop(NO_REGISTRY);
  }
  writeFileSync(stamp, hash);
}

/**
 * Bun reads the user's and the project's .npmrc, but neither npm's global one nor its other sources. The values that
 * npm would use are passed to Bun, unless Bun has its own configuration for them.
 */
function registryOfNpm() {
  const env = { ...process.env };
  const [command, before] = npmCommand();
  const keys = ["registry", "cafile", "https-proxy", "userconfig"];
  const run = spawnSync(command, [...before, "config", "get", ...keys], {
    cwd: ROOT,
    encoding: "utf8",
    shell: WINDOWS,
  });
  const lines = (run.status === 0 ? run.stdout : "").split(/\r?\n/);
  const npm = Object.fromEntries(
    keys.map((key) => {
      const value =
        lines
          .find((line) => line.startsWith(`${key}=`))
          ?.slice(key.length + 1)
          .trim() ?? "";
      return [key, /^(null|undefined)?$/.test(value) ? undefined : value];
    }),
  );
  const home = process.env.XDG_CONFIG_HOME || process.env.HOME || process.env.USERPROFILE || "";
  const bunOwn = join(home, ".bunfig.toml");
  const bunHasRegistry = existsSync(bunOwn) && /^\s*(install\.)?registry\s*=/m.test(readFileSync(bunOwn, "utf8"));
  if (npm.registry && !bunHasRegistry) env.BUN_CONFIG_REGISTRY ??= npm.registry;
  if (npm["https-proxy"]) env.HTTPS_PROXY ??= npm["https-proxy"];
  if (npm.userconfig) env.NPM_CONFIG_USERCONFIG ??= npm.userconfig;
  return { env, cafile: npm.cafile };
}
