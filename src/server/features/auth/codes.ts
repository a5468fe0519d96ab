/**
 * Single-use codes that several instances share (table `codes`): mail verification, reset, tickets. The target of a
 * code (an address, a state) and the code itself are kept as keyed hashes. A short code has a budget of guesses; a link
 * has none, because nothing but the link itself leads to it: no stranger's guess or request can end it.
 */
import { and, eq, gt, inArray, lt, lte, sql } from "drizzle-orm";
import { type Services, seconds } from "../../contracts/context";
import { isOver } from "../../db/sql";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";

/** A code of one purpose is not accepted for another. */
export type CodePurpose = "verify-email" | "bind-push" | LinkPurpose;
export type LinkPurpose = "reset-password";

/** Wrong tries after which a code is dead: more than a person makes, far fewer than guessing needs. */
const MAX_ATTEMPTS = 50;

interface Code {
  purpose: CodePurpose;
  target: string;
  code: string;
}

type Keeper = Pick<Services, "db" | "secrets" | "now">;

const targetOf = ({ secrets }: Keeper, { purpose, target }: Omit<Code, "code">) =>
  secrets.hash("code", `target\n${purpose}\n${target}`);
const hashOf = ({ secrets }: Keeper, { purpose, target, code }: Code) =>
  secrets.hash("code", `code\n${purpose}\n${target}\n${code}`);

/**
 * Keeps a code for `lifetime` seconds; an earlier one for the same target dies. False, and nothing changed, when the
 * earlier one is younger than `pause` seconds. `data` comes back with the right code.
 */
export async function issueCode(
  services: Keeper,
  { lifetime, pause = 0, data = "", ...code }: Code & { lifetime: number; pause?: number; data?: string },
): Promise<boolean> {
  const { codes } = services.db.t;
  const now = seconds(services);
  const row = { code_hash: hashOf(services, code), data, attempts: 0, created_at: now, expires_at: now + lifetime };
  const kept = await services.db.q
    .insert(codes)
    .values({ purpose: code.purpose, target: targetOf(services, code), ...row })
    .onConflictDoUpdate({
      target: [codes.purpose, codes.target],
      set: row,
      setWhere: isOver(codes.created_at, now, pause),
    })
    .returning({ purpose: codes.purpose });
  return kept.length > 0;
}

/** Forgets a code that could not be sent, and with it the pause until the next one. */
export async function withdrawCode(services: Keeper, code: Code): Promise<void> {
  const { codes } = services.db.t;
  await services.db.q
    .delete(codes)
    .where(
      and(
        eq(codes.purpose, code.purpose),
        eq(codes.target, targetOf(services, code)),
        eq(codes.code_hash, hashOf(services, code)),
      ),
    )
    .returning({ purpose: codes.purpose });
}

/**
 * Takes a code: its `data` when it is right, undefined when it is not, and then the try is counted. Refuse after the
 * transaction has returned: a throw inside it undoes the count (and gives a right code back, which is wanted where
 * another check failed).
 */
export function* takeCode(services: Keeper, q: Q, code: Code): Steps<string | undefined> {
  const { codes } = services.db.t;
  const which = and(eq(codes.purpose, code.purpose), eq(codes.target, targetOf(services, code)));
  const right = and(
    which,
    eq(codes.code_hash, hashOf(services, code)),
    gt(codes.expires_at, seconds(services)),
    lt(codes.attempts, MAX_ATTEMPTS),
  );
  const [taken] = yield* run(q.delete(codes).where(right).returning({ data: codes.data }));
  if (taken) return taken.data;
  yield* run(
    q
      .update(codes)
      .set({ attempts: sql`${codes.attempts} + 1` })
      .where(which)
      .returning({ purpose: codes.purpose }),
  );
  return undefined;
}

/** A row of this purpose remembers when the last link for a target was made. */
const PAUSE = "link-pause";

interface Link {
  purpose: LinkPurpose;
  /** All links for one target end together. */
  target: string;
  /** Long enough that guessing it is no danger. */
  token: string;
}

/** A link's row is found by its token, and has its target's hash in place of a code. */
const rowOf = (services: Keeper, { purpose, target, token }: Link) => ({
  purpose,
  target: targetOf(services, { purpose, target: `${target}\n${token}` }),
  code_hash: targetOf(services, { purpose, target }),
});

/**
 * Keeps the token of a link for `lifetime` seconds, beside earlier ones. False, and nothing kept, when the last one for
 * the target is younger than `pause` seconds.
 */
export async function issueLink(
  services: Keeper,
  { lifetime, pause, ...link }: Link & { lifetime: number; pause: number },
): Promise<boolean> {
  const { codes } = services.db.t;
  const created_at = seconds(services);
  const row = { ...rowOf(services, link), created_at, expires_at: created_at + lifetime };
  const last = { ...row, purpose: PAUSE, target: row.code_hash };
  return services.db.tx(function* (q) {
    const [kept] = yield* run(
      q
        .insert(codes)
        .values(last)
        .onConflictDoUpdate({
          target: [codes.purpose, codes.target],
          set: last,
          setWhere: isOver(codes.created_at, created_at, pause),
        })
        .returning({ purpose: codes.purpose }),
    );
    if (kept) yield* run(q.insert(codes).values(row).returning({ purpose: codes.purpose }));
    return kept !== undefined;
  });
}

/** Whether a link is good at this moment. Decides nothing: `takeLink` does. */
export async function isLinkGood(services: Keeper, link: Link): Promise<boolean> {
  const { db } = services;
  const rows = await db.q.select({ purpose: db.t.codes.purpose }).from(db.t.codes).where(goodLink(services, link));
  return rows.length > 0;
}

const goodLink = (services: Keeper, link: Link) => {
  const { codes } = services.db.t;
  const { purpose, target, code_hash } = rowOf(services, link);
  return and(
    eq(codes.purpose, purpose),
    eq(codes.target, target),
    eq(codes.code_hash, code_hash),
    gt(codes.expires_at, seconds(services)),
  );
};

/** Takes a link, and all others for its target with it; false when there is none, and then nothing changes. */
export function* takeLink(services: Keeper, q: Q, link: Link): Steps<boolean> {
  const { codes } = services.db.t;
  const { purpose, code_hash } = rowOf(services, link);
  const right = q.select({ code_hash: codes.code_hash }).from(codes).where(goodLink(services, link));
  // One statement: of two at once one gets a row.
  const taken = yield* run(
    q
      .delete(codes)
      .where(and(eq(codes.purpose, purpose), eq(codes.code_hash, code_hash), inArray(codes.code_hash, right)))
      .returning({ purpose: codes.purpose }),
  );
  return taken.length > 0;
}

/** For the timer: removes expired codes of all purposes. */
export async function forgetCodes(services: Services): Promise<void> {
  const { codes } = services.db.t;
  await services.db.bulk
    .delete(codes)
    .where(lte(codes.expires_at, seconds(services)))
    .returning({ purpose: codes.purpose });
}
