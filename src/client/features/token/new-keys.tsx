import { useLingui } from "@lingui/react/macro";
import { Copy } from "lucide-react";
import { bareKey, KEY_PREFIX, type TokenWithKey } from "../../../shared/token";
import { copyText } from "../../lib/clipboard";
import { toastSuccess } from "../../lib/toast";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { keyLine } from "./token-actions";
import { maskedKey } from "./token-key";

const keyOf = (token: TokenWithKey): string => KEY_PREFIX + bareKey(token.key);

/** The tokens of a batch just made: each key and all of them are copied from here. */
export function NewKeys({ tokens }: { tokens: readonly TokenWithKey[] }) {
  const { t } = useLingui();
  const count = tokens.length;
  const copyAll = async () => {
    const copied = await copyText(tokens.map((token) => keyLine(token.name, keyOf(token))).join("\n"));
    if (copied) toastSuccess(t`已复制 ${count} 个令牌`);
  };
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <Button variant="primary" onClick={() => void copyAll()}>
          <Copy aria-hidden />
          {t`复制全部`}
        </Button>
        <p className="text-muted">{t`每行一个：名称、四个空格、密钥`}</p>
      </div>
      <ul aria-label={t`新令牌`} className="divide-y divide-line rounded-lg border border-line">
        {tokens.map((token) => {
          const { name } = token;
          return (
            <li key={token.id} className="flex min-h-10 items-center gap-3 py-1 pr-1.5 pl-3">
              <span className="min-w-0 flex-1 truncate" title={name}>
                {name}
              </span>
              <code className="font-mono text-xs text-ink-2">{maskedKey(token)}</code>
              <CopyButton text={keyOf(token)} label={t`复制令牌 ${name} 的密钥`} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}
