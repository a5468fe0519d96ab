import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import type { HeldFor, Proposal, ProposalStatus } from "../../../shared/price-feeds";
import { ErrorPanel } from "../../components/error-panel";
import { TimeAgo } from "../../components/time-ago";
import { formatDollars } from "../../lib/format";
import { toastInfo } from "../../lib/toast";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Skeleton } from "../../ui/skeleton";
import { DifferenceTable } from "./price-difference";

const REASONS: Readonly<Record<HeldFor, MessageDescriptor>> = {
  "by-hand": msg`等待确认`,
  falls: msg`一天内降价超过一半`,
  rises: msg`涨价超过一倍`,
  free: msg`变为免费或不再免费`,
  kind: msg`在按次与按量之间改变`,
  new: msg`新模型，没有其他价格源一致`,
  "below-cost": msg`低于渠道成本`,
  everything: msg`大多数价格同时大幅变动`,
};

const STATUSES: Readonly<Record<ProposalStatus, MessageDescriptor>> = {
  open: msg`待处理`,
  approved: msg`已采用`,
  automatic: msg`已自动采用`,
  refused: msg`已拒绝`,
  replaced: msg`已被更新的变更取代`,
};

/** What feeds propose: the open ones to decide, below them what was decided. */
export function PriceProposals({ quotaPerUnit }: { quotaPerUnit: number }) {
  const { t } = useLingui();
  const query = trpc.pricing.proposals.useQuery();
  if (query.error) return <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Skeleton className="h-24" />;
  const open = query.data.filter(({ status }) => status === "open");
  const decided = query.data.filter(({ status }) => status !== "open");
  return (
    <>
      {open.map((proposal) => (
        <OpenProposal key={proposal.id} proposal={proposal} quotaPerUnit={quotaPerUnit} />
      ))}
      {decided.length > 0 ? (
        <section className="grid gap-2">
          <h2 className="text-md">{t`已处理的变更`}</h2>
          <ul className="grid gap-1">
            {decided.map(({ id, source, status, decided_at, changes }) => (
              <li key={id} className="flex flex-wrap items-center gap-2">
                <Badge hue={status === "refused" ? "orange" : status === "replaced" ? "grey" : "green"}>
                  {t(STATUSES[status])}
                </Badge>
                <span>{t`${source}：${changes.length} 处`}</span>
                <span className="text-muted wrap-anywhere">{named(changes)}</span>
                <TimeAgo value={decided_at} className="text-xs text-muted" />
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  );
}

/** The first names of many. */
const named = (changes: Proposal["changes"]): string =>
  changes
    .slice(0, 5)
    .map(({ name }) => name)
    .join(", ") + (changes.length > 5 ? " …" : "");

function OpenProposal({ proposal, quotaPerUnit }: { proposal: Proposal; quotaPerUnit: number }) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const { id, source, created_at } = proposal;
  // What yesterday's calls would have paid differently is looked at first; then the order of names.
  const changes = proposal.changes.toSorted((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const decide = trpc.pricing.decide.useMutation({
    onSettled: () => Promise.all([utils.pricing.invalidate(), utils.option.list.invalidate()]),
    onSuccess: ({ taken }) => toastInfo(taken > 0 ? t`已采用 ${taken} 处价格` : t`已拒绝这些变更`),
  });
  const [total, count] = [changes.length, chosen.size];
  const sumOf = (some: Proposal["changes"]) =>
    signed(
      some.reduce((sum, { effect }) => sum + effect, 0),
      quotaPerUnit,
    );
  const [all, money] = [sumOf(changes), sumOf(changes.filter(({ name }) => chosen.has(name)))];
  return (
    <section className="grid gap-3" aria-label={t`${source} 的变更`}>
      <div className="flex flex-wrap items-center gap-2">
        <p className="min-w-0 flex-1 basis-72">
          <span className="font-medium">{t`${source}：${total} 处不同，已选 ${count} 处`}</span>{" "}
          <TimeAgo value={created_at} className="text-muted" />
          <span
            role="status"
            className="block text-xs text-muted"
          >{t`对最近 24 小时的影响：所选 ${money}，全部 ${all}`}</span>
        </p>
        <Button disabled={decide.isPending} onClick={() => decide.mutate({ id, models: [] })}>{t`全部拒绝`}</Button>
        <Button
          variant="primary"
          disabled={count === 0}
          loading={decide.isPending}
          onClick={() => decide.mutate({ id, models: [...chosen] })}
        >{t`采用所选，拒绝其余`}</Button>
      </div>
      <DifferenceTable
        label={t`${source} 的变更`}
        changes={changes}
        chosen={chosen}
        onChosen={setChosen}
        columns={[
          {
            header: t`最近 24 小时`,
            cell: (change) => (change.effect === 0 ? "—" : signed(change.effect, quotaPerUnit)),
            numeric: true,
          },
          { header: t`原因`, cell: ({ held }) => (held ? t(REASONS[held]) : "") },
        ]}
      />
    </section>
  );
}

const signed = (quota: number, quotaPerUnit: number): string => {
  const text = formatDollars(quota, quotaPerUnit);
  return quota > 0 ? `+${text}` : text;
};
