/** The data of the Telegram login widget (core.telegram.org/widgets/login, "Checking authorization"; D-67). */
import { createHash, createHmac } from "node:crypto";
import { fail } from "../../../shared/errors";
import type { TelegramFields } from "../../../shared/identity-input";
import { type Ctx, seconds } from "../../contracts/context";
import { sameText } from "../../lib/secrets";
import type { ProvenPerson } from "./oauth";

/** What the hash covers; other members that a front-end adds are not Telegram's. */
const SIGNED = ["auth_date", "first_name", "id", "last_name", "photo_url", "username"] as const;
const LIFETIME = 24 * 3600;
/** A widget's clock may run ahead of ours by this. */
const AHEAD = 300;

/** HMAC-SHA256 over the sorted fields, keyed by the SHA-256 of the bot's token. */
export function telegramHash(fields: Omit<TelegramFields, "hash" | "aff">, token: string): string {
  const lines = SIGNED.flatMap((name) => (fields[name] ? [`${name}=${fields[name]}`] : []));
  return createHmac("sha256", createHash("sha256").update(token).digest()).update(lines.join("\n")).digest("hex");
}

/** The Telegram user of the data. Each hash works once, for a day. Throws telegram_invalid. */
export async function telegramPerson(ctx: Ctx, fields: TelegramFields): Promise<ProvenPerson> {
  const token = ctx.options.get("TelegramBotToken");
  const hash = fields.hash.toLowerCase();
  const now = seconds(ctx);
  const date = Number(fields.auth_date);
  // The signed text is lines of `name=value`: a line break in a value would let one field stand for others.
  if (SIGNED.some((name) => fields[name]?.includes("\n"))) fail("telegram_invalid");
  if (token === "" || !sameText(hash, telegramHash(fields, token))) fail("telegram_invalid");
  if (!/^\d+$/.test(fields.id) || !Number.isSafeInteger(date) || date <= now - LIFETIME || date > now + AHEAD)
    fail("telegram_invalid");
  const { codes } = ctx.db.t;
  const row = {
    purpose: "telegram",
    target: ctx.secrets.hash("ticket", hash),
    code_hash: "",
    created_at: now,
    expires_at: date + LIFETIME,
  };
  const first = await ctx.db.q.insert(codes).values(row).onConflictDoNothing().returning({ target: codes.target });
  if (first.length === 0) fail("telegram_invalid");
  return {
    subject: fields.id,
    name: fields.username ?? [fields.first_name, fields.last_name].filter(Boolean).join(" "),
  };
}
