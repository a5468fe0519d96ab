import { useLingui } from "@lingui/react/macro";
import { useState } from "react";
import { Link } from "wouter";
import { ErrorPanel } from "../../components/error-panel";
import { Count, Quota } from "../../components/quota";
import { trpc } from "../../lib/trpc";
import { Popover, PopoverAnchor, PopoverContent } from "../../ui/popover";
import { Skeleton } from "../../ui/skeleton";

/** The name of a row's user, a link to the account; a plain click shows their balance and usage (C-150). */
export function LogUser({ id, name }: { id: number; name: string }) {
  const { t } = useLingui();
  const [open, setOpen] = useState(false);
  const query = trpc.log.user.useQuery({ id }, { enabled: open && id > 0, meta: { quiet: true } });
  if (id === 0) return <span className="truncate">{name}</span>;
  const user = query.data;
  const facts =
    user &&
    ([
      [t`用户名`, user.username],
      [t`分组`, user.group],
      [t`余额`, <Quota key="quota" value={user.quota} />],
      [t`已用额度`, <Quota key="used" value={user.used_quota} />],
      [t`请求次数`, <Count key="count" value={user.request_count} />],
    ] as const);
  return (
    <Popover open={open} onOpenChange={setOpen}>
      <PopoverAnchor asChild>
        <a
          href={`/user?edit=${id}`}
          aria-haspopup="dialog"
          aria-expanded={open}
          className="max-w-full truncate text-accent-text hover:underline"
          onClick={(event) => {
            event.stopPropagation();
            // With one of these keys it is the browser's: a new tab or window.
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
            event.preventDefault();
            setOpen(true);
          }}
        >
          {name || id}
        </a>
      </PopoverAnchor>
      <PopoverContent aria-label={t`用户信息`} className="w-64" onClick={(event) => event.stopPropagation()}>
        <Link href={`/user?edit=${id}`} className="mb-2 block truncate font-medium text-accent-text hover:underline">
          {t`打开用户 ${name}`}
        </Link>
        {facts ? (
          <dl className="grid grid-cols-[max-content_1fr] gap-x-4 gap-y-1.5">
            {facts.map(([term, value]) => (
              <div key={term} className="contents">
                <dt className="text-muted">{term}</dt>
                <dd className="truncate">{value}</dd>
              </div>
            ))}
          </dl>
        ) : query.error ? (
          <ErrorPanel error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Skeleton className="h-28" />
        )}
      </PopoverContent>
    </Popover>
  );
}
