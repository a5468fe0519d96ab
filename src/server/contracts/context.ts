/** The context of a verb: the services of this process and the actor. */
import type { Lang } from "../../shared/text";
import type { Cluster } from "../cluster/types";
import type { Db } from "../db/types";
import type { Env } from "../env";
import type { ChannelPool } from "./channel-pool";
import type { Refusals } from "./refusals";
import type { Changes } from "./changes";
import type { Actor, UserActor } from "./actor";
import type { Events } from "./events";
import type { Notices } from "./notices";
import type { OptionStore } from "./option-store";
import type { TokenCache } from "./token-cache";
import type { Ledger } from "./ledger";
import type { SettleQueue } from "./settle-queue";
import type { Background } from "../lib/background";
import type { Logger } from "../lib/log";
import type { SendMail } from "../lib/mail";
import type { Secrets } from "../lib/secrets";
import type { RoutingPreview } from "./dry-run";
import type { RequestFacts } from "./request-facts";
import type { TaskService } from "./task-service";

export interface Services {
  env: Env;
  log: Logger;
  db: Db;
  secrets: Secrets;
  cluster: Cluster;
  options: OptionStore;
  pool: ChannelPool;
  routing: RoutingPreview;
  tokens: TokenCache;
  ledger: Ledger;
  /** Ends of calls that the ledger could not record yet. */
  settles: SettleQueue;
  background: Background;
  sendMail: SendMail;
  events: Events;
  changes: Changes;
  notices: Notices;
  refusals: Refusals;
  /** Epoch milliseconds; tests pass their own clock. */
  now(): number;
}

export interface Ctx extends Services {
  actor: Actor;
  request_id: string;
  /** The caller's address as reported by trusted proxies, else the socket's. */
  ip: string;
  /** What a peer that is no trusted proxy says the caller's address is. No limit that protects an account uses it. */
  claimed_ip?: string | undefined;
  /** A peer that forwards addresses and is not a trusted proxy, when there was one since the start. */
  unbelieved_proxy?: string | undefined;
  /** The request headers' facts about the page that sent it. */
  request: RequestFacts;
  /** The header `Idempotency-Key`, as sent. */
  idempotency_key?: string | undefined;
  lang: Lang;
  user_agent: string;
  /** The session cookie as sent, for signing out. */
  session_cookie: string | undefined;
  /** The cookie that binds tickets to this browser, as sent (features/auth/tickets.ts). */
  browser_cookie: string | undefined;
  /** The cookie of a browser that has signed in before (features/auth/device.ts), as sent. */
  device_cookie: string | undefined;
  /** The cookie that proves a passed bot check before sign-in (features/auth/turnstile.ts), as sent. */
  turnstile_cookie: string | undefined;
  /** The request came over https, as seen by the server or reported by a trusted proxy. */
  secure: boolean;
  /** The task service. */
  taskService: TaskService;
  /** Adds a Set-Cookie header to the response. */
  setCookie(line: string): void;
}

/** What a verb needs that asks nothing of a page: callers of routes and operators' commands have it. */
export type ActorCtx = Services & Pick<Ctx, "actor" | "request_id" | "ip" | "lang">;

/** A verb's context once the procedure has checked that a user is signed in. */
export type UserCtx = Ctx & { actor: UserActor };

/** Epoch seconds. */
export const seconds = (ctx: Pick<Services, "now">): number => Math.floor(ctx.now() / 1000);
