/**
 * Where alerts are sent: the kinds of targets and their fields. The list of targets is one sealed option, because most
 * addresses are secrets themselves; forms leave a secret empty to keep it.
 */
import { z } from "zod";
import { SEVERITIES } from "./alert-rules";
import { isMailbox } from "./mailbox";
import type { Parsed } from "./options/kinds";
import type { Text } from "./text";

export const TARGET_FIELDS = ["url", "to", "chat", "token", "secret"] as const;
export type TargetField = (typeof TARGET_FIELDS)[number];

interface FieldFact extends Text {
  readonly field: TargetField;
  readonly required?: boolean;
  /** Never shown again. */
  readonly secret?: boolean;
}

export const TARGET_TYPES = [
  "mail",
  "webhook",
  "slack",
  "telegram",
  "feishu",
  "alertmanager",
  "discord",
  "dingtalk",
  "wecom",
  "bark",
  "gotify",
] as const;
export type TargetType = (typeof TARGET_TYPES)[number];

const hook = (zh: string, en: string): FieldFact => ({ field: "url", zh, en, required: true, secret: true });
const address = (zh: string, en: string): FieldFact => ({ field: "url", zh, en, required: true });
const sign: FieldFact = { field: "secret", zh: "签名密钥", en: "Signing secret", secret: true };

export const TARGETS: Readonly<Record<TargetType, Text & { readonly fields: readonly FieldFact[] }>> = {
  mail: { zh: "邮件", en: "E-mail", fields: [{ field: "to", zh: "收件地址", en: "Address", required: true }] },
  webhook: { zh: "Webhook", en: "Webhook", fields: [address("地址", "Address"), sign] },
  slack: { zh: "Slack", en: "Slack", fields: [hook("Incoming webhook 地址", "Incoming webhook address")] },
  telegram: {
    zh: "Telegram",
    en: "Telegram",
    fields: [
      { field: "token", zh: "Bot Token", en: "Bot token", required: true, secret: true },
      { field: "chat", zh: "Chat ID", en: "Chat id", required: true },
      { field: "url", zh: "Bot API 地址（默认官方）", en: "Bot API address (default: Telegram's)" },
    ],
  },
  feishu: {
    zh: "飞书 / Lark",
    en: "Feishu / Lark",
    fields: [hook("机器人 Webhook 地址", "Bot webhook address"), sign],
  },
  alertmanager: {
    zh: "Alertmanager",
    en: "Alertmanager",
    fields: [
      address("地址（不含 /api）", "Address (without /api)"),
      { field: "token", zh: "Bearer 令牌", en: "Bearer token", secret: true },
    ],
  },
  discord: { zh: "Discord", en: "Discord", fields: [hook("Webhook 地址", "Webhook address")] },
  dingtalk: { zh: "钉钉", en: "DingTalk", fields: [hook("机器人 Webhook 地址", "Bot webhook address"), sign] },
  wecom: { zh: "企业微信", en: "WeCom", fields: [hook("群机器人 Webhook 地址", "Group bot webhook address")] },
  bark: { zh: "Bark", en: "Bark", fields: [hook("推送地址（含设备密钥）", "Push address (with the device key)")] },
  gotify: {
    zh: "Gotify",
    en: "Gotify",
    fields: [
      address("服务器地址", "Server address"),
      { field: "token", zh: "应用令牌", en: "Application token", required: true, secret: true },
    ],
  },
};

/** The built-in target: root accounts, each as their own notices are set. */
export const ACCOUNTS = "accounts";
const RESERVED = /^accounts$|^user:/;

const text = z.string().trim().max(2000).default("");
const target = z
  .strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(60)
      .refine((name) => !RESERVED.test(name), "this name is reserved"),
    type: z.enum(TARGET_TYPES),
    on: z.boolean().default(true),
    /** Language of its messages. */
    lang: z.enum(["zh", "en"]).default("zh"),
    /** Incidents below this severity are not sent to it. */
    least: z.enum(SEVERITIES).default("warning"),
    url: text,
    to: text,
    chat: text,
    token: text,
    secret: text,
  })
  .superRefine((one, ctx) => {
    for (const { field, required } of TARGETS[one.type].fields) {
      const value = one[field];
      if (required && value === "") ctx.addIssue({ code: "custom", path: [field], message: "must not be empty" });
      if (field === "url" && value !== "" && !(/^https?:\/\//i.test(value) && URL.canParse(value)))
        ctx.addIssue({ code: "custom", path: [field], message: "must begin with http:// or https://" });
      if (field === "to" && value !== "" && !isMailbox(value))
        ctx.addIssue({ code: "custom", path: [field], message: "not a mail address" });
    }
  });
export type AlertTarget = z.output<typeof target>;

const MOST_TARGETS = 50;

/** The targets of option AlertTargets. Returns what is wrong with them, in English. */
export function parseTargets(value: unknown): { targets: AlertTarget[] } | { problem: string } {
  const parsed = z.array(target).max(MOST_TARGETS).safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { problem: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? ""}` };
  }
  const names = parsed.data.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  return twice === undefined ? { targets: parsed.data } : { problem: `two targets of the name ${twice}` };
}

/** Reads and prints the option's text; "" is the empty list. */
export const targetsCodec = {
  parse(json: string): Parsed<readonly AlertTarget[]> {
    let value: unknown;
    try {
      value = json.trim() === "" ? [] : JSON.parse(json);
    } catch {
      return { ok: false, problem: { zh: "不是合法的 JSON 字符串", en: "Not a valid JSON string" } };
    }
    const parsed = parseTargets(value);
    if ("targets" in parsed) return { ok: true, value: parsed.targets };
    return {
      ok: false,
      problem: { zh: `通知对象不合法：${parsed.problem}`, en: `Not valid targets: ${parsed.problem}` },
    };
  },
  print: (targets: readonly AlertTarget[]): string => (targets.length === 0 ? "" : JSON.stringify(targets)),
};

/** A target as it is sent by the form; an absent or empty secret stays as it is stored. */
export const targetInput = z.strictObject({
  name: z.string().max(60),
  type: z.enum(TARGET_TYPES),
  on: z.boolean().optional(),
  lang: z.enum(["zh", "en"]).optional(),
  least: z.enum(SEVERITIES).optional(),
  url: z.string().max(2000).optional(),
  to: z.string().max(2000).optional(),
  chat: z.string().max(2000).optional(),
  token: z.string().max(2000).optional(),
  secret: z.string().max(2000).optional(),
  /** Its name before, where it is renamed. */
  was: z.string().max(60).optional(),
});
export type TargetInput = z.input<typeof targetInput>;

/** A target as its form sees it: secrets only as set or not. */
export interface TargetView {
  name: string;
  type: TargetType;
  on: boolean;
  lang: "zh" | "en";
  least: (typeof SEVERITIES)[number];
  /** Fields that are no secrets. */
  open: Partial<Record<TargetField, string>>;
  /** Secrets that are set. */
  set: TargetField[];
}
