import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const FOLDER = join(ROOT, "node_modules/.cache/weir-plugins");
/** Other versions of the packages, and another configuration, make other texts. */
const COMMON = ["bun.lock", "lingui.config.ts"];
let common: Bun.CryptoHasher | undefined;

const add = (hash: Bun.CryptoHasher, text: string): Bun.CryptoHasher => hash.update(`\0${text.length}\0`).update(text);

/**
 * What `make` makes of a file, from the disk when it was made before: every test file of a run loads the console's
 * modules again, and compiling them takes longer than most tests. For tests only. `by`: path of the plugin, whose
 * text is part of the key.
 */
export async function kept(by: string, path: string, source: string, make: () => Promise<string>): Promise<string> {
  common ??= COMMON.reduce(
    (hash, name) => add(hash, readFileSync(join(ROOT, name), "utf8")),
    new Bun.CryptoHasher("sha256"),
  );
  const hash = [readFileSync(by, "utf8"), path, source].reduce(add, common.copy());
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
