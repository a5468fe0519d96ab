/**
 * The certified clients that are no dependencies of the project, in a folder of their own: command-line clients from
 * npm, SDKs in a virtual environment of Python. Versions are exact (versions.json); a folder that has them is reused.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runCommand } from "../../scripts/run-command";
import versions from "./versions.json";

const FOLDER = process.env.WEIR_CLIENTS_DIR ?? join(ROOT, ".clients");
const NPM = join(FOLDER, "npm");
const VENV = join(FOLDER, "python");

export type NpmClient = keyof typeof versions.npm;
export type PipClient = keyof typeof versions.pip;
export const VERSIONS: { npm: Record<NpmClient, string>; pip: Record<PipClient, string> } = versions;

/** Where a command-line client's program lies, once installed. */
export const binary = (name: string): string => join(NPM, "node_modules/.bin", name);
export const PYTHON = join(VENV, "bin/python");

/** What a folder was installed from: its versions, and the Node or Python it was made with. */
const stampOf = (folder: string): string => {
  const file = join(folder, "installed.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

const wantedNpm = (names: readonly NpmClient[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, versions.npm[name]]));

/** True when these are installed in the versions of versions.json. */
export const hasNpm = (names: readonly NpmClient[]): boolean => {
  const there = stampOf(NPM).split("\n");
  return names.every((name) => there.includes(`${name}@${versions.npm[name]}`));
};

const pipWanted = Object.entries(versions.pip).map(([name, version]) => `${name}==${version}`);
/** True when the virtual environment has the SDKs. */
export const hasPip = (): boolean => stampOf(VENV) === pipWanted.join("\n") && existsSync(PYTHON);

/** Installs what is missing. Returns why it could not, or undefined. */
export async function installNpm(names: readonly NpmClient[]): Promise<string | undefined> {
  if (hasNpm(names)) return undefined;
  const all = wantedNpm(Object.keys(versions.npm) as NpmClient[]);
  mkdirSync(NPM, { recursive: true });
  writeFileSync(join(NPM, "package.json"), JSON.stringify({ private: true, dependencies: all }, null, 2));
  // Native parts come as optional packages; Claude Code's own script puts its program in place.
  const { code, output } = await runCommand(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], {
    timeoutMs: 600_000,
    cwd: NPM,
  });
  if (code !== 0) return `npm install failed: ${output.trim().slice(-500)}`;
  writeFileSync(
    join(NPM, "installed.txt"),
    Object.entries(all)
      .map(([name, version]) => `${name}@${version}`)
      .join("\n"),
  );
  return undefined;
}

/** The same for the SDKs in Python. */
export async function installPip(): Promise<string | undefined> {
  if (hasPip()) return undefined;
  const python = Bun.which("python3");
  if (!python) return "there is no python3";
  const made = await runCommand([python, "-m", "venv", VENV], { timeoutMs: 120_000 });
  if (made.code !== 0) return `python3 -m venv failed: ${made.output.trim().slice(-300)}`;
  const pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...pipWanted];
  const { code, output } = await runCommand(pip, { timeoutMs: 600_000 });
  if (code !== 0) return `pip install failed: ${output.trim().slice(-300)}`;
  writeFileSync(join(VENV, "installed.txt"), pipWanted.join("\n"));
  return undefined;
}
