/** What verbs get: the services of this process and who asks. There is no container; this record is enough. */
import type { ErrorCode } from "../../shared/errors";
import type { Lang } from "../../shared/text";
import type { Cluster } from "../cluster/types";
import type { Db } from "../db/types";
import type { Env } from "../env";
import type { ChannelPool } from "./channel-pool";
import type { Refusals } from "./refusals";
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
  /** Ends of calls that the ledger could not take yet. */
  settles: SettleQueue;
  background: Background;
  sendMail: SendMail;
  notices: Notices;
  refusals: Refusals;
  /** Epoch milliseconds; tests give their own. */
  now(): number;
}

export type Actor =
  /** `problem`: why somebody who presented something is not signed in; said when a call needs him to be. */
  | {
      kind: "guest";
      problem?: ErrorCode;
      /** The database could not say who it is: no door answers (unknownActor). */ unknown?: true;
    }
  | {
      kind: "user";
      id: number;
      username: string;
      role: number;
      group: string;
      /** How he proved it. */
      via: "session" | "access_token";
      session_id: number;
      /** Epoch seconds of his session's last proof: signing in, step-up. 0 with an access token. */
      verified_at: number;
    }
  /** Timers and the command line. */
  | { kind: "system" };

export type UserActor = Extract<Actor, { kind: "user" }>;

export interface Ctx extends Services {
  actor: Actor;
  request_id: string;
  /** The caller's address as far as trusted proxies tell it. */
  ip: string;
  /** What the request says of the page that sent it. */
  request: RequestFacts;
  lang: Lang;
  user_agent: string;
  /** The session cookie as sent, for signing out. */
  session_cookie: string | undefined;
  /** The cookie that ties tickets to this browser, as sent (features/auth/tickets.ts). */
  browser_cookie: string | undefined;
  /** That the bot check was passed before signing in (features/auth/turnstile.ts), as sent. */
  turnstile_cookie: string | undefined;
  /** The request came over https, as far as the server or a trusted proxy tells. */
  secure: boolean;
  /** What may be asked of jobs. */
  taskService: TaskService;
  /** Adds a Set-Cookie line to the answer. */
  setCookie(line: string): void;
}

/** A verb's context once the door has checked that somebody is signed in. */
export type UserCtx = Ctx & { actor: UserActor };

/** Epoch seconds. */
export const seconds = (ctx: Pick<Services, "now">): number => Math.floor(ctx.now() / 1000);
