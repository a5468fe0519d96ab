/**
 * One notice to one user, by the channel that they chose. Addresses that users typed go through lib/egress.ts; of a
 * receiver's answer only the status is read.
 */
import { createHmac } from "node:crypto";
import { sql } from "drizzle-orm";
import type { Notice, NotifyType } from "../../../shared/notice";
import { NOTICES, noticeText } from "../../../shared/notice";
import { type Services, seconds } from "../../contracts/context";
import type { Tables } from "../../db/schema";
import { egressFetch } from "../../lib/egress";
import { isMailbox } from "../../../shared/mailbox";
import { pushTo } from "../push/send";
import { userFetch } from "../option/egress-policy";
import { type NoticeSetting, noticeSetting } from "./setting";

export type Post = Pick<Services, "db" | "env" | "log" | "options" | "secrets" | "background" | "sendMail" | "now">;

export interface Recipient {
  user_id: number;
  email: string;
  /** The JSON of `users.setting`. */
  setting: NoticeSetting;
  /** Bound phones: they get notices besides the chosen channel. */
  phones: number;
}

/** Columns of a recipient, for a select on `users`. */
export const recipientColumns = ({ users }: Tables) => ({
  id: users.id,
  email: users.email,
  setting: users.setting,
  phones: sql<number>`(select count(*) from push_subscriptions as p where p.user_id = users.id)`.mapWith(Number),
});

export const recipientOf = (row: { id: number; email: string; setting: string; phones: number }): Recipient => ({
  user_id: row.id,
  email: row.email,
  setting: noticeSetting(row.setting),
  phones: row.phones,
});

/** The timeout of a receiver. */
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES = 64 * 1024;

class NotDelivered extends Error {
  override readonly name = "NotDelivered";
}

const mailboxOf = ({ email, setting }: Recipient): string => setting.notification_email || email;

/** Whether there is a receiver. */
export const isReachable = (services: Pick<Services, "options">, recipient: Recipient): boolean =>
  recipient.phones > 0 || isWayOpen(services, recipient);

/** Whether the chosen channel has an address. */
function isWayOpen({ options }: Pick<Services, "options">, recipient: Recipient): boolean {
  const { setting } = recipient;
  const reachable: Record<NotifyType, boolean> = {
    email: options.get("SMTPServer") !== "" && isMailbox(mailboxOf(recipient)),
    webhook: setting.webhook_url !== "",
    bark: setting.bark_url !== "",
    gotify: setting.gotify_url !== "" && setting.gotify_token_cipher !== "",
  };
  return reachable[setting.notify_type];
}

/**
 * Sends by the chosen channel and to the user's phones; one that accepted it is enough. Throws AppError (mail_*,
 * address_forbidden), WrongSecret, NotDelivered when the receiver refused, or a network error.
 */
export async function deliver(post: Post, recipient: Recipient, notice: Notice): Promise<void> {
  const ways = [
    ...(isWayOpen(post, recipient) ? [deliverByWay] : []),
    ...(recipient.phones > 0 ? [deliverToPhones] : []),
  ];
  const done = await Promise.allSettled(ways.map((way) => way(post, recipient, notice)));
  if (done.some(({ status }) => status === "fulfilled")) return;
  const [refused] = done.flatMap((way) => (way.status === "rejected" ? [way.reason] : []));
  throw refused ?? new NotDelivered("There is nowhere to send to");
}

async function deliverToPhones(post: Post, { user_id, setting }: Recipient, notice: Notice): Promise<void> {
  const { title, content } = noticeText(notice, setting.language);
  const taken = await pushTo(post, user_id, { title, body: content, path: NOTICES[notice.type].path });
  if (taken === 0) throw new NotDelivered("No phone took it");
}

async function deliverByWay(post: Post, recipient: Recipient, notice: Notice): Promise<void> {
  const { setting } = recipient;
  const { title, content } = noticeText(notice, setting.language);
  switch (setting.notify_type) {
    case "email":
      return post.sendMail({
        to: mailboxOf(recipient),
        subject: `${post.options.get("SystemName")}: ${title}`,
        text: content,
      });
    case "webhook": {
      const body = JSON.stringify({
        type: notice.type,
        title,
        content,
        values: Object.values(notice.values),
        timestamp: seconds(post),
      });
      const secret = post.secrets.decrypt("user-secret", setting.webhook_secret_cipher);
      // Only the signature: the secret itself is never sent.
      const signature = secret === "" ? undefined : createHmac("sha256", secret).update(body).digest("hex");
      return call(post, setting.webhook_url, body, signature === undefined ? {} : { "x-webhook-signature": signature });
    }
    case "bark":
      // Bark server, docs/API_V2.md: POST https://<server>/<device key> {title, body}. Some users type the address as a
      // template.
      return call(post, setting.bark_url.split("/{{")[0] ?? "", JSON.stringify({ title, body: content }), {});
    case "gotify": {
      // gotify.net, "Push messages": POST /message {title, message, priority}, application token in X-Gotify-Key.
      const body = JSON.stringify({ title, message: content, priority: setting.gotify_priority });
      const key = post.secrets.decrypt("user-secret", setting.gotify_token_cipher);
      return call(post, `${setting.gotify_url.replace(/\/+$/, "")}/message`, body, { "x-gotify-key": key });
    }
  }
}

async function call(post: Post, address: string, body: string, headers: Record<string, string>): Promise<void> {
  const { status } = await egressFetch(address, {
    ...userFetch(post),
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
    timeoutMs: TIMEOUT_MS,
    maxBytes: ANSWER_BYTES,
    signal: post.background.signal,
  });
  if (status < 200 || status > 299) throw new NotDelivered(`The receiver answered ${status}`);
}
