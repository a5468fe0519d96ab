import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const FOLDER = join(ROOT, "node_modules/.cache/weir-plugins");

/**
 * What `make` makes of a file, from the disk when it was made before: every test file of a run loads the console's
 * modules again, and compiling them takes longer than most tests. For tests only. `by`: path of the plugin; another
 * plugin, and other versions of the packages, make another text.
 */
export async function kept(by: string, path: string, source: string, make: () => Promise<string>): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  const around = [readFileSync(join(ROOT, "bun.lock"), "utf8"), readFileSync(by, "utf8")];
  for (const part of [...around, path, source]) hash.update(`\0${part.length}\0`).update(part);
  const file = join(FOLDER, hash.digest("hex"));
  try {
    return readFileSync(file, "utf8");
  } catch {
    const text = await make();
    mkdirSync(FOLDER, { recursive: true });
    // Renamed when whole: another test process may read it at the same time.
    const draft = `${file}.${process.pid}`;
    writeFileSync(draft, text);
    renameSync(draft, file);
    return text;
  }
}
