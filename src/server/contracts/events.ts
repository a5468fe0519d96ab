/**
 * What happened to channels, money, jobs and nodes, as typed events (shared/events.ts). An event is a row of the log,
 * written in the transaction of what happened; notices, metrics and the console read it from there or hear of it here.
 */
import type { EventLevel, EventName, EventSubject } from "../../shared/events";
import type { TextParams } from "../../shared/text";
import type { Q } from "../db/types";
import type { Steps } from "../db/transaction";
import type { Actor } from "./actor";

/** An event as it is recorded. */
export interface NewEvent {
  event: EventName;
  /** The log's type. `topup`: paid or redeemed; `admin`: an administrator did it; `system`: the gateway did it. */
  type: "topup" | "admin" | "system";
  /** The user who did it; the row is theirs unless `user` names another. */
  actor?: Actor;
  /** The user that it concerns, who sees it in their log. */
  user?: { id: number; username: string };
  /** Units that were added or moved; the event's text knows them as `quota`. */
  quota?: number;
  channel?: { id: number; name: string };
  /** The values of the event's text. */
  params?: TextParams;
  /** What is not in the text; members of `admin_info` are for administrators. */
  other?: Record<string, unknown>;
  ip?: string;
  /** For what several instances may see: the second event with an id is not recorded. It begins with UTC time. */
  request_id?: string;
}

/** An event that happened. */
export interface GatewayEvent {
  readonly name: EventName;
  readonly subject: EventSubject;
  readonly level: EventLevel;
  readonly params: TextParams;
  /** Of its log row. */
  readonly request_id: string;
  /** Epoch seconds. */
  readonly at: number;
  /** 0 = none. */
  readonly channel: number;
  readonly user_id: number;
  /** It happened in this process: of several instances exactly one sees it so. */
  readonly own: boolean;
}

export interface Events {
  /** Writes the row, as a step of the transaction of what happened; listeners are called after its commit. */
  record(q: Q, event: NewEvent): Steps<void>;
  /** Calls the listeners of an event whose row another verb has written, after the commit of this transaction. */
  announce(event: Omit<GatewayEvent, "subject" | "level" | "own">): Steps<void>;
  /**
   * The listener is called for events of every instance, once each, soon after their commit. It returns at once and
   * does not throw. An event may be missed when the database is away: what must not miss one reads the log.
   */
  subscribe(listener: (event: GatewayEvent) => void): () => void;
}
