import { useLingui } from "@lingui/react/macro";
import { Copy, Eye } from "lucide-react";
import { useEffect, useState } from "react";
import { KEY_PREFIX, type TokenView } from "../../../shared/token";
import { IconButton } from "../../ui/icon-button";
import { Popover, PopoverAnchor, PopoverContent } from "../../ui/popover";
import { useTokenActions, useTokenKey } from "./token-actions";

/** How long a revealed key is shown, in milliseconds. */
const REVEAL_TIME = 10_000;

/** `sk-AbCd…wxyz`: enough to tell keys apart, and what the key filter finds. */
export function maskedKey({ key_hint }: Pick<TokenView, "key_hint">): string {
  return `${KEY_PREFIX}${key_hint.slice(0, 4)}…${key_hint.slice(-4)}`;
}

/** The key of a token: masked, shown for ten seconds on demand, copied whole. */
export function TokenKey({ token }: { token: Pick<TokenView, "id" | "name" | "key_hint"> }) {
  const { t } = useLingui();
  const { copyKey } = useTokenActions();
  const { keyOf, busy } = useTokenKey();
  const [shown, setShown] = useState<string | null>(null);
  const { name } = token;

  useEffect(() => {
    if (shown === null) return;
    const timer = setTimeout(() => setShown(null), REVEAL_TIME);
    return () => clearTimeout(timer);
  }, [shown]);

  return (
    // A press in here is not meant for the row.
    <span data-row-control className="inline-flex max-w-full items-center">
      <Popover open={shown !== null} onOpenChange={(open) => !open && setShown(null)}>
        <PopoverAnchor asChild>
          <code className="mr-1 truncate font-mono text-xs">{maskedKey(token)}</code>
        </PopoverAnchor>
        <PopoverContent aria-label={t`令牌 ${name} 的密钥`} className="w-[min(440px,calc(100vw-32px))]">
          <code className="block font-mono text-xs break-all select-all">{shown}</code>
          <p className="mt-2 text-xs text-muted">{t`10 秒后自动隐藏`}</p>
        </PopoverContent>
      </Popover>
      <IconButton
        size="sm"
        label={t`显示密钥 10 秒`}
        loading={busy}
        aria-expanded={shown !== null}
        onClick={async () => setShown(shown === null ? await keyOf(token.id) : null)}
      >
        {busy ? null : <Eye />}
      </IconButton>
      <IconButton size="sm" label={t`复制密钥`} shortcut="C" onClick={() => void copyKey(token)}>
        <Copy />
      </IconButton>
    </span>
  );
}
