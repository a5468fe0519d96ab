/** The shadow run: the source's last charged calls, charged again at the prices here. It shows what a table cannot. */
import { canonicalModel } from "../../../shared/channel-types";
import { quotaOf } from "../../../shared/charge";
import { LOG_TYPE } from "../../../shared/log";
import { type PriceTables, priceBook } from "../../../shared/pricing";
import type { Catalogue, Row, Source } from "../../db/foreign/source";
import { keyOf, type ShadowReport } from "./plan";
import { isLeft } from "./records";
import type { CallTable } from "./system";

const CALLS = 1000;
/** Rows that are read at once, and at most, to find them: others are top-ups, errors and calls that cost nothing. */
const ROWS = 5000;
const MOST_ROWS = 100_000;

/** The log from its end. */
async function* backwards(source: Source, { table, key }: CallTable): AsyncGenerator<Row> {
  let before: string | number | undefined;
  for (let read = 0; read < MOST_ROWS; read += ROWS) {
    const rows = await source.lastRows(table, key, before, ROWS);
    yield* rows;
    const first = rows.at(-1);
    if (!first || rows.length < ROWS) return;
    before = keyOf(first, key);
  }
}

/**
 * Counts of tokens are the log's: what it does not tell (audio, images, tools) shows as a difference. The group that
 * served is also taken as the user's.
 */
export async function shadowRun(
  source: Source,
  catalogue: Catalogue,
  use: CallTable | undefined,
  after: PriceTables,
): Promise<ShadowReport> {
  const report: ShadowReport = { calls: 0, old: 0, now: 0, unpriced: 0, models: [] };
  if (!use || !catalogue.has(use.table)) return report;
  const book = priceBook(after);
  const differing = new Set<string>();
  const sums = new Map<string, ShadowReport["models"][number]>();
  const differences: NonNullable<ShadowReport["differences"]> = [];
  for await (const row of backwards(source, use)) {
    if (report.calls === CALLS) break;
    const call = use.read(row);
    if (isLeft(call) || call.type !== LOG_TYPE.consume || call.quota <= 0) continue;
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
    if (now === call.quota) continue;
    differing.add(key);
    differences.push({ id: call.id, model: call.model_name, old: call.quota, now });
  }
  const apart = (one: { old: number; now: number }): number => Math.abs(one.now - one.old);
  const largestFirst = (a: { old: number; now: number }, b: { old: number; now: number }): number =>
    apart(b) - apart(a);
  report.models = [...sums].flatMap(([key, sum]) => (differing.has(key) ? [sum] : [])).toSorted(largestFirst);
  report.differences = differences.toSorted(largestFirst);
  return report;
}
