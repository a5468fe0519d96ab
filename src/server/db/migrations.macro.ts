import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

interface JournalEntry {
  when: number;
  tag: string;
  breakpoints: boolean;
}

/** Bun macro: inlines what drizzle-kit wrote as drizzle-orm's MigrationMeta, so that the binary contains it. */
export function migrations(engine: "sqlite" | "postgres") {
  const dir = join(import.meta.dir, "../../../drizzle", engine);
  const journal = JSON.parse(readFileSync(join(dir, "meta/_journal.json"), "utf8")) as { entries: JournalEntry[] };
  return journal.entries.map((entry) => {
    const text = readFileSync(join(dir, `${entry.tag}.sql`), "utf8");
    return {
      tag: entry.tag,
      sql: text.split("--> statement-breakpoint"),
      bps: entry.breakpoints,
      folderMillis: entry.when,
      hash: createHash("sha256").update(text).digest("hex"),
    };
  });
}
