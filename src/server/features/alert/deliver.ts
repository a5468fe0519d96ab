/**
 * The queue of messages. Each target has its own: one message at a time with everything that is due, at most one a
 * minute, each within a time limit, so that a target that hangs keeps no other one waiting. A message is taken before
 * it is sent and settled afterwards; a process that dies in between leaves it to be sent again.
 */
import { and, eq, gte, isNull } from "drizzle-orm";
import { ACCOUNTS, type AlertTarget } from "../../../shared/alert-targets";
import type { Notice } from "../../../shared/notice";
import { inWindow } from "../../../shared/price-rules";
import { ROLE, USER_STATUS } from "../../../shared/roles";
import type { Lang } from "../../../shared/text";
import { type Services, seconds } from "../../contracts/context";
import { isOver } from "../../db/sql";
import { egressFetch } from "../../lib/egress";
import { deliver, isReachable, recipientColumns, recipientOf } from "../notice/deliver";
import { userFetch } from "../option/egress-policy";
import { quotaText } from "../wallet/quota-text";
import { type DueMessage, dueMessages, dueTargets, settleMessages, takeMessages } from "./incidents";
import { type AlertMessage, compose, type MessageFacts } from "./message";
import { targetOf } from "./target-list";
import { mailOf, readAnswer, requestOf, type WireAnswer } from "./wire";

export type Sender = Pick<Services, "db" | "env" | "log" | "options" | "secrets" | "background" | "sendMail" | "now">;

/** Messages of one target are so far apart; what begins in between is told together. */
const APART_SECONDS = 60;
const TIMEOUT_MS = 10_000;
const MAIL_TIMEOUT_MS = 40_000;
const ANSWER_BYTES = 64 * 1024;
/** A message that was taken and not settled is sent again after this. */
const TAKEN_SECONDS = 300;
const MOST_ATTEMPTS = 8;
const FIRST_PAUSE = 30;
const LONGEST_PAUSE = 3600;

export const pauseAfter = (attempts: number): number =>
  Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.max(0, attempts - 1));

/** The console's address without a trailing slash, '' where it is not known. */
const siteOf = ({ options }: Pick<Services, "options">): string => options.get("ServerAddress").replace(/\/+$/, "");

export const messageFacts = (services: Pick<Services, "options">, lang: Lang): MessageFacts => ({
  lang,
  name: services.options.get("SystemName"),
  site: siteOf(services),
  units: (amount) => quotaText(services, amount),
});

export interface AlertQueue {
  /** Begins to send what is due, and returns while it is sent. */
  start(): Promise<void>;
  /** Resolves when nothing is being sent. */
  idle(): Promise<void>;
}

/** `timeoutMs`: for one request to a target. */
export function createAlertQueue(services: Sender, timeoutMs = TIMEOUT_MS): AlertQueue {
  const running = new Map<string, Promise<void>>();
  return {
    async start() {
      for (const target of await dueTargets(services)) {
        if (running.has(target)) continue;
        const work = sendDue(services, target, timeoutMs)
          .catch((err: unknown) => services.log.error({ err, target }, "alerts could not be sent"))
          .finally(() => running.delete(target));
        running.set(target, work);
        services.background.track("sending alerts", work);
      }
    },
    async idle() {
      await Promise.all(running.values());
    },
  };
}

/** Sends what is due for one target, as one message. */
async function sendDue(services: Sender, name: string, timeoutMs: number): Promise<void> {
  const due = await dueMessages(services, name);
  const now = seconds(services);
  const until = quietUntil(services.options.get("AlertQuietHours"), services.now());
  const waits = ({ incident }: DueMessage): boolean => until !== undefined && incident.severity !== "critical";
  const quiet = due.filter(waits);
  if (until !== undefined && quiet.length > 0)
    await settleMessages(services, idsOf(quiet), { next_at: until, error: "" });
  const loud = due.filter((one) => !waits(one));
  if (loud.length === 0 || !(await mayWrite(services, name))) return;
  const taken = await takeMessages(services, idsOf(loud), now + TAKEN_SECONDS);
  const messages = loud.filter(({ delivery }) => taken.has(delivery.id));
  if (messages.length === 0) return;
  const outcome = await send(services, name, messages, timeoutMs);
  if (outcome.ok) {
    await settleMessages(services, idsOf(messages), { next_at: 0, sent_at: seconds(services), error: "" });
    return;
  }
  const { answer, retry_after } = outcome;
  services.log.warn({ target: name, answer, messages: messages.length }, "an alert was not taken");
  const attempt = ({ delivery }: DueMessage): number => (outcome.gone ? MOST_ATTEMPTS : delivery.attempts + 1);
  for (const [attempts, some] of Map.groupBy(messages, attempt)) {
    const pause = Math.max(pauseAfter(attempts), retry_after);
    const next_at = attempts >= MOST_ATTEMPTS ? 0 : seconds(services) + pause;
    await settleMessages(services, idsOf(some), { next_at, error: answer });
  }
}

const idsOf = (due: readonly DueMessage[]): number[] => due.map(({ delivery }) => delivery.id);

/** Takes the right to write to a target now: once in APART_SECONDS among all instances. */
async function mayWrite({ db, now }: Sender, name: string): Promise<boolean> {
  const { notices } = db.t;
  const second = Math.floor(now() / 1000);
  const taken = await db.q
    .insert(notices)
    .values({ name: `alert:${name}`, sent_at: second })
    .onConflictDoUpdate({
      target: notices.name,
      set: { sent_at: second },
      setWhere: isOver(notices.sent_at, second, APART_SECONDS),
    })
    .returning({ name: notices.name });
  return taken.length > 0;
}

/** When the quiet hours of a moment (epoch milliseconds) are over, in epoch seconds; undefined: it is not quiet. */
export function quietUntil(hours: Parameters<typeof inWindow>[0][], moment: number): number | undefined {
  const quiet = (at: number): boolean => hours.some((window) => inWindow(window, at));
  if (!quiet(moment)) return undefined;
  const minute = Math.floor(moment / 60_000);
  // Windows may follow each other; one that never ends is looked at again after two days.
  for (let later = 1; later < 2 * 1440; later++) if (!quiet((minute + later) * 60_000)) return (minute + later) * 60;
  return (minute + 2 * 1440) * 60;
}

interface Outcome extends WireAnswer {
  /** It will not be taken later either. */
  gone?: boolean;
}

const gone = (answer: string): Outcome => ({ ok: false, gone: true, answer, retry_after: 0 });

async function send(
  services: Sender,
  name: string,
  messages: readonly DueMessage[],
  timeoutMs: number,
): Promise<Outcome> {
  try {
    if (name === ACCOUNTS) return await tellAccounts(services, messages);
    const user = /^user:(\d+)$/.exec(name)?.[1];
    if (user !== undefined) return await tellUsers(services, messages, Number(user));
    const target = targetOf(services, name);
    if (!target) return gone("the target was removed or switched off");
    return await sendTo(services, target, compose(messages, messageFacts(services, target.lang)), timeoutMs);
  } catch (error) {
    return { ok: false, answer: problemOf(error), retry_after: 0 };
  }
}

/** Why a target was not reached, without its address. */
export const problemOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "unknown";
  if (error.name === "TimeoutError") return "no answer in time";
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return String((error as { code?: unknown }).code ?? error.message) + cause;
};

/** Sends one message to a target and reads its answer. Throws network errors and address_forbidden. */
export async function sendTo(
  services: Sender,
  target: AlertTarget,
  message: AlertMessage,
  timeoutMs = TIMEOUT_MS,
): Promise<WireAnswer> {
  if (target.type === "mail") {
    await inTime(services.sendMail({ to: target.to, ...mailOf(message) }), MAIL_TIMEOUT_MS);
    return { ok: true, answer: "", retry_after: 0 };
  }
  const { url, headers, body } = requestOf(target, message, services.now());
  const {
    status,
    text,
    headers: answered,
  } = await egressFetch(url, {
    ...userFetch(services),
    method: "POST",
    headers,
    body,
    timeoutMs,
    maxBytes: ANSWER_BYTES,
    signal: services.background.signal,
  });
  return readAnswer(target.type, status, text, answered.get("retry-after"));
}

async function inTime(work: Promise<void>, ms: number): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new DOMException("late", "TimeoutError")), ms);
  try {
    await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Root accounts, each by the way of their own notices. One that took it is enough. */
const tellAccounts = (services: Sender, messages: readonly DueMessage[]): Promise<Outcome> =>
  tellUsers(services, messages, undefined);

async function tellUsers(services: Sender, messages: readonly DueMessage[], id: number | undefined): Promise<Outcome> {
  const { users } = services.db.t;
  const who = id === undefined ? gte(users.role, ROLE.root) : eq(users.id, id);
  const rows = await services.db.q
    .select(recipientColumns(services.db.t))
    .from(users)
    .where(and(who, eq(users.status, USER_STATUS.active), isNull(users.deleted_at)));
  const reachable = rows.map(recipientOf).filter((recipient) => isReachable(services, recipient));
  if (reachable.length === 0) return gone("no account with a way to be told");
  const site = siteOf(services);
  const told = await Promise.allSettled(
    reachable.map((recipient) => {
      const { title, lines, link } = compose(messages, {
        ...messageFacts(services, recipient.setting.language),
        name: "",
      });
      // Users are told of their own budgets; the pages of incidents and users are not for them.
      const notice: Notice =
        id === undefined
          ? { type: "alert", values: { title, text: lines.join("\n"), link } }
          : { type: "budget", values: { title, text: lines.join("\n"), link: site === "" ? "" : `${site}/topup` } };
      return inTime(deliver(services, recipient, notice), MAIL_TIMEOUT_MS);
    }),
  );
  if (told.some(({ status }) => status === "fulfilled")) return { ok: true, answer: "", retry_after: 0 };
  const [refused] = told.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  return { ok: false, answer: problemOf(refused), retry_after: 0 };
}
