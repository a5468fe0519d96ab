/** The end of the process: streams, and sessions with a response in progress, may finish it. */
import type { Engine } from "../call/call";

/**
 * Asks every session and stream to end, and cuts the rest after `graceMs`. Resolves when all have ended and are
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
