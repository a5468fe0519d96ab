/** The shadow run: the source's last charged calls, charged again at the prices here. It shows what a table cannot. */
import { canonicalModel } from "../../../shared/channel-types";
import { quotaOf } from "../../../shared/charge";
import { LOG_TYPE } from "../../../shared/log";
import { type PriceTables, priceBook } from "../../../shared/pricing";
import type { Catalogue, Source } from "../../db/foreign/source";
import type { ShadowReport } from "./plan";
import { isLeft, type SourceLog } from "./records";
import type { TableUse } from "./system";

const CALLS = 1000;
/** Rows that are read to find them: the others are top-ups, errors and calls that cost nothing. */
const ROWS = 5000;

/**
 * Counts of tokens are the log's: what it does not tell (audio, images, tools) shows as a difference. The group that
 * served is also taken as the user's.
 */
export async function shadowRun(
  source: Source,
  catalogue: Catalogue,
  use: TableUse<SourceLog> | undefined,
  after: PriceTables,
): Promise<ShadowReport> {
  const report: ShadowReport = { calls: 0, old: 0, now: 0, unpriced: 0, models: [] };
  if (!use || !catalogue.has(use.table)) return report;
  const book = priceBook(after);
  const sums = new Map<string, ShadowReport["models"][number]>();
  for (const row of await source.lastRows(use.table, use.key, ROWS)) {
    const call = use.read(row);
    if (isLeft(call) || call.type !== LOG_TYPE.consume || call.quota <= 0 || report.calls >= CALLS) continue;
    report.calls++;
    const group = call.group || "default";
    const price = book.price(canonicalModel(call.model_name), group, group);
    if (price.unpriced) {
      report.unpriced++;
      continue;
    }
    const { cache_read, cache_write, completion_tokens } = call;
    const input = Math.max(0, call.prompt_tokens - cache_read - cache_write);
    const now = quotaOf(price, { input, cache_read, cache_write_5m: cache_write, output: completion_tokens });
    const key = `${call.model_name} ${group}`;
    const sum = sums.get(key) ?? { model: call.model_name, group, calls: 0, old: 0, now: 0 };
    sums.set(key, { ...sum, calls: sum.calls + 1, old: sum.old + call.quota, now: sum.now + now });
    report.old += call.quota;
    report.now += now;
  }
  const apart = (one: { old: number; now: number }): number => Math.abs(one.now - one.old);
  report.models = [...sums.values()].filter((one) => one.old !== one.now).toSorted((a, b) => apart(b) - apart(a));
  return report;
}
