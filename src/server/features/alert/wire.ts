/**
 * The requests that targets take, and what their answers say. Pure. The sources are the vendors' pages named here; of
 * Alertmanager, DingTalk's signature, WeCom and Telegram's limits they were looked up in November 2026, the others are
 * as known.
 *
 * - Slack, "Sending messages using incoming webhooks" and "Formatting message text": {text}; & < > are escaped; 1
 *   message a second, 429 with Retry-After; a text over 40,000 characters is cut by Slack.
 * - Telegram Bot API, sendMessage: 1 to 4,096 characters after entities are parsed; HTML mode escapes & < >; {ok,
 *   description, parameters: {retry_after}}; about 20 messages a minute to a group.
 * - Feishu, "Custom bot usage guide": sign = base64(HMAC-SHA256(key `${timestamp}\n${secret}`, "")), timestamp in
 *   seconds; answers {code, msg} with status 200; 100 messages a minute, 5 a second, 20 KB.
 * - DingTalk, "Custom robot access" and "security settings": sign = base64(HMAC-SHA256(key secret,
 *   `${timestamp}\n${secret}`)) in the query, timestamp in milliseconds; {errcode, errmsg}; 20 messages a minute.
 * - WeCom, group robot (document 91770): text up to 2,048 bytes, `<@id>` mentions; {errcode, errmsg}; 20 messages a
 *   minute.
 * - Discord, "Execute webhook": content up to 2,000 characters, allowed_mentions; 429 with Retry-After.
 * - Alertmanager, "Alerts API" (v2): an array of {labels, annotations, startsAt, endsAt, generatorURL}.
 * - Bark, docs/API_V2.md; Gotify, "Push messages".
 */
import { createHmac } from "node:crypto";
import type { AlertTarget, TargetType } from "../../../shared/alert-targets";
import type { AlertMessage } from "./message";

export interface WireRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

const TELEGRAM = "https://api.telegram.org";
/** Of a webhook's `alerts`; `begun` and `ended` count all. */
const MOST_ITEMS = 100;
/** An open alert counts as over in Alertmanager after this, should its end never arrive. */
const OPEN_SECONDS = 7 * 86_400;

const bytes = (text: string): number => Buffer.byteLength(text);
const characters = (text: string): number => text.length;

/** The longest beginning of a text that fits when it is escaped, with … where something is missing. */
export function fit(
  text: string,
  most: number,
  size = characters,
  escape: (part: string) => string = (part) => part,
): string {
  if (size(escape(text)) <= most) return escape(text);
  let [low, high] = [0, text.length];
  const part = (length: number): string => escape(`${text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (size(part(middle)) <= most) low = middle;
    else high = middle - 1;
  }
  return part(low);
}

const html = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
/** Discord's Markdown, and mentions. */
const discord = (text: string): string => text.replaceAll(/[\\*_~`|>[\]()#<@]/g, "\\$&");
/** Feishu and WeCom read tags and mentions in plain text. */
const noTags = (text: string): string => text.replaceAll("<", "＜");

const textOf = ({ title, lines, link }: AlertMessage): string => [title, ...lines, link].filter(Boolean).join("\n");
const hmac = (key: string, text: string, as: "hex" | "base64"): string =>
  createHmac("sha256", key).update(text).digest(as);
const rfc3339 = (seconds: number): string => new Date(seconds * 1000).toISOString();
const bare = (url: string): string => url.replace(/\/+$/, "");

function json(url: string, value: unknown, headers: Record<string, string> = {}): WireRequest {
  return { url, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(value) };
}

const requests: Record<
  Exclude<TargetType, "mail">,
  (target: AlertTarget, message: AlertMessage, now: number) => WireRequest
> = {
  webhook({ url, secret }, message, now) {
    const timestamp = String(Math.floor(now / 1000));
    const { title, lines, link, severity, begun, ended, items } = message;
    const body = {
      type: "alert",
      title,
      text: lines.join("\n"),
      link,
      severity,
      begun,
      ended,
      alerts: items.slice(0, MOST_ITEMS),
    };
    const request = json(url, body, { "x-weir-timestamp": timestamp });
    if (secret !== "")
      request.headers["x-weir-signature"] = `sha256=${hmac(secret, `${timestamp}.${request.body}`, "hex")}`;
    return request;
  },
  slack: ({ url }, message) =>
    json(url, {
      text: fit(textOf(message), 4000, characters, html),
      mrkdwn: false,
      unfurl_links: false,
      unfurl_media: false,
    }),
  telegram: ({ url, token, chat }, { title, lines, link }) =>
    json(`${bare(url || TELEGRAM)}/bot${token}/sendMessage`, {
      chat_id: chat,
      text: `<b>${fit(title, 200, characters, html)}</b>\n${fit([...lines, link].filter(Boolean).join("\n"), 3800, characters, html)}`,
      parse_mode: "HTML",
      link_preview_options: { is_disabled: true },
    }),
  feishu({ url, secret }, message, now) {
    const timestamp = String(Math.floor(now / 1000));
    const signed = secret === "" ? {} : { timestamp, sign: hmac(`${timestamp}\n${secret}`, "", "base64") };
    return json(url, { ...signed, msg_type: "text", content: { text: fit(textOf(message), 15_000, bytes, noTags) } });
  },
  alertmanager: ({ url, token }, { items }, now) =>
    json(
      `${bare(url)}/api/v2/alerts`,
      items.map(({ rule, subject, severity, text, link, opened_at, closed_at }) => ({
        labels: { alertname: rule, severity, source: "weir", ...(subject !== "" && { subject }) },
        annotations: { summary: text },
        startsAt: rfc3339(opened_at),
        endsAt: rfc3339(closed_at || Math.floor(now / 1000) + OPEN_SECONDS),
        ...(link !== "" && { generatorURL: link }),
      })),
      token === "" ? {} : { authorization: `Bearer ${token}` },
    ),
  discord: ({ url }, { title, lines, link }) => {
    // The link is ours and stays one: only what may hold foreign names is escaped.
    const text = fit([title, ...lines].join("\n"), 1800, characters, discord);
    return json(url, { content: link === "" ? text : `${text}\n<${link}>`, allowed_mentions: { parse: [] } });
  },
  dingtalk({ url, secret }, message, now) {
    const address = new URL(url);
    if (secret !== "") {
      address.searchParams.set("timestamp", String(now));
      address.searchParams.set("sign", hmac(secret, `${now}\n${secret}`, "base64"));
    }
    return json(address.href, { msgtype: "text", text: { content: fit(textOf(message), 15_000, bytes) } });
  },
  wecom: ({ url }, message) =>
    json(url, { msgtype: "text", text: { content: fit(textOf(message), 2048, bytes, noTags) } }),
  bark: ({ url }, { title, lines, link, severity }) =>
    json(url.split("/{{")[0] ?? "", {
      title: fit(title, 200),
      body: fit(lines.join("\n"), 2500, bytes),
      ...(link !== "" && { url: link }),
      ...(severity === "critical" && { level: "timeSensitive" }),
    }),
  gotify: ({ url, token }, { title, lines, link, severity }) =>
    json(
      `${bare(url)}/message`,
      {
        title: fit(title, 200),
        message: fit([...lines, link].filter(Boolean).join("\n"), 10_000),
        priority: severity === "critical" ? 8 : 5,
      },
      { "x-gotify-key": token },
    ),
};

/** The request of a message to a target that is no mailbox. `now`: epoch milliseconds. */
export const requestOf = (target: AlertTarget, message: AlertMessage, now: number): WireRequest =>
  requests[target.type === "mail" ? "webhook" : target.type](target, message, now);

/** The mail of a message. */
export const mailOf = ({ title, lines, link }: AlertMessage): { subject: string; text: string } => ({
  subject: title,
  text: [...lines, link].filter(Boolean).join("\n\n"),
});

export interface WireAnswer {
  ok: boolean;
  /** The vendor's answer, cut. */
  answer: string;
  /** Seconds that it asks to wait; 0 = none. */
  retry_after: number;
}

const members = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

/** Whether a target took the message: some answer 200 and say in the body that they did not. */
export function readAnswer(type: TargetType, status: number, text: string, retryAfter: string | null): WireAnswer {
  const body = members(text);
  const http = status >= 200 && status < 300;
  const refused =
    (type === "telegram" && body.ok !== true) ||
    (type === "feishu" && body.code !== undefined && body.code !== 0) ||
    ((type === "dingtalk" || type === "wecom") && body.errcode !== 0) ||
    (type === "bark" && body.code !== undefined && body.code !== 200);
  const parameters = body.parameters as { retry_after?: unknown } | undefined;
  const wait = Number(retryAfter ?? parameters?.retry_after ?? body.retry_after ?? 0);
  return {
    ok: http && !refused,
    answer: `HTTP ${status}${text.trim() === "" ? "" : `: ${fit(text.replaceAll(/\s+/g, " ").trim(), 300)}`}`,
    retry_after: Number.isFinite(wait) && wait > 0 ? Math.ceil(wait) : 0,
  };
}
