/**
 * Keeps the message catalogues (`locales/*.po`) and the source together.
 *
 *   bun scripts/i18n.ts extract            add new messages, drop those no longer used
 *   bun scripts/i18n.ts apply <tsv...>     fill English texts from lines `zh<TAB>en`
 *   bun scripts/i18n.ts --check            fail on a missing English text and on catalogues that lag behind the source
 */
import { readFile } from "node:fs/promises";
import { getCatalogs } from "@lingui/cli/api";
import { getConfig } from "@lingui/conf";

const config = getConfig({ cwd: process.cwd() });
const [catalog] = await getCatalogs(config);
if (!catalog) throw new Error("lingui.config.ts names no catalogue");

/** Rewrites both catalogues from the source; translations of messages that still exist are kept. */
async function extract(): Promise<number> {
  const written = await catalog?.make({ clean: true, overwrite: false, orderBy: config.orderBy });
  if (!written) throw new Error("messages could not be extracted");
  console.log(`${Object.keys(written["en"] ?? {}).length} messages`);
  return 0;
}

/**
 * Fills the English catalogue; lines whose Chinese text is no message are reported and dropped. A third column is the
 * context of a text that stands for two messages ("渠道" is "Channels" and, with `singular`, "Channel").
 */
async function apply(paths: string[]): Promise<number> {
  const english = await catalog?.read("en");
  if (!english) throw new Error("locales/en.po does not exist yet: run extract first");
  const key = (zh: string, context = "") => `${zh}\t${context}`;
  const byText = new Map(
    Object.entries(english).map(([id, entry]) => [key(entry.message ?? id, entry.context), entry]),
  );
  let filled = 0;
  for (const path of paths) {
    for (const line of (await readFile(path, "utf8")).split("\n")) {
      const [zh, en, context] = line.split("\t");
      if (!zh || !en?.trim()) continue;
      const entry = byText.get(key(zh.replaceAll("\\n", "\n"), context?.trim()));
      if (!entry) console.warn(`${path}: no such message: ${zh}`);
      else if (entry.translation !== en.trim()) {
        entry.translation = en.trim().replaceAll("\\n", "\n");
        filled += 1;
      }
    }
  }
  await catalog?.write("en", english);
  console.log(`${filled} texts filled`);
  return 0;
}

/** Returns the number of faults found. */
async function check(): Promise<number> {
  const source = (await catalog?.collect()) ?? {};
  const stored = (await catalog?.readAll()) ?? {};
  const faults: string[] = [];
  for (const [locale, entries] of Object.entries(stored)) {
    for (const [id, message] of Object.entries(source)) {
      if (!entries?.[id]) faults.push(`${locale}: not extracted: ${message.message ?? id}`);
    }
    for (const [id, entry] of Object.entries(entries ?? {})) {
      if (!source[id] || entry.obsolete) faults.push(`${locale}: obsolete: ${entry.message ?? id}`);
      else if (locale !== config.sourceLocale && !entry.translation)
        faults.push(`${locale}: missing: ${entry.message ?? id}`);
    }
  }
  for (const fault of faults) console.error(fault);
  console.log(faults.length === 0 ? "catalogues are complete" : `${faults.length} faults in the catalogues`);
  return faults.length;
}

const [command, ...rest] = process.argv.slice(2);
if (command === "extract") process.exitCode = await extract();
else if (command === "apply") process.exitCode = await apply(rest);
else if (command === "--check") process.exitCode = (await check()) > 0 ? 1 : 0;
else {
  console.error("usage: bun scripts/i18n.ts extract | apply <tsv...> | --check");
  process.exitCode = 2;
}
