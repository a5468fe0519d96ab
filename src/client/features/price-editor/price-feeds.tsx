import { useLingui } from "@lingui/react/macro";
import { Plus, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { parseOption } from "../../../shared/options";
import { type FeedState, KNOWN_FEEDS, type PriceFeed } from "../../../shared/price-feeds";
import { EmptyState } from "../../components/empty-state";
import { TimeAgo } from "../../components/time-ago";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { IconButton } from "../../ui/icon-button";
import { FeedForm } from "./feed-form";
import { PriceProposals } from "./price-proposals";
import type { Prices, useSavePrices } from "./use-prices";

interface PriceFeedsProps {
  prices: Prices;
  saver: ReturnType<typeof useSavePrices>;
}

/** Where prices are read from again and again, and what these feeds propose. */
export default function PriceFeeds({ prices, saver }: PriceFeedsProps) {
  const { t } = useLingui();
  const utils = trpc.useUtils();
  const states = trpc.pricing.feeds.useQuery();
  const read = trpc.pricing.readFeed.useMutation({
    onSettled: () =>
      Promise.all([
        utils.pricing.feeds.invalidate(),
        utils.pricing.proposals.invalidate(),
        utils.option.list.invalidate(),
      ]),
  });
  const [editing, setEditing] = useState<PriceFeed | "new" | null>(null);
  const text = prices.text("PriceFeeds");
  const parsed = parseOption("PriceFeeds", text);
  const feeds = parsed.ok ? parsed.value : [];
  const save = (next: readonly PriceFeed[]) =>
    saver.saveText("PriceFeeds", text, JSON.stringify(next, null, 2)).then(
      () => setEditing(null),
      () => undefined,
    );
  const known = KNOWN_FEEDS.filter(({ url }) => feeds.every((feed) => feed.url !== url));
  const readName = read.isPending ? read.variables.name : undefined;
  return (
    <div className="grid gap-4">
      <p className="max-w-[960px] text-muted">{t`定时读取价格，与这里的价格比较。差异先作为变更列出，由你决定；自动采用的价格源只采用幅度内的变化：一天内最多降一半，不低于渠道成本，新模型须有两个价格源一致。`}</p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => setEditing("new")}>
          <Plus aria-hidden />
          {t`添加价格源`}
        </Button>
        {known.map(({ name, url }) => (
          <Button
            key={url}
            disabled={saver.saving}
            onClick={() => void save([...feeds, { name, url, hours: 24, automatic: false }])}
          >{t`添加 ${name}`}</Button>
        ))}
      </div>
      {editing ? (
        <FeedForm
          key={editing === "new" ? "" : editing.name}
          feed={editing === "new" ? undefined : editing}
          others={feeds.filter((feed) => feed !== editing)}
          saving={saver.saving}
          onCancel={() => setEditing(null)}
          onSave={(feed) =>
            void save(editing === "new" ? [...feeds, feed] : feeds.map((one) => (one === editing ? feed : one)))
          }
        />
      ) : null}
      {feeds.length === 0 ? (
        <EmptyState title={t`还没有价格源`} description={t`添加一个公开的价格目录，或另一个网关的签名文件。`} />
      ) : (
        <ul className="grid gap-2" aria-label={t`价格源`}>
          {feeds.map((feed) => (
            <li
              key={feed.name}
              className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-line p-3"
            >
              <div className="min-w-0 flex-1 basis-72">
                <p className="flex flex-wrap items-center gap-2">
                  <button type="button" className="font-medium hover:underline" onClick={() => setEditing(feed)}>
                    {feed.name}
                  </button>
                  {feed.key === undefined ? null : <Badge hue="green">{t`已签名`}</Badge>}
                  {feed.automatic ? <Badge hue="blue">{t`自动采用`}</Badge> : null}
                  <span className="text-muted">{feed.hours === 0 ? t`手动` : t`每 ${feed.hours} 小时`}</span>
                </p>
                <p className="font-mono text-xs text-muted wrap-anywhere">{feed.url}</p>
                <LastReading state={states.data?.find(({ name }) => name === feed.name)} />
              </div>
              <div className="flex gap-2">
                <Button
                  size="sm"
                  loading={readName === feed.name}
                  disabled={read.isPending}
                  onClick={() => read.mutate({ name: feed.name })}
                >
                  <RefreshCw aria-hidden />
                  {t`立即读取`}
                </Button>
                <IconButton
                  label={t`删除价格源 ${feed.name}`}
                  size="sm"
                  disabled={saver.saving}
                  onClick={() => void save(feeds.filter((one) => one !== feed))}
                >
                  <Trash2 aria-hidden />
                </IconButton>
              </div>
            </li>
          ))}
        </ul>
      )}
      <PriceProposals quotaPerUnit={prices.tables.QuotaPerUnit} />
    </div>
  );
}

function LastReading({ state }: { state: FeedState | undefined }) {
  const { t } = useLingui();
  if (!state || state.read_at === 0) return <p className="text-xs text-muted">{t`尚未读取`}</p>;
  return (
    <p className="text-xs text-muted">
      {t`上次读取`} <TimeAgo value={state.read_at} />{" "}
      {state.error === "" ? (
        t`${state.models} 个模型`
      ) : (
        <span className="text-red-fg wrap-anywhere">{state.error}</span>
      )}
    </p>
  );
}
