/**
 * How states are shown: hue, icon and word. Colour never stands alone.
 * A value that a table does not know is shown by its `other` entry.
 */
import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import {
  Ban,
  CircleCheck,
  CircleHelp,
  CirclePause,
  CircleSlash,
  Clock,
  CornerUpLeft,
  Minus,
  OctagonX,
  Pause,
  ShieldAlert,
  Signal,
  SignalHigh,
  SignalLow,
  SignalMedium,
  TriangleAlert,
  Trash2,
  UserRound,
  UserRoundCog,
  Wallet,
  type LucideIcon,
} from "lucide-react";
import { responseTimeColor } from "../../shared/response-time";
import type { WithdrawalState } from "../../shared/invite";
import type { Hue } from "../ui/badge";

export interface StatusLook {
  hue: Hue;
  icon: LucideIcon;
  text: MessageDescriptor;
}

export interface StatusTable {
  readonly [value: number]: StatusLook;
  readonly other: StatusLook;
}

const unknown: StatusLook = { hue: "grey", icon: CircleHelp, text: msg`未知` };

export const channelStatus: StatusTable = {
  1: { hue: "green", icon: CircleCheck, text: msg`已启用` },
  2: { hue: "grey", icon: CirclePause, text: msg`已禁用` },
  3: { hue: "yellow", icon: TriangleAlert, text: msg`自动禁用` },
  other: unknown,
};

export const tokenStatus: StatusTable = {
  1: { hue: "green", icon: CircleCheck, text: msg`已启用` },
  2: { hue: "red", icon: Ban, text: msg`已禁用` },
  3: { hue: "yellow", icon: Clock, text: msg`已过期` },
  4: { hue: "grey", icon: CircleSlash, text: msg`已耗尽` },
  other: unknown,
};

export const redemptionStatus: StatusTable = {
  1: { hue: "green", icon: CircleCheck, text: msg`未使用` },
  2: { hue: "red", icon: Ban, text: msg`已禁用` },
  3: { hue: "grey", icon: CircleSlash, text: msg`已使用` },
  other: unknown,
};

/** An unused code that has expired. */
export const expiredRedemption: StatusLook = { hue: "yellow", icon: Clock, text: msg`已过期` };

export const withdrawalStatus: Readonly<Record<WithdrawalState, StatusLook>> = {
  pending: { hue: "yellow", icon: Clock, text: msg`待处理` },
  paid: { hue: "green", icon: CircleCheck, text: msg`已支付` },
  refused: { hue: "red", icon: Ban, text: msg`已拒绝` },
};

export const userStatus: StatusTable = {
  1: { hue: "green", icon: CircleCheck, text: msg`已激活` },
  2: { hue: "red", icon: Ban, text: msg`已封禁` },
  3: { hue: "grey", icon: Pause, text: msg`已锁定` },
  other: unknown,
};

export const deletedUser: StatusLook = { hue: "red", icon: Trash2, text: msg`已注销` };

export const roleLooks: StatusTable = {
  1: { hue: "blue", icon: UserRound, text: msg`普通用户` },
  10: { hue: "yellow", icon: UserRoundCog, text: msg`管理员` },
  100: { hue: "orange", icon: ShieldAlert, text: msg`超级管理员` },
  other: { ...unknown, hue: "red" },
};

export const logType: StatusTable = {
  1: { hue: "blue", icon: Wallet, text: msg`充值` },
  2: { hue: "lime", icon: CircleCheck, text: msg`消费` },
  3: { hue: "orange", icon: UserRoundCog, text: msg`管理` },
  4: { hue: "violet", icon: ShieldAlert, text: msg`系统` },
  5: { hue: "red", icon: OctagonX, text: msg`错误` },
  6: { hue: "blue", icon: CornerUpLeft, text: msg`退款` },
  other: unknown,
};

const responseTimeLooks: Record<ReturnType<typeof responseTimeColor>, { hue: Hue; icon: LucideIcon }> = {
  neutral: { hue: "grey", icon: Minus },
  green: { hue: "green", icon: Signal },
  lime: { hue: "lime", icon: SignalHigh },
  yellow: { hue: "yellow", icon: SignalMedium },
  red: { hue: "red", icon: SignalLow },
};

/** Response time of a channel's last test in milliseconds; 0 was never tested. The bars say the same as the colour. */
export const responseTimeLook = (milliseconds: number): { hue: Hue; icon: LucideIcon } =>
  responseTimeLooks[responseTimeColor(milliseconds)];

/** Duration of a call in seconds. */
export function durationHue(seconds: number): Hue {
  return seconds < 101 ? "green" : seconds < 300 ? "orange" : "red";
}

/** Time to the first token in milliseconds; null: from 10 s on it is not shown (C-636 to C-638). */
export function firstTokenHue(milliseconds: number): Hue | null {
  return milliseconds < 3000 ? "green" : milliseconds < 10_000 ? "orange" : null;
}

/** Price ratio of a group. */
export function groupRatioHue(ratio: number): Hue {
  return ratio > 5 ? "red" : ratio > 3 ? "orange" : ratio > 1 ? "blue" : "green";
}
