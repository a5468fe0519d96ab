/** Reports of imports: kept by the run, read in the console. */
import { and, desc, eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import type { ImportReportText, ImportReportView } from "../../../shared/import";
import type { Ctx } from "../../contracts/context";
import { run } from "../../db/transaction";
import type { Plan } from "./plan";
import { doneText, planText } from "./report";
import type { Done } from "./done";
import type { Needs } from "./target";

const KIND = "import";
const MOST = 100;

/** Keeps what was found and what was done. */
export async function keepReport({ db, now }: Needs, plan: Plan, done: Done): Promise<void> {
  const { reports } = db.t;
  const data = Buffer.from(Bun.gzipSync(JSON.stringify({ plan, done }))).toString("base64");
  const created_at = Math.floor(now() / 1000);
  await db.tx(function* (q) {
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
export async function readReport({ db }: Pick<Ctx, "db">, id: number): Promise<ImportReportText> {
  const { reports } = db.t;
  const [row] = await db.q
    .select({ data: reports.data })
    .from(reports)
    .where(and(eq(reports.kind, KIND), eq(reports.id, id)));
  if (!row) return fail("invalid_parameter", { detail: `id ${id}` });
  const text = new TextDecoder().decode(Bun.gunzipSync(Buffer.from(row.data, "base64")));
  const { plan, done } = JSON.parse(text) as { plan: Plan; done: Done }; // written by keepReport
  return { text: `${planText(plan)}\n\n${doneText(done)}` };
}
