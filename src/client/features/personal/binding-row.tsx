import { useLingui } from "@lingui/react/macro";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

/** One line of the bindings card: what it is, what is bound, and what can be done about it. */
export function BindingRow({
  icon: Icon,
  name,
  bound,
  children,
}: {
  icon: LucideIcon;
  name: string;
  /** What it is bound to; "" or undefined: nothing. */
  bound: string | undefined;
  /** Buttons. */
  children?: ReactNode;
}) {
  const { t } = useLingui();
  return (
    <li aria-label={name} className="flex flex-wrap items-center gap-x-3 gap-y-2 py-3 first:pt-0 last:pb-0">
      <Icon aria-hidden className="size-5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{name}</p>
        <p className="wrap-anywhere text-muted">{bound || t`未绑定`}</p>
      </div>
      {children ? <div className="flex gap-2">{children}</div> : null}
    </li>
  );
}
