/**
 * What happens to channels, money, jobs and nodes without being a call: one entry for each event. The log stores an
 * event's name and parameters and renders the text in its reader's language; notices and metrics read the same names.
 */
import type { Text } from "./text";

/** What an event is about. */
export const EVENT_SUBJECTS = ["channel", "money", "job", "node"] as const;
export type EventSubject = (typeof EVENT_SUBJECTS)[number];

/** `warning`: an operator should look at it. */
export type EventLevel = "info" | "warning";

interface EventFact extends Text {
  readonly subject: EventSubject;
  readonly level: EventLevel;
}

const event = (subject: EventSubject, zh: string, en: string, level: EventLevel = "info"): EventFact => ({
  subject,
  level,
  zh,
  en,
});

/** Templates of shared/text.ts. `{channels}` is a list of some of them, `{count}` the number of all. */
export const EVENTS = {
  channel_auto_disabled: event(
    "channel",
    "渠道「{name}」（#{id}）已被自动禁用：{reason}",
    "Channel “{name}” (#{id}) was disabled automatically: {reason}",
    "warning",
  ),
  channel_key_auto_disabled: event(
    "channel",
    "渠道「{name}」（#{id}）的密钥 #{key_id} 已被自动禁用：{reason}",
    "Key #{key_id} of channel “{name}” (#{id}) was disabled automatically: {reason}",
    "warning",
  ),
  channel_key_retired: event(
    "channel",
    "渠道「{name}」（#{id}）的旧密钥 #{key_id} 已停用：轮换的重叠期结束",
    "The old key #{key_id} of channel “{name}” (#{id}) serves no more: the overlap of its rotation is over",
  ),
  channel_key_kept: event(
    "channel",
    "渠道「{name}」（#{id}）的旧密钥 #{key_id} 继续使用：轮换的重叠期已结束，但没有其他启用的密钥",
    "The old key #{key_id} of channel “{name}” (#{id}) goes on serving: the overlap of its rotation is over, but no other key is enabled",
    "warning",
  ),
  channel_auto_enabled: event(
    "channel",
    "渠道「{name}」（#{id}）测试通过，已被自动启用",
    "Channel “{name}” (#{id}) passed its test and was enabled automatically",
  ),
  channel_tested: event("channel", "模型测试", "Channel test"),
  channels_repaired: event(
    "channel",
    "修复数据库一致性：检查 {checked} 个渠道，修复 {repaired} 个，{problems} 处需要人工处理",
    "Repair of the channels: {checked} checked, {repaired} repaired, {problems} left for you to look at",
  ),
  channels_deleted: event(
    "channel",
    "批量删除渠道（{count} 个渠道）：{channels}",
    "Channels deleted ({count}): {channels}",
  ),
  disabled_channels_deleted: event(
    "channel",
    "删除已禁用的渠道（{count} 个渠道）：{channels}",
    "Disabled channels deleted ({count}): {channels}",
  ),
  channels_enabled: event(
    "channel",
    "批量启用渠道（{count} 个渠道）：{channels}",
    "Channels enabled ({count}): {channels}",
  ),
  channels_disabled: event(
    "channel",
    "批量禁用渠道（{count} 个渠道）：{channels}",
    "Channels disabled ({count}): {channels}",
  ),
  channels_edited: event(
    "channel",
    "批量编辑渠道（{count} 个渠道）：{channels}",
    "Channels edited ({count}): {channels}",
  ),
  channels_tagged: event(
    "channel",
    "设置标签「{tag}」（{count} 个渠道）：{channels}",
    "Tag “{tag}” set ({count} channels): {channels}",
  ),
  channels_untagged: event(
    "channel",
    "移除标签（{count} 个渠道）：{channels}",
    "Tag removed ({count} channels): {channels}",
  ),
  tag_enabled: event(
    "channel",
    "启用标签「{tag}」（{count} 个渠道）：{channels}",
    "Tag “{tag}” enabled ({count} channels): {channels}",
  ),
  tag_disabled: event(
    "channel",
    "禁用标签「{tag}」（{count} 个渠道）：{channels}",
    "Tag “{tag}” disabled ({count} channels): {channels}",
  ),
  tag_edited: event(
    "channel",
    "编辑标签「{tag}」（{count} 个渠道）：{channels}",
    "Tag “{tag}” edited ({count} channels): {channels}",
  ),

  quota_adjusted: event(
    "money",
    "管理员将额度从 {before} 调整为 {balance}（{change}）[：{note}]",
    "An administrator changed the quota from {before} to {balance} ({change})[: {note}]",
  ),
  order_paid: event(
    "money",
    "在线充值成功，到账 {quota:units}，支付 {money} {currency}，订单号 {trade_no}",
    "Online top-up: {quota:units} credited, {money} {currency} paid, order {trade_no}",
  ),
  order_completed: event(
    "money",
    "管理员补单，到账 {quota:units}，支付 {money} {currency}，订单号 {trade_no}",
    "An administrator completed the order: {quota:units} credited, {money} {currency} paid, order {trade_no}",
  ),
  order_completed_for: event(
    "money",
    "为用户 ID {user_id} 补单，订单号 {trade_no}",
    "Order {trade_no} of user {user_id} completed by hand",
  ),
  redeemed: event(
    "money",
    "通过兑换码充值 {quota:units}，兑换码 ID {redemption_id}",
    "Redemption code {redemption_id} redeemed: {quota:units}",
  ),
  earnings_transferred: event(
    "money",
    "邀请额度划转 {quota:units} 到余额",
    "{quota:units} of invitation earnings moved to the balance",
  ),
  withdrawal_asked: event("money", "申请提现 {quota:units}", "Withdrawal of {quota:units} requested"),
  withdrawal_paid: event("money", "提现 {quota:units} 已支付", "The withdrawal of {quota:units} was paid"),
  withdrawal_refused: event(
    "money",
    "提现 {quota:units} 被拒绝，已退回邀请额度",
    "The withdrawal of {quota:units} was refused and is back among the invitation earnings",
  ),
  registration_reward: event("money", "新用户注册赠送 {quota:units}", "{quota:units} for registering"),
  invitee_reward: event("money", "使用邀请码赠送 {quota:units}", "{quota:units} for using an invitation code"),
  inviter_reward: event(
    "money",
    "邀请用户 {invitee_id} 赠送 {quota:units}",
    "{quota:units} for inviting user {invitee_id}",
  ),
  rebate: event(
    "money",
    "被邀请用户 {invitee_id} 充值，获得返利 {quota:units}",
    "User {invitee_id}, whom you invited, topped up: a rebate of {quota:units}",
  ),
  call_refunded: event(
    "money",
    "管理员为调用 {charge_id} 退还 {quota:units}[：{note}]",
    "An administrator refunded {quota:units} of call {charge_id}[: {note}]",
  ),
  call_refund_undone: event(
    "money",
    "管理员撤销了为调用 {charge_id} 退还的 {quota:units}",
    "An administrator took back the refund of {quota:units} for call {charge_id}",
  ),

  job_failed: event("job", "任务 {task_id} 失败，退还额度", "Job {task_id} failed, its quota is given back"),
  job_cost_less: event(
    "job",
    "任务 {task_id} 按实际用量结算，退还差额",
    "Job {task_id} cost less than was charged, the difference is given back",
  ),
  job_cost_more: event(
    "job",
    "任务 {task_id} 按实际用量结算，补扣差额",
    "Job {task_id} cost more than was charged, the difference is charged",
  ),

  node_lost: event(
    "node",
    "实例 {instance}（版本 {version}）没有正常退出就停止了响应，最后一次心跳在 {seconds} 秒前；其未结束的调用由其他实例结清",
    "Instance {instance} (version {version}) fell silent without a shutdown, its last heartbeat {seconds} s ago; the others end its calls",
    "warning",
  ),
  node_back: event(
    "node",
    "实例 {instance} 有 {seconds} 秒未能写入数据库，现已恢复",
    "Instance {instance} could not write to the database for {seconds} s and is back",
    "warning",
  ),
} as const satisfies Record<string, EventFact>;

export type EventName = keyof typeof EVENTS;

export const isEventName = (code: string): code is EventName => Object.hasOwn(EVENTS, code);
