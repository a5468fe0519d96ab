/** Security headers of the console's pages. Operator's content, model output and names never run scripts. */
import { chatFrameOrigin } from "../../shared/chat-links";
import { framedAddress } from "../../shared/content";

/** Of every answer of /api and /trpc: kept nowhere, and taken for nothing but what it says it is. */
export const API_HEADERS = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const;

/**
 * The origins of the operator's texts that are addresses and of his chat links: the only pages that the console may
 * frame.
 */
export function frameOrigins(
  texts: readonly string[],
  chats: readonly Readonly<Record<string, string>>[] = [],
): string[] {
  const links = chats.flatMap((entry) => Object.values(entry));
  const origins = [...texts.map((text) => framedAddress(text)?.origin), ...links.map(chatFrameOrigin)];
  return [...new Set(origins.filter((origin) => origin !== undefined))];
}

/**
 * `frames` are origins that may be framed, `forms` those that a form may be posted to (the payment gateway), `scripts`
 * those that a script may come from (the bot check, while it is on). They hold for every page of the console, not for
 * the framing ones alone: going from page to page does not ask the server again, so the policy of the first page is in
 * force on all of them.
 */
export function consoleHeaders({
  frames = [],
  forms = [],
  scripts = [],
}: Partial<Record<"frames" | "forms" | "scripts", readonly string[]>> = {}): Record<string, string> {
  return {
    "content-security-policy": [
      "default-src 'none'",
      ["script-src 'self'", ...scripts].join(" "),
      // Radix and sonner position with inline styles; no style can run a script.
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data: https:",
      "media-src 'self'",
      "font-src 'self'",
      "connect-src 'self'",
      ...(frames.length ? [`frame-src ${frames.join(" ")}`] : []),
      "manifest-src 'self'",
      ["form-action 'self'", ...forms].join(" "),
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin-allow-popups",
  };
}
