/**
 * What was changed anywhere, as server-sent events for open pages: each names a noun of the console, whose figures the
 * page then reads again. It comes with the bus that keeps the caches of every instance true, so also for changes by
 * REST, by a command and by the gateway itself. Nothing of the thing itself is told; ordinary users hear of their own.
 */
import { eq } from "drizzle-orm";
import { fail } from "../../../shared/errors";
import { ROLE } from "../../../shared/roles";
import type { Topic } from "../../cluster/types";
import type { Services } from "../../contracts/context";
import { liveResponse } from "../../http/live-stream";
import type { PlainRoute } from "../../http/plain";
import { signedIn } from "../../http/trpc";

/** One for each page that is seen. */
const MOST_LISTENERS = 500;
const MOST_PER_USER = 4;
/** Changes within this time are told together: a batch over a hundred channels is one event. */
const TOGETHER_MS = 200;

/** The noun that a topic's change is told as, and who is told: administrators, everyone, or the owner as well. */
const TOLD: Partial<Record<Topic, { noun: string; to: "admins" | "all" | "owner" }>> = {
  channels: { noun: "channel", to: "admins" },
  options: { noun: "option", to: "all" },
  instances: { noun: "instance", to: "admins" },
  events: { noun: "incident", to: "admins" },
  users: { noun: "user", to: "owner" },
  tokens: { noun: "token", to: "owner" },
};

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
   * `GET /api/changes`: events `{"nouns": ["channel"]}`; the first one names none. 204 for a caller who is not signed
   * in or has too many pages open.
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
  for (const [topic, { noun, to }] of Object.entries(TOLD) as [Topic, NonNullable<(typeof TOLD)[Topic]>][]) {
    const tell = (id: string, owner?: number) => {
      for (const { user_id, role, tell } of listeners)
        // "*": messages may have been missed.
        if (id === "*" || to === "all" || owner === user_id || (role >= ROLE.admin && topic !== "tokens")) tell(noun);
    };
    services.cluster.bus.subscribe(topic, (id) => {
      if (listeners.size === 0) return;
      if (to !== "owner" || id === "*") return tell(id);
      // Not awaited: who made the change does not wait for those who look.
      ownerOf(services, topic, id).then(
        (owner) => tell(id, owner),
        () => tell(id),
      );
    });
  }
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
          const flush = () => {
            timer = undefined;
            // A reader that is behind hears of it later.
            if (!ready()) return void (timer = setTimeout(flush, TOGETHER_MS));
            say({ nouns: [...waiting] });
            waiting.clear();
          };
          const tell = (noun: string) => {
            waiting.add(noun);
            timer ??= setTimeout(flush, TOGETHER_MS);
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
