/** What the palette can do with a found object besides opening it. The verbs are those of the object's own list. */
import { useLingui } from "@lingui/react/macro";
import {
  Ban,
  CircleCheck,
  CircleDollarSign,
  Copy,
  Eye,
  type LucideIcon,
  OctagonX,
  Pencil,
  Power,
  PowerOff,
  ScrollText,
  Zap,
} from "lucide-react";
import { useLocation } from "wouter";
import { CHANNEL_STATUS, type ChannelView } from "../../shared/channel";
import { channelType } from "../../shared/channel-types";
import { LOG_TYPE } from "../../shared/log";
import type { RedemptionView } from "../../shared/redemption";
import { ROLE, USER_STATUS } from "../../shared/roles";
import { TOKEN_STATUS, type TokenView } from "../../shared/token";
import type { ManagedUser } from "../../shared/user-manage";
import { useChannelActions } from "../features/channel/channel-actions";
import { useRunTest } from "../features/channel/channel-tests";
import { useRedemptionActions } from "../features/redemption/redemption-actions";
import { offeredFor } from "../features/redemption/redemption-actions";
import { useTokenActions } from "../features/token/token-actions";
import { useRefusal, useUserActions } from "../features/user/user-actions";
import { useUser } from "../lib/session";

/** A verb of one object. */
export interface Act {
  id: string;
  title: string;
  icon: LucideIcon;
  run: () => void;
}

/** The verbs of each kind of object, for this reader. */
export function useFoundActs() {
  const { t } = useLingui();
  const [, navigate] = useLocation();
  const role = useUser()?.role ?? 0;
  const channels = useChannelActions();
  const runTest = useRunTest();
  const users = useUserActions();
  const refusal = useRefusal();
  const tokens = useTokenActions();
  const codes = useRedemptionActions();

  const open = (to: string): Act => ({ id: "open", title: t`打开`, icon: Eye, run: () => navigate(to) });
  const edit = (to: string): Act => ({ id: "edit", title: t`编辑`, icon: Pencil, run: () => navigate(to) });
  const logs = (query: string): Act => ({
    id: "logs",
    title: t`查看日志`,
    icon: ScrollText,
    run: () => navigate(`/log?${query}`),
  });
  const power = (on: boolean, run: () => void): Act =>
    on ? { id: "disable", title: t`禁用`, icon: PowerOff, run } : { id: "enable", title: t`启用`, icon: Power, run };

  return {
    channel: (row: ChannelView): readonly Act[] => [
      open(`/channel?open=${row.id}`),
      edit(`/channel?edit=${row.id}`),
      ...(channelType(row.type)?.test ? [{ id: "test", title: t`测试`, icon: Zap, run: () => void runTest(row) }] : []),
      power(
        row.status === CHANNEL_STATUS.enabled,
        () => void channels.setEnabled(row, row.status !== CHANNEL_STATUS.enabled),
      ),
      logs(`channel=${row.id}`),
    ],
    user: (row: ManagedUser): readonly Act[] => {
      const on = row.status === USER_STATUS.active;
      const verb = on ? "disable" : "enable";
      return [
        open(`/user?edit=${row.id}`),
        ...(row.DeletedAt !== null || refusal(row, verb) !== undefined
          ? []
          : [
              {
                id: verb,
                title: on ? t`禁用` : t`启用`,
                icon: on ? Ban : CircleCheck,
                run: () => void users.manage(row, verb),
              },
            ]),
        logs(`username=${encodeURIComponent(row.username)}`),
        {
          id: "failed",
          title: t`失败的调用`,
          icon: OctagonX,
          run: () => navigate(`/log?username=${encodeURIComponent(row.username)}&type=${LOG_TYPE.error}`),
        },
      ];
    },
    token: (row: TokenView): readonly Act[] => [
      open(`/token?open=${row.id}`),
      edit(`/token?edit=${row.id}`),
      { id: "copy", title: t`复制密钥`, icon: Copy, run: () => void tokens.copyKey(row) },
      power(
        row.status === TOKEN_STATUS.enabled,
        () => void tokens.setEnabled(row, row.status !== TOKEN_STATUS.enabled),
      ),
      logs(`token_id=${row.id}`),
    ],
    model: (name: string): readonly Act[] => {
      const model = encodeURIComponent(name);
      return [
        open(`/pricing?q=${model}`),
        ...(role >= ROLE.root
          ? [
              {
                id: "price",
                title: t`编辑价格`,
                icon: CircleDollarSign,
                run: () => navigate(`/setting/pricing?q=${model}`),
              },
            ]
          : []),
        logs(`model_name=${model}`),
      ];
    },
    code: (row: RedemptionView): readonly Act[] => {
      const offered = offeredFor(row);
      return [
        open(`/redemption?open=${row.id}`),
        ...(offered.edit ? [edit(`/redemption?edit=${row.id}`)] : []),
        { id: "copy", title: t`复制`, icon: Copy, run: () => void codes.copyKey(row) },
        ...(offered.disable || offered.enable
          ? [power(offered.disable, () => void codes.setEnabled(row, offered.enable))]
          : []),
      ];
    },
  };
}
