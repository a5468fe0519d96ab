import { useLingui } from "@lingui/react/macro";
import type { Turnstile as Widget, TurnstileInstance } from "@marsidev/react-turnstile";
import { type ComponentProps, useRef, useState, type ReactNode } from "react";
import { currentLanguage } from "../../lib/i18n";
import { lazy, WhileLoading } from "../../lib/lazy";
import { useStatus } from "../../lib/status";
import { useTheme } from "../../lib/theme";
import { toastInfo } from "../../lib/toast";

/** Most operators want no check. */
const Turnstile = lazy<ComponentProps<typeof Widget>>(async () => ({
  default: (await import("@marsidev/react-turnstile")).Turnstile,
}));

interface BotCheck {
  /** What the form shows: the widget while the operator wants the check, else nothing. */
  widget: ReactNode;
  /**
   * What is sent along, `{}` while the check is off; null when it is not ready: then a message is shown and no
   * call may be made (D-79).
   */
  pass: () => { turnstile?: string } | null;
  /** After each call: a pass works once. */
  renew: () => void;
}

/** The bot check of a form. */
export function useBotCheck(): BotCheck {
  const { t } = useLingui();
  const status = useStatus();
  const theme = useTheme();
  const widget = useRef<TurnstileInstance>(null);
  const [token, setToken] = useState<string>();
  const siteKey = status.turnstile_check ? status.turnstile_site_key : "";
  if (!siteKey) return { widget: null, pass: () => ({}), renew: () => {} };
  return {
    widget: (
      <WhileLoading show={null}>
        <Turnstile
          ref={widget}
          siteKey={siteKey}
          options={{
            theme: theme === "system" ? "auto" : theme,
            language: currentLanguage() === "en" ? "en" : "zh-CN",
            size: "flexible",
            responseField: false,
          }}
          onSuccess={setToken}
          onExpire={() => setToken(undefined)}
          onError={() => setToken(undefined)}
        />
      </WhileLoading>
    ),
    pass: () => {
      if (token !== undefined) return { turnstile: token };
      toastInfo(t`请稍等几秒，正在检查环境`);
      return null;
    },
    renew: () => {
      setToken(undefined);
      widget.current?.reset();
    },
  };
}
