import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMailServer } from "../../../tests/kit/mail-server";
import { auditCommand } from "../commands/audit";
import { readEnv } from "../env";
import { CannotStart } from "../lib/cannot-start";
import { createLogger } from "../lib/log";
import { openServices } from "./services";

const folder = mkdtempSync(join(tmpdir(), "weir-services-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const why = async (settings: Record<string, string>): Promise<unknown> =>
  openServices(readEnv(settings), createLogger({ level: "silent", format: "json" })).catch((error: unknown) => error);

test("a data folder, a database file and a Postgres that cannot be opened are reported in one line", async () => {
  const file = join(folder, "file");
  writeFileSync(file, "");
  mkdirSync(join(folder, "broken"));
  writeFileSync(join(folder, "broken/weir.db"), "this is no database, whatever it is called");
  for (const [settings, words] of [
    [{ WEIR_DATA_DIR: join(file, "data") }, "the data folder cannot be made"],
    [{ WEIR_DATA_DIR: join(folder, "broken") }, "is damaged"],
    [{ WEIR_DATA_DIR: folder, DATABASE_URL: "postgres://someone:planted@127.0.0.1:1/x" }, "Postgres"],
  ] as const) {
    const error = await why(settings);
    expect(error).toBeInstanceOf(CannotStart);
    expect(String(error)).toContain(words);
    expect(String(error)).not.toContain("planted");
  }
});

test("weir audit does not create an empty database where there is none, and does not report that one as correct", async () => {
  const env = readEnv({ WEIR_DATA_DIR: join(folder, "mistyped") });
  await expect(auditCommand(env)).rejects.toThrow("there is no database");
});

test("a charge in a running process leads to one mail through the SMTP server of the settings", async () => {
  const mail = await startMailServer({ tls: "none" });
  const env = readEnv({ WEIR_DATA_DIR: join(folder, "mails") });
  const { services, close } = await openServices(env, createLogger({ level: "silent", format: "json" }));
  try {
    const { db, options, ledger } = services;
    for (const [key, value] of Object.entries({
      SMTPServer: "127.0.0.1",
      SMTPPort: String(mail.port),
      SMTPFrom: "post@weir.example",
      QuotaRemindThreshold: "1000",
    })) {
      await options.set(key, value);
    }
    const user = { username: "ann", password_hash: "-", email: "ann@example.com", created_at: 1 };
    const [row] = await db.q.insert(db.t.users).values(user).returning();
    if (!row) throw new Error("no user");
    await ledger.credit({ user_id: row.id, amount: 1500, kind: "setup", idempotency_key: "setup" });
    const charge = (request_id: string, quota: number) =>
      ledger.settle({
        request_id,
        user_id: row.id,
        token_id: 0,
        quota,
        log: { request_id, user_id: row.id, created_at: 1 },
      });
    await Promise.all(Array.from({ length: 6 }, (_, i) => charge(`charge-${i}`, 100)));
    const deadline = Date.now() + 15_000;
    while (mail.mails.length === 0 && Date.now() < deadline) await Bun.sleep(20);
    expect(mail.mails).toMatchObject([{ from: "post@weir.example", to: ["ann@example.com"] }]);
    const notices = await db.q.select().from(db.t.notices);
    expect(notices.map((notice) => notice.name)).toEqual([`low-quota:${row.id}`]);
  } finally {
    await close();
    await mail.close();
  }
}, 30_000);
