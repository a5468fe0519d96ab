/**
 * Repair of the stored channels. Routing is derived from the rows and cannot drift from them; a row itself can be wrong
 * (written by another tool, restored from elsewhere, moved from another product): lists with blanks and duplicates,
 * hashes that do not fit the key, values out of range. Those are corrected; faults that only an operator can correct
 * are named.
 */
import { asc, eq } from "drizzle-orm";
import { cleanList, jsonObject } from "../../../shared/channel";
import type { RepairReport } from "../../../shared/channel-operations";
import { baseUrlOf, channelType } from "../../../shared/channel-types";
import { DEFAULT_GROUP } from "../../../shared/group";
import type { Ctx } from "../../contracts/context";
import { run } from "../../db/transaction";
import type { ChannelRow } from "../../db/schema";
import { auditRow } from "../audit/record";
import type { NewEvent } from "../../contracts/events";
import { announceChange } from "./announce";

const JSON_FIELDS = ["model_mapping", "status_code_mapping", "setting"] as const;

/** Checks every channel, corrects what can be corrected, rebuilds the routing of every instance. */
export async function repairChannels(ctx: Ctx): Promise<RepairReport> {
  const { channels, audit_log } = ctx.db.t;
  const rows = await ctx.db.q.select().from(channels).orderBy(asc(channels.id));
  const report: RepairReport = { checked: rows.length, repaired: 0, problems: [] };
  for (const row of rows) {
    const { set, problems } = examine(ctx, row);
    report.problems.push(...problems.map((field) => ({ id: row.id, name: row.name, field })));
    if (Object.keys(set).length === 0) continue;
    await ctx.db.tx(function* (q) {
      yield* run(q.update(channels).set(set).where(eq(channels.id, row.id)).returning({ id: channels.id }));
      yield* announceChange(ctx, q, row.id);
    });
    report.repaired++;
  }
  const { checked, repaired, problems } = report;
  const event: NewEvent = {
    type: "admin",
    actor: ctx.actor,
    ip: ctx.ip,
    event: "channels_repaired",
    params: { checked, repaired, problems: problems.length },
    other: { ...report },
  };
  await ctx.db.tx(function* (q) {
    yield* ctx.events.record(q, event);
    yield* run(
      q.insert(audit_log).values(auditRow(ctx, { action: "channel.repair", target: "", after: { ...report } })),
    );
    yield* announceChange(ctx, q, "*");
  });
  return report;
}

/** The columns of a row that must change, and the faults left to the operator. */
function examine({ secrets }: Pick<Ctx, "secrets">, row: ChannelRow) {
  const set: Partial<ChannelRow> = {};
  const should = <K extends keyof ChannelRow>(column: K, value: ChannelRow[K]): void => {
    if (row[column] !== value) set[column] = value;
  };
  should("models", cleanList(row.models));
  should("group", cleanList(row.group) || DEFAULT_GROUP);
  should("tag", row.tag.trim());
  should("name", row.name.trim());
  if (row.base_url !== "") should("base_url", baseUrlOf(row.type, row.base_url));
  should("auto_ban", row.auto_ban === 0 ? 0 : 1);
  should("weight", Math.max(0, row.weight));
  if (jsonObject(row.other_info) === undefined) should("other_info", "");
  const problems: RepairReport["problems"][number]["field"][] = JSON_FIELDS.filter(
    (field) => jsonObject(row[field]) === undefined,
  );
  if (!channelType(row.type)) problems.push("type");
  try {
    const key = secrets.decrypt("channel-key", row.key_cipher);
    // The search by key uses the hash.
    should("key_hash", key && secrets.hash("channel-key", key));
  } catch {
    problems.push("key");
  }
  return { set, problems };
}
