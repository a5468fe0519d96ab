import { useLingui } from "@lingui/react/macro";
import { TriangleAlert } from "lucide-react";
import { formatTime } from "../../lib/format";
import { trpc } from "../../lib/trpc";

const SHOWN = 5;
const dollars = (usd: number): string => `$${Number(usd.toPrecision(4))}`;

/** Which models are sold below their channels' cost; nothing where none is, or where that is not known. */
export function BelowCost() {
  const { t } = useLingui();
  const { data } = trpc.pricing.belowCost.useQuery(undefined, { meta: { quiet: true }, retry: false });
  if (!data || data.length === 0) return null;
  const more = data.length - SHOWN;
  return (
    <div role="status" className="mb-3 grid gap-1 rounded-md bg-yellow-bg px-3 py-2 text-yellow-fg">
      <p className="flex items-center gap-2 font-medium">
        <TriangleAlert aria-hidden className="size-4 shrink-0" />
        {t`有模型以低于成本的价格出售`}
      </p>
      <ul className="grid list-disc gap-1 pl-9">
        {data.slice(0, SHOWN).map(({ model, group, channel, sale, cost, moment }) => {
          const [asked, paid, when] = [dollars(sale), dollars(cost), formatTime(moment / 1000)];
          return (
            <li key={`${model} ${group} ${channel}`}>
              {t`${model}（${group} 分组，渠道“${channel}”）：同样的用量收 ${asked}，付 ${paid}（例如 ${when}）`}
            </li>
          );
        })}
      </ul>
      {more > 0 ? <p className="pl-9">{t`等 ${more} 个`}</p> : null}
    </div>
  );
}
