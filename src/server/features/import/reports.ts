/** Reports of imports: kept by the run, read in the console. */
import { and, desc, eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import type { ImportReportText, ImportReportView } from "../../../shared/import";
import type { Ctx } from "../../contracts/context";
import { run } from "../../db/transaction";
import { auditRow } from "../audit/record";
import type { Plan } from "./plan";
import { doneText, planText } from "./report";
import type { Done } from "./done";
import type { Needs } from "./target";

const KIND = "import";
const MOST = 100;

/** Of the commands: the system acts. */
const trace = ({ now }: Needs, request_id: string) => ({ actor: { kind: "system" }, ip: "", request_id, now }) as const;

/** A line in the audit log: the whole of the data left, with its secrets. */
export async function recordExport(services: Needs, counts: Readonly<Record<string, number>>): Promise<void> {
  const { audit_log } = services.db.t;
  const act = { action: "data.export", target: "", after: counts } as const;
  await services.db.q
    .insert(audit_log)
    .values(auditRow(trace(services, "weir export"), act))
    .returning({ id: audit_log.id });
}

/** Keeps what was found and what was done, with a line in the audit log. */
export async function keepReport(services: Needs, plan: Plan, done: Done): Promise<void> {
  const { db, now } = services;
  const { reports, audit_log } = db.t;
  const { users, channels, codes, logs } = done;
  const after = { users: users.users, changed: users.changed, tokens: users.tokens, channels, codes, logs: logs.kept };
  const act = { action: "data.import", target: plan.source, after } as const;
  const data = Buffer.from(Bun.gzipSync(JSON.stringify({ plan, done }))).toString("base64");
  const created_at = Math.floor(now() / 1000);
  await db.tx(function* (q) {
    yield* run(q.insert(audit_log).values(auditRow(trace(services, "weir import"), act)));
    yield* run(q.insert(reports).values({ kind: KIND, title: plan.source, created_at, data }));
  });
}

/** The newest first. */
export async function listReports({ db }: Pick<Ctx, "db">): Promise<ImportReportView[]> {
  const { reports } = db.t;
  return db.read
    .select({ id: reports.id, created_at: reports.created_at, source: reports.title })
    .from(reports)
    .where(eq(reports.kind, KIND))
    .orderBy(desc(reports.id))
    .limit(MOST);
}

/** Throws invalid_parameter for a report that is not there. */
export async function readReport({ db, lang }: Pick<Ctx, "db" | "lang">, id: number): Promise<ImportReportText> {
  const { reports } = db.t;
  const [row] = await db.q
    .select({ data: reports.data })
    .from(reports)
    .where(and(eq(reports.kind, KIND), eq(reports.id, id)));
  if (!row) return fail("invalid_parameter", { detail: `id ${id}` });
  const text = new TextDecoder().decode(Bun.gunzipSync(Buffer.from(row.data, "base64")));
  const { plan, done } = JSON.parse(text) as { plan: Plan; done: Done }; // written by keepReport
  return { text: `${planText(plan, lang)}\n\n${doneText(done, lang)}` };
}
