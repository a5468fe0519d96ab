/** The audit log: its administrative acts, and how it is read. */
import * as z from "zod";
import { listSize } from "./paging";
import type { Text } from "./text";

/** `thing.act`; rows are filtered by the thing. */
export const AUDIT_ACTIONS = {
  "user.create": { zh: "创建用户", en: "Create user" },
  "user.update": { zh: "修改用户", en: "Change user" },
  "user.quota": { zh: "调整额度", en: "Adjust quota" },
  "user.promote": { zh: "提升为管理员", en: "Promote to administrator" },
  "user.demote": { zh: "降级为普通用户", en: "Demote to user" },
  "user.enable": { zh: "启用用户", en: "Enable user" },
  "user.disable": { zh: "封禁用户", en: "Ban user" },
  "user.delete": { zh: "删除用户", en: "Delete user" },
  "user.export": { zh: "导出用户数据", en: "Export user data" },
  "user.erase": { zh: "清除个人数据", en: "Erase personal data" },
  "user.factor": { zh: "修改两步验证", en: "Change second factors" },
  "user.rescue": { zh: "命令行救援", en: "Rescue by command" },
  "channel.create": { zh: "创建渠道", en: "Create channel" },
  "channel.update": { zh: "修改渠道", en: "Change channel" },
  "channel.delete": { zh: "删除渠道", en: "Delete channel" },
  "channel.keys": { zh: "修改渠道密钥", en: "Change channel keys" },
  "channel.rotate": { zh: "轮换渠道密钥", en: "Rotate channel key" },
  "channel.reveal": { zh: "查看渠道密钥", en: "Reveal channel keys" },
  "channel.drain": { zh: "排空渠道", en: "Drain channel" },
  "channel.resume": { zh: "结束渠道排空", en: "Resume channel" },
  "channel.batch": { zh: "批量修改渠道", en: "Change channels" },
  "channel.repair": { zh: "修复渠道数据", en: "Repair channels" },
  "channel.test": { zh: "测试全部渠道", en: "Test all channels" },
  "token.quota": { zh: "增加令牌额度", en: "Raise token quota" },
  "redemption.create": { zh: "创建兑换码", en: "Create redemption codes" },
  "redemption.update": { zh: "修改兑换码", en: "Change redemption code" },
  "redemption.delete": { zh: "删除兑换码", en: "Delete redemption codes" },
  "order.complete": { zh: "补单", en: "Complete order" },
  "withdrawal.settle": { zh: "处理提现", en: "Settle withdrawal" },
  "call.refund": { zh: "退还调用费用", en: "Refund call" },
  "call.refund_undo": { zh: "撤销退款", en: "Undo refund" },
  "task.cancel": { zh: "取消任务", en: "Cancel task" },
  "incident.seen": { zh: "查看告警", en: "See incidents" },
  "incident.mute": { zh: "静音告警", en: "Mute incident" },
  "alert.update": { zh: "修改通知对象", en: "Change alert target" },
  "alert.delete": { zh: "删除通知对象", en: "Delete alert target" },
  "instance.drain": { zh: "排空实例", en: "Drain instance" },
  "instance.resume": { zh: "结束实例排空", en: "Resume instance" },
  "data.import": { zh: "迁移数据", en: "Import data" },
  "data.export": { zh: "导出数据", en: "Export data" },
  "option.update": { zh: "修改设置", en: "Change setting" },
} as const satisfies Record<string, Text>;
export type AuditAction = keyof typeof AUDIT_ACTIONS;

/** Things that acts change. */
export const AUDIT_TARGETS = {
  user: { zh: "用户", en: "User" },
  channel: { zh: "渠道", en: "Channel" },
  token: { zh: "令牌", en: "Token" },
  redemption: { zh: "兑换码", en: "Redemption code" },
  order: { zh: "订单", en: "Order" },
  withdrawal: { zh: "提现", en: "Withdrawal" },
  call: { zh: "调用", en: "Call" },
  task: { zh: "任务", en: "Task" },
  incident: { zh: "告警", en: "Incident" },
  alert: { zh: "通知对象", en: "Alert target" },
  instance: { zh: "实例", en: "Instance" },
  data: { zh: "数据", en: "Data" },
  option: { zh: "设置", en: "Setting" },
} as const satisfies Record<string, Text>;

/** A higher total is reported as this one. */
export const AUDIT_TOTAL_MAX = 10_000;

export const auditListInput = z.object({
  page: z.int().min(1).max(1_000_000).default(1),
  page_size: listSize,
  /** Exact name of the acting user. */
  actor: z.string().max(100).default(""),
  action: z.string().max(60).default(""),
  target_type: z.string().max(60).default(""),
  target_id: z.string().max(100).default(""),
  /** Epoch seconds. */
  start: z.int().min(0).optional(),
  end: z.int().min(0).optional(),
});

export interface AuditView {
  id: number;
  created_at: number;
  actor_id: number;
  actor_name: string;
  /** One of AUDIT_ACTIONS, or of an older release. */
  action: string;
  target_type: string;
  target_id: string;
  /** JSON or "". */
  before: string;
  after: string;
  ip: string;
  request_id: string;
}
