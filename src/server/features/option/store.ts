/**
 * The option store: typed values in memory, text in the database, secrets encrypted. A bad stored value falls back to
 * its default and is reported once. Changes reach every instance over the bus.
 */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import {
  defaultText,
  isOptionKey,
  missingNeeds,
  option,
  type OptionKey,
  optionKeys,
  type OptionValue,
  parseOption,
} from "../../../shared/options";
import type { Bus } from "../../cluster/types";
import type { Db } from "../../db/types";
import { AfterCommit, run } from "../../db/transaction";
import { withoutNul } from "../../db/sql";
import type { Logger } from "../../lib/log";
import type { Secrets } from "../../lib/secrets";
import type { OptionStore } from "../../contracts/option-store";

export interface OptionStoreDeps {
  db: Db;
  bus: Bus;
  secrets: Secrets;
  log: Logger;
  now(): number;
}

export async function openOptionStore({ db, bus, secrets, log, now }: OptionStoreDeps): Promise<OptionStore> {
  const { t, q } = db;
  const values = new Map<OptionKey, unknown>();
  let texts = new Map<OptionKey, string>();
  const reported = new Set<string>();
  let version = 0;

  const adopt = (key: OptionKey, text: string) => {
    version++;
    const parsed = parseOption(key, text);
    if (parsed.ok) values.set(key, parsed.value);
    else {
      if (!reported.has(key))
        log.warn({ option: key, problem: parsed.problem.en }, "stored option is invalid: its default is used");
      reported.add(key);
      const fallback = parseOption(key, defaultText(key));
      if (fallback.ok) values.set(key, fallback.value);
    }
  };

  // Reads and writes in the order in which they began: a read is not adopted when something newer is known.
  let begun = 0;
  let known = 0;

  const reload = async () => {
    const turn = ++begun;
    const stored = new Map<OptionKey, string>();
    for (const row of await q.select().from(t.options)) {
      if (isOptionKey(row.key))
        stored.set(row.key, option(row.key).secret ? secrets.decrypt("option-secret", row.value) : row.value);
    }
    if (turn < known) return;
    known = turn;
    // The reload of every minute mostly finds nothing new: prices and pools need not be rebuilt.
    const news =
      values.size === 0 || stored.size !== texts.size || [...stored].some(([key, value]) => texts.get(key) !== value);
    if (!news) return;
    texts = stored;
    for (const key of optionKeys) adopt(key, texts.get(key) ?? defaultText(key));
  };

  // Subscribe first, then read: what changes in between is read again.
  bus.subscribe("options", reload, { whole: true });
  await reload();

  const text = (key: OptionKey) => texts.get(key) ?? defaultText(key);

  /** What is kept of a new text. Throws what `set` throws. */
  const checked = ([key, given]: readonly [string, string]) => {
    if (!isOptionKey(key)) return fail("option_unknown", { key });
    const value = withoutNul(given);
    const parsed = parseOption(key, value);
    if (!parsed.ok) fail("option_invalid", { label: key, detail: parsed.problem.zh });
    const missing = missingNeeds(option(key), value, (needed) => text(needed) !== "");
    if (missing.length) fail("option_needs", { needs: missing.join(", ") });
    return { key, value, kept: option(key).secret ? secrets.encrypt("option-secret", value) : value };
  };

  const setAll: OptionStore["setAll"] = async (entries, within) => {
    const changes = entries.map(checked);
    const updated_at = Math.floor(now() / 1000);
    await db.tx(function* (tx) {
      if (within) yield* within(tx);
      for (const { key, kept } of changes) {
        yield* run(
          tx
            .insert(t.options)
            .values({ key, value: kept, updated_at })
            .onConflictDoUpdate({ target: t.options.key, set: { value: kept, updated_at } }),
        );
      }
      yield new AfterCommit(async () => {
        known = ++begun;
        for (const { key, value } of changes) {
          texts.set(key, value);
          adopt(key, value);
        }
      });
      for (const { key } of changes) yield* bus.announce(tx, "options", key);
    });
  };

  return {
    // adopt() stored the value that this key's own parser made.
    get: <K extends OptionKey>(key: K) => values.get(key) as OptionValue<K>,
    text,
    set: (key, given) => setAll([[key, given]]),
    setAll,
    get version() {
      return version;
    },
    reload,
  };
}

/** Removes an option's row: its default holds again. */
export async function forgetOption({ db, bus }: Pick<OptionStoreDeps, "db" | "bus">, key: OptionKey): Promise<void> {
  await db.tx(function* (q) {
    yield* run(q.delete(db.t.options).where(eq(db.t.options.key, key)).returning({ key: db.t.options.key }));
    yield* bus.announce(q, "options", key);
  });
}
