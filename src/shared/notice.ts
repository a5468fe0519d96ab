/**
 * Notices to users: their settings, and the texts. Field names of a user's setting are those that existing front-ends
 * send (PUT /api/user/setting).
 */
import * as z from "zod";
import { isMailbox } from "./mailbox";
import type { Lang, Text } from "./text";

export const NOTIFY_TYPES = ["email", "webhook", "bark", "gotify"] as const;
export type NotifyType = (typeof NOTIFY_TYPES)[number];

export const NOTIFY_TYPE_NAMES: Record<NotifyType, Text> = {
  email: { zh: "邮件", en: "E-mail" },
  webhook: { zh: "Webhook", en: "Webhook" },
  bark: { zh: "Bark", en: "Bark" },
  gotify: { zh: "Gotify", en: "Gotify" },
};

/** A low-quota warning is sent at most once in this time, over all channels of delivery. */
export const LOW_QUOTA_EVERY_SECONDS = 2 * 3600;

const isWebAddress = (text: string): boolean => text === "" || (/^https?:\/\//i.test(text) && URL.canParse(text));
const webAddress = z.string().trim().max(500).refine(isWebAddress, "notice_address_invalid");
const mailbox = z
  .string()
  .trim()
  .max(320)
  .refine((text) => text === "" || isMailbox(text), "mail_address_invalid");

/** PUT /api/user/setting. Absent fields stay as they are; a secret that is "" stays too, unless its address changes. */
export const noticeSettingInput = z.object({
  /** Language of notices and mails. */
  language: z.enum(["zh", "en"]).optional(),
  notify_type: z.enum(NOTIFY_TYPES).optional(),
  /** Units; 0 = the operator's threshold (option QuotaRemindThreshold). */
  quota_warning_threshold: z.number().int().min(0).max(1_000_000_000_000_000).optional(),
  /** "" = the account's address. */
  notification_email: mailbox.optional(),
  webhook_url: webAddress.optional(),
  webhook_secret: z.string().max(200).optional(),
  /** "https://api.day.app/<device key>". */
  bark_url: webAddress.optional(),
  gotify_url: webAddress.optional(),
  gotify_token: z.string().max(200).optional(),
  gotify_priority: z.number().int().min(0).max(10).optional(),
});
export type NoticeSettingInput = z.output<typeof noticeSettingInput>;

/**
 * A user's setting as it is stored and shown. Members of another shape count as not set: the row may come from an
 * import, or from an older release.
 */
export const noticeSettingSchema = z.object({
  language: z.enum(["zh", "en"]).catch("zh"),
  notify_type: z.enum(NOTIFY_TYPES).catch("email"),
  quota_warning_threshold: z.number().min(0).catch(0),
  notification_email: z.string().catch(""),
  webhook_url: z.string().catch(""),
  bark_url: z.string().catch(""),
  gotify_url: z.string().catch(""),
  gotify_priority: z.number().min(0).max(10).catch(5),
  /** Whether there is a secret; the secret itself is never shown. */
  webhook_secret_set: z.boolean().catch(false),
  gotify_token_set: z.boolean().catch(false),
});

/** The members of the JSON object in `users.setting`; none when it is no object. */
export function settingMembers(setting: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(setting || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The kind of a notice; the member `type` of a webhook's body. */
export type NoticeType = "quota_exceed" | "channel_update" | "alert" | "budget" | "test";

interface NoticeText {
  title: Text;
  content: Text;
  /** The console's page about it. */
  path: string;
}

/** Placeholders in braces are filled from the notice's values, in the order of its `values`. */
export const NOTICES: Readonly<Record<NoticeType, NoticeText>> = {
  quota_exceed: {
    path: "/topup",
    title: { zh: "额度不足提醒", en: "Your quota is running low" },
    content: {
      zh: "您的剩余额度为 {balance}，已低于提醒阈值 {threshold}。额度用尽后调用会被拒绝。{link}",
      en: "You have {balance} left, which is below your threshold of {threshold}. When it is used up, calls are refused. {link}",
    },
  },
  channel_update: {
    path: "/channel",
    title: { zh: "渠道已被自动禁用", en: "Channels were disabled automatically" },
    content: {
      zh: "以下渠道已被自动禁用：\n{channels}\n{link}",
      en: "These channels were disabled automatically:\n{channels}\n{link}",
    },
  },
  alert: {
    path: "/incident",
    title: { zh: "{title}", en: "{title}" },
    content: { zh: "{text}\n{link}", en: "{text}\n{link}" },
  },
  budget: {
    path: "/topup",
    title: { zh: "{title}", en: "{title}" },
    content: { zh: "{text}\n{link}", en: "{text}\n{link}" },
  },
  test: {
    path: "/setting?tab=personal",
    title: { zh: "测试通知", en: "Test notice" },
    content: {
      zh: "收到本消息说明通知设置有效。{link}",
      en: "This message says that your notification settings work. {link}",
    },
  },
};

export interface Notice {
  type: NoticeType;
  /** In the order of the placeholders. */
  values: Readonly<Record<string, string>>;
}

/** Title and content as sent. */
export function noticeText({ type, values }: Notice, lang: Lang): { title: string; content: string } {
  const { title, content } = NOTICES[type];
  const filled = (text: string): string => text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "").trim();
  return { title: filled(title[lang]), content: filled(content[lang]) };
}
