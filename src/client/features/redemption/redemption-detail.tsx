import { useLingui } from "@lingui/react/macro";
import { Pencil } from "lucide-react";
import type { RedemptionView } from "../../../shared/redemption";
import { Fact } from "../../components/facts";
import { Quota } from "../../components/quota";
import { TimeAgo } from "../../components/time-ago";
import { formatTime } from "../../lib/format";
import { Button } from "../../ui/button";
import { CopyButton } from "../../ui/copy-button";
import { Drawer } from "../../ui/drawer";
import { Never, Redeemer, RedemptionStatus } from "./redemption-columns";
import { offeredFor } from "./redemption-actions";

/** A code in clear and all that is known of it. */
export function RedemptionDetailDrawer({
  row,
  onEdit,
  onClose,
}: {
  row: RedemptionView;
  onEdit: () => void;
  onClose: () => void;
}) {
  const { t } = useLingui();
  return (
    <Drawer
      open
      modal={false}
      onOpenChange={(open) => !open && onClose()}
      title={row.name}
      headerExtra={
        offeredFor(row).edit ? (
          <Button size="sm" onClick={onEdit}>
            <Pencil aria-hidden />
            {t`编辑`}
          </Button>
        ) : null
      }
    >
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3">
        <Fact name={t`兑换码`} wide>
          <code className="font-mono text-xs break-all select-all">{row.key}</code>
          <CopyButton text={row.key} label={t`复制兑换码`} className="ml-1" />
        </Fact>
        <Fact name={t`状态`}>
          <RedemptionStatus row={row} />
        </Fact>
        <Fact name={t`面额`}>
          <Quota value={row.quota} />
        </Fact>
        <Fact name={t`创建时间`}>
          <TimeAgo value={row.created_time} />
        </Fact>
        <Fact name={t`创建人 ID`}>{row.user_id}</Fact>
        <Fact name={t`过期时间`}>{row.expired_time === 0 ? <Never /> : formatTime(row.expired_time)}</Fact>
        <Fact name={t`兑换时间`}>
          <TimeAgo value={row.redeemed_time} />
        </Fact>
        <Fact name={t`兑换人 ID`}>
          <Redeemer id={row.used_user_id} />
        </Fact>
      </dl>
    </Drawer>
  );
}
