/**
 * Single-use codes that several instances share (table `codes`): mail verification, reset, tickets. The target of a
 * code (an address, a state) and the code itself are kept as keyed hashes.
 */
import { and, eq, gt, lt, lte, sql } from "drizzle-orm";
import { type Services, seconds } from "../../contracts/context";
import type { Q } from "../../db/types";
import { run, type Steps } from "../../db/transaction";

/** A code of one purpose is not accepted for another. */
export type CodePurpose = "verify-email" | "reset-password" | "bind-push";

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
      setWhere: lte(codes.created_at, now - pause),
    })
    .returning({ purpose: codes.purpose });
  return kept.length > 0;
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

/** For the timer: removes expired codes of all purposes. */
export async function forgetCodes(services: Services): Promise<void> {
  const { codes } = services.db.t;
  await services.db.bulk
    .delete(codes)
    .where(lte(codes.expires_at, seconds(services)))
    .returning({ purpose: codes.purpose });
}
