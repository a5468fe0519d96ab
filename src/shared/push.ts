/** Phones that take notices by Web Push (RFC 8030), bound by a QR code (C-019, C-020). */
import * as z from "zod";

/** How long a code can be scanned. */
export const PUSH_CODE_SECONDS = 180;
/** Browsers of one account; the oldest makes room. */
export const MAX_PHONES = 10;

/** What `PushManager.subscribe` gave on the phone, and the code of the address that it opened. */
export const pushSubscribeInput = z.object({
  /** `<user id>.<32 letters and digits>` */
  code: z.string().regex(/^\d{1,15}\.[A-Za-z0-9]{32}$/, "push_code_invalid"),
  endpoint: z.url({ protocol: /^https?$/ }).max(1000),
  /** 65 and 16 bytes, base64url (RFC 8291). */
  p256dh: z.string().regex(/^[\w-]{87}=?$/),
  auth: z.string().regex(/^[\w-]{22}(==)?$/),
});

/** What the phone is sent: shown by src/client/push-worker.js. */
export interface PushMessage {
  title: string;
  body: string;
  /** Opened by a touch: a path of the console. */
  path: string;
}

/** A bound browser, as its owner sees it. */
export interface PhoneView {
  id: number;
  user_agent: string;
  created_at: number;
}
