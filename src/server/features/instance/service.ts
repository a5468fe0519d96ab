/** The processes that serve this database, and taking one of them out of service. */
import { desc, eq, sql } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { type Ctx, type Services, seconds as now } from "../../contracts/context";
import { type Drain, drainFor, drainOf, type InstanceView } from "../../../shared/drain";
import { run } from "../../db/transaction";
import { recordAct } from "../audit/record";
import { databaseNow, SILENT_SECONDS } from "../wallet/instances";
import { readRunning } from "./running";

/** Those that live, the youngest first. */
export async function listInstances({ db, cluster }: Ctx): Promise<InstanceView[]> {
  const { instances } = db.t;
  const rows = await db.q
    .select()
    .from(instances)
    .where(sql`${instances.heartbeat_at} >= ${databaseNow(db)} - ${SILENT_SECONDS}`)
    .orderBy(desc(instances.started_at), instances.id);
  return rows.map(({ id, version, started_at, heartbeat_at, draining_since, drain_deadline, running }) => ({
    id,
    version,
    started_at,
    heartbeat_at,
    self: id === cluster.instanceId,
    draining_since,
    drain_deadline,
    running: readRunning(running).running,
  }));
}

/**
 * The instance takes no new calls (503, and /readyz says so), ends those that run as usual or after `seconds` (0 =
 * never), and leaves jobs to others. Throws instance_not_found.
 */
export const drainInstance = (ctx: Ctx, id: string, seconds: number): Promise<InstanceView> =>
  set(ctx, id, "instance.drain", drainFor(now(ctx), seconds));

/** The instance serves again. Throws instance_not_found. */
export const resumeInstance = (ctx: Ctx, id: string): Promise<InstanceView> =>
  set(ctx, id, "instance.resume", { draining_since: 0, drain_deadline: 0 });

async function set(
  ctx: Ctx,
  id: string,
  action: "instance.drain" | "instance.resume",
  drain: { draining_since: number; drain_deadline: number },
): Promise<InstanceView> {
  const { instances } = ctx.db.t;
  await ctx.db.tx(function* (q) {
    const [row] = yield* run(
      q.update(instances).set(drain).where(eq(instances.id, id)).returning({ id: instances.id }),
    );
    if (!row) fail("instance_not_found");
    yield* ctx.cluster.bus.announce(q, "instances", id);
  });
  await recordAct(ctx, { action, target: id, after: drain });
  return (await listInstances(ctx)).find((one) => one.id === id) ?? fail("instance_not_found");
}

/** Calls `changed` with this instance's own drain, whenever it is changed. */
export function watchOwnDrain(
  { db, cluster }: Pick<Services, "db" | "cluster">,
  changed: (drain: Drain | undefined) => void,
): () => void {
  const { instances } = db.t;
  return cluster.bus.subscribe("instances", async (id) => {
    if (id !== cluster.instanceId && id !== "*") return;
    const [row] = await db.q.select().from(instances).where(eq(instances.id, cluster.instanceId));
    changed(row && drainOf(row));
  });
}
