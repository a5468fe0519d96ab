import { useLingui } from "@lingui/react/macro";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { CircleDollarSign } from "lucide-react";
import { trpc } from "../../lib/trpc";
import { Badge } from "../../ui/badge";

/** Names that are shown before the rest is a number. */
const SHOWN = 5;

const none: readonly string[] = [];

/** Those of the models that have no price yet; none while that is not known. */
export function useUnpriced(models: readonly string[]): readonly string[] {
  const { client } = trpc.useUtils();
  const { data } = useQuery({
    queryKey: ["unpriced", models],
    queryFn: () => client.pricing.unpriced.mutate({ models: [...models] }),
    enabled: models.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    meta: { quiet: true },
  });
  return data ?? none;
}

export function UnpricedBadge() {
  const { t } = useLingui();
  return <Badge hue="yellow" icon={<CircleDollarSign aria-hidden />}>{t`未定价`}</Badge>;
}

/** Which of the chosen models cannot be called for want of a price. */
export function UnpricedNote({ models }: { models: readonly string[] }) {
  const { t } = useLingui();
  if (models.length === 0) return null;
  const names = models.slice(0, SHOWN).join(", ");
  const more = models.length - SHOWN;
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-2">
      <UnpricedBadge />
      <span className="font-mono wrap-anywhere">{names}</span>
      {more > 0 ? <span>{t`等 ${more} 个`}</span> : null}
      <span>{t`定价之前调用会被拒绝`}</span>
    </p>
  );
}
