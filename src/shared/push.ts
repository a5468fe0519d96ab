/** Phones that receive notices by Web Push (RFC 8030), bound by a QR code (C-019, C-020). */
import * as z from "zod";

/** Seconds until a code expires. */
export const PUSH_CODE_SECONDS = 180;
/** Most browsers of one account; the oldest is removed. */
export const MAX_PHONES = 10;

/** The result of `PushManager.subscribe` on the phone, and the code in the address that it opened. */
export const pushSubscribeInput = z.object({
  /** `<user id>.<32 letters and digits>` */
  code: z.string().regex(/^\d{1,15}\.[A-Za-z0-9]{32}$/, "push_code_invalid"),
  endpoint: z.url({ protocol: /^https?$/ }).max(1000),
  /** 65 and 16 bytes, base64url (RFC 8291). */
  p256dh: z.string().regex(/^[\w-]{87}=?$/),
  auth: z.string().regex(/^[\w-]{22}(==)?$/),
});

/** The message to the phone: shown by src/client/push-worker.js. */
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
