import { useLingui } from "@lingui/react/macro";
import { EXPIRY_PRESETS, NEVER } from "../../../shared/token";
import type { FieldParts } from "../../components/form-field";
import { useNow } from "../../components/time-ago";
import { formatRelative } from "../../lib/format";
import { Button } from "../../ui/button";
import { Input } from "../../ui/input";
import { expiryText, parseExpiry } from "./token-values";

/** The browser's time zone: `Asia/Shanghai (UTC+08:00)`. */
export function timeZoneName(date = new Date()): string {
  const ahead = -date.getTimezoneOffset();
  const two = (number: number) => String(Math.floor(number)).padStart(2, "0");
  const offset = `UTC${ahead < 0 ? "-" : "+"}${two(Math.abs(ahead) / 60)}:${two(Math.abs(ahead) % 60)}`;
  return `${Intl.DateTimeFormat().resolvedOptions().timeZone} (${offset})`;
}

/** When a token ends: presets, or a time typed as `yyyy-MM-dd HH:mm:ss`; -1 is never. */
export function ExpiryField({ field }: { field: FieldParts<string> }) {
  const { t } = useLingui();
  const now = useNow();
  const presets = [
    { seconds: EXPIRY_PRESETS.never, label: t`永不过期` },
    { seconds: EXPIRY_PRESETS.hour, label: t`1 小时` },
    { seconds: EXPIRY_PRESETS.day, label: t`1 天` },
    { seconds: EXPIRY_PRESETS.month, label: t`1 个月` },
  ];
  const parsed = parseExpiry(field.value);
  const meaning =
    parsed === null ? "" : parsed === NEVER ? t`永不过期` : parsed <= now ? t`已过期` : formatRelative(parsed, now);

  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        {presets.map(({ seconds, label }) => (
          <Button
            key={seconds}
            size="sm"
            onClick={() =>
              field.setValue(expiryText(seconds === NEVER ? NEVER : Math.floor(Date.now() / 1000) + seconds))
            }
          >
            {label}
          </Button>
        ))}
      </div>
      <div className="flex items-center gap-3">
        <Input
          {...field.input}
          placeholder="yyyy-MM-dd HH:mm:ss"
          autoComplete="off"
          spellCheck={false}
          className="min-w-0 flex-1 font-mono"
        />
        <output className="min-w-24 text-right text-ink-2">{meaning}</output>
      </div>
    </div>
  );
}
