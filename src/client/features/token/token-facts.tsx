import { useLingui } from "@lingui/react/macro";
import type { TokenView } from "../../../shared/token";
import { Fact } from "../../components/facts";
import { Count, Quota } from "../../components/quota";
import { TimeAgo } from "../../components/time-ago";
import { Badge } from "../../ui/badge";
import { useModeNames } from "./drawing-field";
import { Expiry, Remaining, TokenStatusCell } from "./token-columns";
import { TokenKey } from "./token-key";
import { modelsOf } from "./token-models";

/** All that a token is and may do. */
export function TokenFacts({ token }: { token: TokenView }) {
  const { t } = useLingui();
  const modeNames = useModeNames();
  const lines = (text: string) => <span className="font-mono text-xs whitespace-pre-line wrap-anywhere">{text}</span>;
  const rates = [
    { name: t`每分钟请求`, value: token.rpm },
    { name: t`每分钟 tokens`, value: token.tpm },
    { name: t`并发数`, value: token.concurrency },
  ].filter(({ value }) => value > 0);
  const budgets = [
    { name: t`每日预算`, value: token.budget_day },
    { name: t`每月预算`, value: token.budget_month },
  ].filter(({ value }) => value > 0);

  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-3">
      <Fact name={t`状态与分组`}>
        <TokenStatusCell token={token} />
      </Fact>
      <Fact name={t`密钥`}>
        <TokenKey token={token} />
      </Fact>
      <Fact name={t`已用额度`}>
        <Quota value={token.used_quota} />
      </Fact>
      <Fact name={t`剩余额度`}>
        <Remaining token={token} />
      </Fact>
      <Fact name={t`过期时间`}>
        <Expiry value={token.expired_time} />
      </Fact>
      <Fact name={t`最后使用`}>
        <TimeAgo value={token.accessed_time} />
      </Fact>
      {token.model_limits_enabled ? (
        <Fact name={t`可用模型`} wide>
          <span className="flex flex-wrap gap-1">
            {modelsOf(token).map((model) => (
              <Badge key={model}>{model}</Badge>
            ))}
          </span>
        </Fact>
      ) : null}
      {token.allow_ips ? <Fact name={t`IP 白名单`}>{lines(token.allow_ips)}</Fact> : null}
      {token.deny_ips ? <Fact name={t`IP 黑名单`}>{lines(token.deny_ips)}</Fact> : null}
      {rates.map(({ name, value }) => (
        <Fact key={name} name={name}>
          <Count value={value} />
        </Fact>
      ))}
      {budgets.map(({ name, value }) => (
        <Fact key={name} name={name}>
          <Quota value={value} />
        </Fact>
      ))}
      {token.mj_mode === "" ? null : <Fact name={t`绘图模式`}>{modeNames[token.mj_mode]}</Fact>}
    </dl>
  );
}
