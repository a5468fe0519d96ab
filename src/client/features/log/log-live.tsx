import { Trans, useLingui } from "@lingui/react/macro";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Switch } from "../../ui/switch";
import type { LiveLog } from "./log-tail";

/** The switch of the live log, the count of held rows, and the connection state. */
export function LiveSwitch({ on, onChange, live }: { on: boolean; onChange: (on: boolean) => void; live: LiveLog }) {
  const { t } = useLingui();
  const { waiting } = live;
  return (
    <div className="flex items-center gap-2">
      {on && waiting > 0 ? <Button size="sm" onClick={live.flush}>{t`+${waiting} 新`}</Button> : null}
      {on && !live.connected ? <Badge hue="orange">{t`正在重新连接…`}</Badge> : null}
      {on && live.skipped ? <Badge hue="yellow">{t`新日志过多，部分未显示`}</Badge> : null}
      <label className="flex items-center gap-1.5">
        <Switch checked={on} onCheckedChange={onChange} />
        <Trans>实时</Trans>
      </label>
    </div>
  );
}
