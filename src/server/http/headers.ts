/** Security headers of the console's pages. An operator's content, model output and names never run scripts. */
import { chatFrameOrigin } from "../../shared/chat-links";
import { framedAddress } from "../../shared/content";

/** On every response of /api and /trpc: never cached. */
export const API_HEADERS = { "cache-control": "no-store" } as const;

/**
 * The origins of the operator's texts that are addresses and of the operator's chat links: the only pages that the
 * console may frame.
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
 * `frames`: origins that may be framed; `forms`: that a form may be posted to (the payment gateway); `scripts`: that a
 * script may come from (the bot check, while it is on). They are for every page of the console, not only for the
 * framing ones: the console changes pages without a request, so the policy of the first page stays in force.
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
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin-allow-popups",
  };
}
