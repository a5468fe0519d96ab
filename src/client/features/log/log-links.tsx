/**
 * The names of a row as links: by keyboard, in a new tab, or to copy the address. A plain press on one means the row,
 * which is full of them; what it opens has the same links.
 */
import { useLingui } from "@lingui/react/macro";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { LogView } from "../../../shared/log-list";
import { ROW_LINK } from "../../components/data-grid/row-link";
import { useUser } from "../../lib/session";

function NameLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link
      href={href}
      {...ROW_LINK}
      className="truncate text-accent-text hover:underline in-[[data-row]]:hover:no-underline in-[[data-row]]:pointer-coarse:pointer-events-none"
    >
      {children}
    </Link>
  );
}

/** A channel. */
export function ChannelNumberLink({ id, children }: { id: number; children: ReactNode }) {
  return <NameLink href={`/channel?open=${id}`}>{children}</NameLink>;
}

/** The channel that served. */
export function ChannelLink({ row }: { row: LogView }) {
  return <ChannelNumberLink id={row.channel}>{`${row.channel} · ${row.channel_name}`}</ChannelNumberLink>;
}

/** The token: an own one opens, another user's leads to its calls. */
export function TokenLink({ row }: { row: LogView }) {
  const own = useUser()?.id === row.user_id;
  if (row.token_id === 0) return <span className="truncate">{row.token_name}</span>;
  return (
    <NameLink href={own ? `/token?open=${row.token_id}` : `/log?token_id=${row.token_id}`}>{row.token_name}</NameLink>
  );
}

/** The model's calls; what is shown may say more than its name. */
export function ModelLink({ row, children }: { row: LogView; children?: ReactNode }) {
  return (
    <NameLink href={`/log?model_name=${encodeURIComponent(row.model_name)}`}>
      <span className="font-mono text-xs">{children ?? row.model_name}</span>
    </NameLink>
  );
}

/** The group's calls. */
export function GroupLink({ group, children }: { group: string; children?: ReactNode }) {
  return <NameLink href={`/log?group=${encodeURIComponent(group)}`}>{children ?? group}</NameLink>;
}

/** The call of a request id. */
export function RequestLink({ id }: { id: string }) {
  return (
    <NameLink href={`/log?request_id=${encodeURIComponent(id)}`}>
      <span className="font-mono text-xs">{id}</span>
    </NameLink>
  );
}

/** Whole seconds of a call; one under a second did take time. */
export function Seconds({ value }: { value: number }) {
  const { t } = useLingui();
  return <>{value > 0 ? t`${value} 秒` : t`不到 1 秒`}</>;
}
