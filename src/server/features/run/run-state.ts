/** The progress of long work in a row of `meta`, so that every instance can report it. */
import { eq } from "drizzle-orm";
import { type Services, seconds } from "../../contracts/context";
import type { Db } from "../../db/types";

/** Epoch seconds; `finished_at` is 0 while the work runs. */
export interface RunState {
  finished_at: number;
  updated_at: number;
}

export async function saveRunState(db: Db, name: string, state: RunState): Promise<void> {
  const { meta } = db.t;
  const value = JSON.stringify(state);
  await db.q.insert(meta).values({ name, value }).onConflictDoUpdate({ target: meta.name, set: { value } });
}

/**
 * The state as `saveRunState` wrote it; undefined before the first. Work that has not been updated for `silentSeconds`
 * does not run any more: its process has died. Nor does work of a time that has not come: the clock was set back.
 */
export async function readRunState<State extends RunState>(
  services: Pick<Services, "db" | "now">,
  name: string,
  silentSeconds: number,
): Promise<(Omit<State, "updated_at"> & { running: boolean }) | undefined> {
  const { meta } = services.db.t;
  const [row] = await services.db.q.select().from(meta).where(eq(meta.name, name));
  if (!row) return undefined;
  const { updated_at, ...state } = JSON.parse(row.value) as State; // written by saveRunState alone
  return { ...state, running: state.finished_at === 0 && Math.abs(seconds(services) - updated_at) < silentSeconds };
}
