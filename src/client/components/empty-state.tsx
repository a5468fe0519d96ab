import { Inbox, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** Nothing here: why, and the one button that helps. */
export function EmptyState({
  icon: Icon = Inbox,
  title,
  description,
  action,
}: {
  icon?: LucideIcon;
  title: ReactNode;
  description?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-12 text-center">
      <Icon aria-hidden className="size-8 text-muted" strokeWidth={1.5} />
      <p className="text-base font-medium">{title}</p>
      {description ? <p className="max-w-prose text-muted">{description}</p> : null}
      {action ? <div className="mt-2">{action}</div> : null}
    </div>
  );
}
