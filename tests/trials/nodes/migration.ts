/**
 * A rolling change to the next release and back, where the next release has a migration: it is applied under load by
 * its first node, and this release serves on the newer schema, also when it is started there.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { SCHEMA_RELEASE } from "../../../src/server/db/migrate";
import { copyProject, linkPackages } from "../../kit/project-copy";
import type { Experiment } from "./lab";
import { rollingChange } from "./rolling";

const NEXT = "next";

/** What a release may change while the one before serves: a column of the busiest tables, a table, an index. */
const MIGRATION = [
  `ALTER TABLE users ADD COLUMN next_text text DEFAULT '' NOT NULL`,
  `ALTER TABLE tokens ADD COLUMN next_number bigint DEFAULT 0 NOT NULL`,
  `ALTER TABLE holds ADD COLUMN next_number bigint DEFAULT 0 NOT NULL`,
  `ALTER TABLE logs ADD COLUMN next_text text DEFAULT '' NOT NULL`,
  `CREATE TABLE next_table (id bigint PRIMARY KEY, said text NOT NULL)`,
  `CREATE INDEX next_users_ix ON users (next_text) WHERE next_text <> ''`,
];

/** This project with one release of the schema more, in `folder`. */
function nextRelease(folder: string): readonly string[] {
  copyProject(folder);
  linkPackages(folder);
  const change = (file: string, to: (text: string) => string): void => {
    const [path, before] = [join(folder, file), readFileSync(join(folder, file), "utf8")];
    const after = to(before);
    if (after === before) throw new Error(`${file} is not what this experiment expects`);
    writeFileSync(path, after);
  };
  writeFileSync(join(folder, `drizzle/postgres/${NEXT}.sql`), MIGRATION.join(";--> statement-breakpoint\n"));
  change("drizzle/postgres/meta/_journal.json", (text) => {
    const journal = JSON.parse(text) as { entries: { idx: number; when: number; tag: string }[] };
    const last = journal.entries.at(-1);
    if (last) journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag: NEXT });
    return JSON.stringify(journal);
  });
  change("src/server/db/migrate.ts", (text) =>
    text.replace(`SCHEMA_RELEASE = ${SCHEMA_RELEASE};`, `SCHEMA_RELEASE = ${SCHEMA_RELEASE + 1};`),
  );
  change("package.json", (text) => text.replace(/"version": "[^"]*"/, `"version": "${NEXT}"`));
  return [process.execPath, join(folder, "src/server/main.ts")];
}

export const experiment: Experiment = {
  what: "a rolling change to a next release with a migration and back under load, both on one database",
  run: async (lab) => {
    const folder = mkdtempSync(join(tmpdir(), "weir-next-release-"));
    try {
      const bed = await rollingChange(lab, { name: "the next release", command: nextRelease(folder) });
      const { db } = bed.nodes.weir;
      const [schema] = await db.q.select().from(db.t.meta).where(eq(db.t.meta.name, "schema_release"));
      lab.expect(schema?.value === String(SCHEMA_RELEASE + 1), `the schema's release is ${schema?.value}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
