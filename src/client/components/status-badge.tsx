import { useLingui } from "@lingui/react/macro";
import { formatMilliseconds } from "../lib/format";
import { Badge } from "../ui/badge";
import { Tooltip } from "../ui/tooltip";
import { responseTimeLook, type StatusLook, type StatusTable } from "./status";

/** The state of a thing: `<StatusBadge table={channelStatus} value={row.status} />`; `hint` is shown on hover. */
export function StatusBadge({ table, value, hint }: { table: StatusTable; value: number; hint?: string }) {
  return <LookBadge look={table[value] ?? table.other} hint={hint} />;
}

/** A badge with a given look. */
export function LookBadge({ look, hint }: { look: StatusLook; hint?: string }) {
  const { i18n } = useLingui();
  const Icon = look.icon;
  return (
    <Tooltip content={hint}>
      <Badge hue={look.hue} icon={<Icon aria-hidden />} tabIndex={hint ? 0 : undefined}>
        {i18n._(look.text)}
      </Badge>
    </Tooltip>
  );
}

/** The response time of the last test in milliseconds; 0 is shown as never tested. */
export function ResponseTimeBadge({ value }: { value: number }) {
  const { t } = useLingui();
  const { hue, icon: Icon } = responseTimeLook(value);
  return (
    <Badge hue={hue} icon={<Icon aria-hidden />}>
      {value > 0 ? formatMilliseconds(value) : t`未测试`}
    </Badge>
  );
}
