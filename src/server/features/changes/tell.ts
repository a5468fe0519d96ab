/** What was changed, on its way to the pages of every instance: gathered for a moment, then announced on the bus. */
import type { EventSubject } from "../../../shared/events";
import type { Changes } from "../../contracts/changes";
import type { Services } from "../../contracts/context";

/** Of many changes at once, jobs that move together, say, each noun and owner is announced once. */
const GATHER_MS = 100;
/** More are announced as "*": a message of Postgres has 8000 bytes at most. */
const MOST = 200;

/** The nouns whose figures an event of a subject changes. */
const NOUNS_OF: Readonly<Record<EventSubject, readonly string[]>> = {
  channel: ["channel"],
  money: ["order"],
  job: ["task", "user"],
  node: ["instance"],
};

/** The changes of one announcement: "redemption:7,channel:0", each a noun and its owner, 0 = none. */
export function* readChanges(id: string): Generator<{ noun: string; owner: number }> {
  for (const change of id.split(",")) {
    const [noun = "", owner] = change.split(":");
    yield { noun, owner: Number(owner) };
  }
}

export function createChanges(services: Pick<Services, "db" | "cluster" | "background" | "events">): Changes {
  const { db, cluster, background, events } = services;
  const waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const announce = () => {
    timer = undefined;
    const id = waiting.size > MOST ? "*" : [...waiting].join(",");
    waiting.clear();
    // Nothing is left to tell the pages of a process that stops.
    if (background.signal.aborted) return;
    background.track(
      "telling open pages of a change",
      db.tx((q) => cluster.bus.announce(q, "changes", id)),
    );
  };
  const changes: Changes = {
    tell(noun, owner = 0) {
      waiting.add(`${noun}:${owner}`);
      timer ??= setTimeout(announce, GATHER_MS);
      timer.unref();
    },
  };
  events.subscribe(({ own, subject, user_id }) => {
    if (own) for (const noun of NOUNS_OF[subject]) changes.tell(noun, user_id);
  });
  return changes;
}
