/** A notice to a user's phones. */
import { eq } from "drizzle-orm";
import type { PushMessage } from "../../../shared/push";
import type { Services } from "../../contracts/context";
import type { PushSubscriptionRow } from "../../db/schema";
import { egressFetch } from "../../lib/egress";
import { userFetch } from "../option/egress-policy";
import { vapidKeys, type VapidKeys } from "./keys";

type Sender = Pick<Services, "db" | "env" | "options" | "secrets" | "background" | "log">;

/** A push service keeps a message this long for a phone that is off, in seconds. */
const KEPT_SECONDS = 24 * 3600;
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES = 64 * 1024;
/** Statuses that end a subscription (RFC 8030 section 7.3). */
const GONE = [404, 410];

/** Sends to all of a user's phones; returns how many accepted it. Removes those that are gone. */
export async function pushTo(sender: Sender, user_id: number, message: PushMessage): Promise<number> {
  const { push_subscriptions } = sender.db.t;
  const phones = await sender.db.q.select().from(push_subscriptions).where(eq(push_subscriptions.user_id, user_id));
  if (phones.length === 0) return 0;
  const keys = await vapidKeys(sender);
  const taken = await Promise.all(phones.map((phone) => pushOne(sender, keys, phone, message)));
  return taken.filter(Boolean).length;
}

async function pushOne(
  sender: Sender,
  keys: VapidKeys,
  phone: PushSubscriptionRow,
  message: PushMessage,
): Promise<boolean> {
  try {
    const { default: webPush } = await import("web-push");
    const { endpoint, headers, body } = webPush.generateRequestDetails(
      { endpoint: phone.endpoint, keys: { p256dh: phone.p256dh, auth: phone.auth } },
      JSON.stringify(message),
      { vapidDetails: { subject: contactOf(sender), ...keys }, TTL: KEPT_SECONDS, contentEncoding: "aes128gcm" },
    );
    const { status } = await egressFetch(endpoint, {
      ...userFetch(sender),
      // The worker accepts text alone, and this is encrypted bytes.
      worker: undefined,
      method: "POST",
      headers: Object.fromEntries(
        Object.entries(headers)
          .filter(([name]) => name !== "Content-Length")
          .map(([name, value]) => [name, String(value)]),
      ),
      ...(body ? { body: new Uint8Array(body) } : {}),
      timeoutMs: TIMEOUT_MS,
      maxBytes: ANSWER_BYTES,
      signal: sender.background.signal,
    });
    if (GONE.includes(status)) await forget(sender, phone.id);
    if (status >= 200 && status <= 299) return true;
    sender.log.warn({ user_id: phone.user_id, status }, "a push service refused a notice");
  } catch (err) {
    sender.log.warn({ user_id: phone.user_id, err }, "a notice could not be pushed");
  }
  return false;
}

async function forget({ db }: Sender, id: number): Promise<void> {
  const { push_subscriptions } = db.t;
  await db.q.delete(push_subscriptions).where(eq(push_subscriptions.id, id)).returning({ id: push_subscriptions.id });
}

/** The operator's contact for push services (RFC 8292 section 2.1): an https address or a mailbox. */
function contactOf({ options }: Sender): string {
  const address = options.get("ServerAddress");
  if (address.startsWith("https://")) return address;
  return `mailto:${options.get("SMTPFrom") || options.get("SMTPAccount") || "postmaster@localhost"}`;
}
