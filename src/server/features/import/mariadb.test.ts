/** A source on a real MariaDB. Where none is installed the test is skipped, and in a CI it fails. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQL } from "bun";
import { HOOK_MS, openHarness } from "../../../../tests/kit/harness";
import { keyOfToken, newApiHistory, writeFile, writeServer } from "../../../../tests/kit/import-sources";
import { startMariadb } from "../../../../tests/kit/mariadb";
import { required } from "../../../../tests/kit/required";
import { openSource } from "../../db/foreign/open";
import { audit } from "../wallet/audit";
import type { Source } from "../../db/foreign/source";
import type { Plan } from "./plan";
import { runImport } from "./run";
import { survey, type SurveyInput } from "./survey";

/** The plan apart from where it was read. */
const facts = ({ other, ...plan }: Plan) => ({
  ...plan,
  engine: "",
  other: other.toSorted((a, b) => a.table.localeCompare(b.table)),
});

const mariadbd = required("mariadbd");

test.skipIf(!mariadbd)(
  "a source on MariaDB is read like the file (utf8mb3, latin1, zero dates, padded char), and cannot be written",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-import-mariadb-"));
    const [server, house] = [await startMariadb(mariadbd ?? ""), await openHarness("sqlite")];
    try {
      const tables = newApiHistory();
      Object.assign(tables.users?.rows[2] ?? {}, { display_name: "Müller" });
      const client = new SQL(server.url, { max: 1 });
      await writeServer(client, "mysql", tables);
      await client.unsafe("alter table users modify display_name varchar(64) character set latin1");
      // As GORM writes null times in old schemas.
      await client.unsafe("set session sql_mode = ''");
      await client.unsafe("update users set deleted_at = '0000-00-00 00:00:00' where id = 3");
      await client.close();
      const path = join(folder, "one-api.db");
      writeFile(path, tables);
      const address = new URL(server.url);
      const source = await openSource(`reader:a password@tcp(${address.host})/source?charset=utf8mb4`, {});
      const file = await openSource(path, {});
      const ask: SurveyInput = { answers: {}, merge: false, since: -Infinity };
      const planned = async (from: Source) => (await survey(house.services, from, ask)).plan;
      const plan = await planned(source);
      expect(plan.engine).toBe("mysql");
      expect(facts(plan)).toEqual(facts(await planned(file)));
      const answers = Object.fromEntries(plan.decisions.map((one) => [one.id, one.recommended]));
      const found = await survey(house.services, source, { ...ask, answers });
      const done = await runImport(house.services, found, undefined, {
        live: false,
        merge: false,
        logDays: Infinity,
        progress: () => {},
        stopped: () => false,
      });
      expect(done).toMatchObject({ users: { users: 8, tokens: 3 }, records: { orders: 3, drawings: 2, tasks: 2 } });
      await source.close();
      const findings: unknown[] = [];
      for await (const one of audit(house.services.db)) findings.push(one);
      expect(findings).toEqual([]);
      const { q, t } = house.services.db;
      const people = await q
        .select({ username: t.users.username, name: t.users.display_name, gone: t.users.deleted_at })
        .from(t.users);
      expect(people).toContainEqual({ username: "Bob", name: "Müller", gone: null });
      expect(people.find(({ username }) => username === "gone")?.gone).toBe(Date.UTC(2025, 0, 2, 3, 4, 5) / 1000);
      const caller = house.services.tokens.authenticate(`sk-${keyOfToken(1)}`, "127.0.0.1", "en");
      await expect(caller).resolves.toMatchObject({ token_id: 1 });
    } finally {
      await house.close();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
  HOOK_MS * 3,
);
