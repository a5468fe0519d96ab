/** Redemption codes: those that can still be redeemed, and used ones as records by choice. */
import { and, eq, ne } from "drizzle-orm";
import { bareCode, REDEMPTION_STATUS } from "../../../shared/redemption";
import { run, type Steps } from "../../db/transaction";
import type { Q } from "../../db/types";
import { sha256 } from "../../lib/secrets";
import type { Source } from "../../db/foreign/source";
import { usedCodeLeft } from "./history";
import { eachOf } from "./plan";
import { isLeft, type SourceCode } from "./records";
import type { Survey } from "./survey";
import { inOpening, type Needs, standIn, type Taken, type Target } from "./target";
import { textOf } from "./values";

interface CodesInput {
  services: Needs;
  source: Source;
  survey: Survey;
  target: Target;
}

/** Rows of one transaction. */
const ROWS = 100;

/** A row of the source, and what is to be done with it here. */
type Work = { id: string; code: SourceCode | undefined };

/**
 * Returns how many codes are new, and how many of these are records of used ones. One that was taken before and can be
 * redeemed no more there, cannot be here: its units are in a balance.
 */
export async function writeCodes(input: CodesInput): Promise<{ codes: number; used: number }> {
  const { services, source, survey, target } = input;
  const use = survey.tables.codes;
  const written = { codes: 0, used: 0 };
  if (!use || !(await source.catalogue()).has(use.table)) return written;
  const owner = await standIn(services);
  let part: Work[] = [];
  const flush = async (): Promise<void> => {
    const works = part;
    part = [];
    if (works.length === 0) return;
    const more = await services.db.tx((q) => writeSome(input, q, works, owner?.id ?? 0), { durable: true, long: true });
    written.codes += more.codes;
    written.used += more.used;
  };
  for await (const { row, record } of eachOf(source, use)) {
    const id = textOf(row, use.key);
    const before = target.taken("code", id);
    const code = isLeft(record) ? undefined : record;
    if (before ? before.hash === hashOf(code) : !code || code.key === "" || usedCodeLeft(code, survey.since)) continue;
    if (part.push({ id, code }) >= ROWS) await flush();
  }
  await flush();
  return written;
}

const hashOf = (code: SourceCode | undefined): string => sha256(JSON.stringify(code ?? null));

function* writeSome(
  { services, target }: CodesInput,
  q: Q,
  works: readonly Work[],
  owner: number,
): Steps<{ codes: number; used: number }> {
  const { db, secrets } = services;
  const { redemptions } = db.t;
  const noted = new Map<string, Taken>();
  const written = { codes: 0, used: 0 };
  for (const { id: source_id, code } of works) {
    const before = target.taken("code", source_id);
    const id = before?.target ?? target.newId("code", source_id);
    const by = target.idOf("user", code?.used?.by ?? "");
    // A record of a use names who used it.
    const used = code?.used !== undefined && by > 0;
    const facts = used
      ? { status: REDEMPTION_STATUS.used, used_user_id: by, redeemed_time: code.used?.at ?? 0 }
      : { status: code && !code.used ? code.status : REDEMPTION_STATUS.disabled };
    const taken = { target: id, hash: hashOf(code), credited: 0, used: 0, calls: 0 };
    let changed: { id: number }[];
    if (before) {
      const worth = code && { name: code.name, quota: code.quota, expired_time: code.expired_time };
      changed = yield* run(
        q
          .update(redemptions)
          .set({ ...worth, ...facts })
          .where(and(eq(redemptions.id, id), ne(redemptions.status, REDEMPTION_STATUS.used)))
          .returning({ id: redemptions.id }),
      );
    } else {
      if (!code || (code.used && !used)) continue;
      const text = bareCode(code.key);
      changed = yield* run(
        q
          .insert(redemptions)
          .values({
            id,
            user_id: target.idOf("user", code.user) || owner,
            name: code.name,
            key_hash: secrets.hash("redemption-key", text),
            key_cipher: secrets.encrypt("redemption-key", text),
            quota: code.quota,
            created_time: code.created_time,
            expired_time: code.expired_time,
            ...facts,
          })
          .onConflictDoNothing()
          .returning({ id: redemptions.id }),
      );
      written.codes += changed.length;
      if (used) written.used += changed.length;
    }
    if (used && changed.length > 0)
      yield* inOpening(services, q, {
        user_id: by,
        amount: code.quota,
        kind: "redeem",
        idempotency_key: `redeem:${id}`,
        opening: `import:${target.source}:code:${source_id}`,
        created_at: facts.redeemed_time ?? 0,
      });
    noted.set(source_id, taken);
  }
  yield* target.noteSteps(q, "code", noted);
  return written;
}
