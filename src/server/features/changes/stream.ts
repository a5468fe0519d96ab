/**
 * What was changed anywhere, as server-sent events for open pages: each names a noun of the console, whose figures the
 * page then reads again. It comes with the bus that keeps the caches of every instance true, so also for changes by
 * REST, by a command and by the gateway itself; every mutation tells its noun (http/trpc.ts, tell.ts). Nothing of the
 * thing itself is told; ordinary users hear of their own.
 */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import type { Topic } from "../../cluster/types";
import type { Services } from "../../contracts/context";
import { liveResponse } from "../../http/live-stream";
import type { PlainRoute } from "../../http/plain";
import { signedIn } from "../../http/trpc";
import { readChanges } from "./tell";

/** One for each page that is seen. */
const MOST_LISTENERS = 500;
const MOST_PER_USER = 4;
/** Changes within this time are told together: a batch over a hundred channels is one event. */
const TOGETHER_MS = 200;
/** No page is told more often: each time it reads what it shows. */
const EVERY_MS = 500;

/** What follows from a topic's change, and who is told: administrators, everyone, or the owner as well. */
const TOLD: Partial<Record<Topic, readonly { noun: string; to: "admins" | "all" | "owner" }[]>> = {
  channels: [
    { noun: "channel", to: "admins" },
    { noun: "pricing", to: "all" },
  ],
  options: [{ noun: "option", to: "all" }],
  instances: [{ noun: "instance", to: "admins" }],
  users: [{ noun: "user", to: "owner" }],
  tokens: [{ noun: "token", to: "owner" }],
};
/** Lists that show each user their own alone: administrators are not told of others'. */
const OWN: ReadonlySet<string> = new Set(["token", "auth", "push", "notice"]);

interface Listener {
  user_id: number;
  role: number;
  tell(noun: string): void;
}

type Needs = Pick<Services, "db" | "cluster">;

/** There is nothing to follow, or not now. */
const nothing = (): Response => new Response(null, { status: 204 });

export interface ChangeStream {
  /**
   * `GET /api/changes`: events `{"nouns": ["channel"]}`, "*" for any; the first one names none. 204 for a caller who is
   * not signed in or has too many pages open.
   */
  route: PlainRoute;
  /** Ends every stream and refuses new ones: the process stops. */
  close(): void;
}

/** The owner of what changed; undefined where there is none. */
async function ownerOf({ db }: Needs, topic: Topic, id: string): Promise<number | undefined> {
  if (topic === "users") return Number(id);
  const { tokens } = db.t;
  const [row] = await db.read
    .select({ owner: tokens.user_id })
    .from(tokens)
    .where(eq(tokens.id, Number(id)))
    .limit(1);
  return row?.owner;
}

export function createChangeStream(services: Needs): ChangeStream {
  const listeners = new Set<Listener>();
  const over = new AbortController();
  const tell = (noun: string, owner?: number) => {
    for (const { user_id, role, tell } of listeners)
      if (owner === user_id || (role >= ROLE.admin && !OWN.has(noun))) tell(noun);
  };
  /** Messages may have been missed. */
  const tellAll = (noun: string) => {
    for (const listener of listeners) listener.tell(noun);
  };
  for (const [topic, told] of Object.entries(TOLD) as [Topic, NonNullable<(typeof TOLD)[Topic]>][])
    for (const { noun, to } of told)
      services.cluster.bus.subscribe(topic, (id) => {
        if (listeners.size === 0) return;
        if (to === "all" || id === "*") return tellAll(noun);
        if (to === "admins") return tell(noun);
        // Not awaited: who made the change does not wait for those who look.
        ownerOf(services, topic, id).then(
          (owner) => tell(noun, owner),
          () => tell(noun),
        );
      });
  services.cluster.bus.subscribe("changes", (id) => {
    if (listeners.size === 0) return;
    if (id === "*") return tellAll(id);
    for (const { noun, owner } of readChanges(id)) tell(noun, owner);
  });
  const route: PlainRoute = {
    line: "GET /api/changes",
    answer: async (base, request) => {
      // Browsers report every refusal as an error of the page: who has just signed out, or has many pages, made none.
      if (base.actor.kind === "guest" && !base.actor.unknown) return nothing();
      const ctx = signedIn(base, ROLE.user);
      if (over.signal.aborted) fail("draining");
      const { actor } = ctx;
      const mine = [...listeners].filter(({ user_id }) => user_id === actor.id).length;
      if (listeners.size >= MOST_LISTENERS || mine >= MOST_PER_USER) return nothing();
      let listener: Listener | undefined;
      let timer: ReturnType<typeof setTimeout> | undefined;
      return liveResponse(ctx, {
        request,
        actor,
        over: over.signal,
        began: ({ ready, say }) => {
          const waiting = new Set<string>();
          let told = -EVERY_MS;
          const flush = () => {
            timer = undefined;
            // A reader that is behind hears of it later.
            if (!ready()) return void (timer = setTimeout(flush, TOGETHER_MS));
            told = performance.now();
            say({ nouns: [...waiting] });
            waiting.clear();
          };
          const tell = (noun: string) => {
            waiting.add(noun);
            timer ??= setTimeout(flush, Math.max(TOGETHER_MS, told + EVERY_MS - performance.now()));
          };
          listener = { user_id: actor.id, role: actor.role, tell };
          listeners.add(listener);
          say({ nouns: [] });
        },
        ended: () => {
          clearTimeout(timer);
          if (listener) listeners.delete(listener);
        },
      });
    },
  };
  return { route, close: () => over.abort() };
}
