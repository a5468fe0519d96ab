/** The end of the process: answers that run, and sessions whose response runs, may finish it. */
import type { Engine } from "../call/call";

/**
 * Asks every session and stream to go, and cuts what is left after `graceMs`. Resolves when all have ended and are
 * charged.
 */
export async function endSessions(engine: Engine, graceMs: number): Promise<void> {
  engine.draining = true;
  const ended = Promise.all([...engine.sessions].map((session) => session.shutdown(false)));
  const cancel = engine.timers.after(graceMs, () => {
    for (const session of engine.sessions) void session.shutdown(true);
  });
  await ended;
  cancel();
}
