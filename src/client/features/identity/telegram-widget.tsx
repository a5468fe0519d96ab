import { useLingui } from "@lingui/react/macro";
import { useEffect, useEffectEvent, useRef } from "react";
import type { TelegramFields } from "../../../shared/identity-input";
import { TELEGRAM_ORIGIN } from "../../../shared/identity";
import { currentLanguage } from "../../lib/i18n";

type Facts = Omit<TelegramFields, "aff">;

export interface TelegramWidgetProps {
  /** The bot's name. */
  bot: string;
  onFacts: (facts: Facts) => void;
}

/**
 * Telegram's login button: its frame, without its script, which would have to run in our page
 * (core.telegram.org/widgets/login). The frame says who has signed in by a message; the server checks its signature.
 */
export function TelegramWidget({ bot, onFacts }: TelegramWidgetProps) {
  const { t } = useLingui();
  const frame = useRef<HTMLIFrameElement>(null);
  const heard = useEffectEvent((event: MessageEvent) => {
    if (event.origin !== TELEGRAM_ORIGIN || event.source !== frame.current?.contentWindow) return;
    const facts = factsOf(event.data);
    if (facts) onFacts(facts);
  });
  useEffect(() => {
    const listener = (event: MessageEvent) => heard(event);
    window.addEventListener("message", listener);
    return () => window.removeEventListener("message", listener);
  }, []);

  const search = new URLSearchParams({
    origin: location.origin,
    return_to: location.href,
    size: "large",
    lang: currentLanguage(),
  });
  return (
    <iframe
      ref={frame}
      title={t`使用 Telegram 登录`}
      src={`${TELEGRAM_ORIGIN}/embed/${encodeURIComponent(bot)}?${search}`}
      className="mx-auto h-10 w-full max-w-[240px] border-0"
    />
  );
}

/** The facts in a message `{event: "auth_user", auth_data: {…}}`, which comes as JSON text. */
export function factsOf(message: unknown): Facts | undefined {
  if (typeof message !== "string") return undefined;
  let said: unknown;
  try {
    said = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (
    typeof said !== "object" ||
    said === null ||
    !("event" in said) ||
    said.event !== "auth_user" ||
    !("auth_data" in said)
  )
    return undefined;
  const { auth_data: data } = said;
  if (typeof data !== "object" || data === null) return undefined;
  const text = (name: string): string | undefined => {
    const value: unknown = Reflect.get(data, name);
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  };
  const [id, auth_date, hash] = [text("id"), text("auth_date"), text("hash")];
  if (id === undefined || auth_date === undefined || hash === undefined) return undefined;
  return {
    id,
    auth_date,
    hash,
    first_name: text("first_name"),
    last_name: text("last_name"),
    username: text("username"),
    photo_url: text("photo_url"),
  };
}
