/**
 * How the states of jobs are shown, and what their actions are called. Both lists use them; unknown values of a vendor
 * are shown as they are.
 */
import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import {
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleX,
  Copy,
  Hourglass,
  LoaderCircle,
  PanelTop,
  Send,
} from "lucide-react";
import { FINAL_STATUSES } from "../../../shared/task";
import type { StatusLook } from "../../components/status";
import type { Hue } from "../../ui/badge";

type Looks = Readonly<Record<string, StatusLook>>;

const unknown: StatusLook = { hue: "grey", icon: CircleHelp, text: msg`未知` };

const statusLooks: Looks = {
  "": { hue: "grey", icon: Send, text: msg`正在提交` },
  NOT_START: { hue: "grey", icon: CircleDashed, text: msg`未启动` },
  SUBMITTED: { hue: "yellow", icon: Send, text: msg`队列中` },
  QUEUED: { hue: "blue", icon: Hourglass, text: msg`排队中` },
  IN_PROGRESS: { hue: "blue", icon: LoaderCircle, text: msg`执行中` },
  MODAL: { hue: "yellow", icon: PanelTop, text: msg`窗口等待` },
  SUCCESS: { hue: "green", icon: CircleCheck, text: msg`成功` },
  FAILURE: { hue: "red", icon: CircleX, text: msg`失败` },
};

/** Answers to a submit; the words are the specification's (C-371). */
const codeLooks: Looks = {
  0: { hue: "yellow", icon: CircleDashed, text: msg`未提交` },
  1: { hue: "green", icon: CircleCheck, text: msg`已提交` },
  21: { hue: "lime", icon: Hourglass, text: msg`等待中` },
  22: { hue: "orange", icon: Copy, text: msg`重复提交` },
};

const found = <V>(table: Readonly<Record<string, V>>, key: string): V | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

export const statusLook = (status: string): StatusLook => found(statusLooks, status) ?? unknown;
export const codeLook = (code: number): StatusLook => found(codeLooks, String(code)) ?? unknown;

/** The statuses as choices of a filter; the empty one is too short-lived to filter by. */
export const STATUS_CHOICES = Object.entries(statusLooks).flatMap(([value, { text }]) =>
  value ? [{ value, text }] : [],
);

const drawingActions: Readonly<Record<string, MessageDescriptor>> = {
  IMAGINE: msg`绘图`,
  UPSCALE: msg`放大`,
  VARIATION: msg`变换`,
  HIGH_VARIATION: msg`强变换`,
  LOW_VARIATION: msg`弱变换`,
  PAN: msg`平移`,
  DESCRIBE: msg`图生文`,
  BLEND: msg`混图`,
  UPLOAD: msg`上传图片`,
  SHORTEN: msg`精简提示词`,
  REROLL: msg`重绘`,
  INPAINT: msg`局部重绘`,
  ZOOM: msg`变焦`,
  CUSTOM_ZOOM: msg`自定义变焦`,
  MODAL: msg`窗口提交`,
  SWAP_FACE: msg`换脸`,
  EDITS: msg`编辑图片`,
  VIDEO: msg`视频`,
};
const taskActions: Readonly<Record<string, MessageDescriptor>> = {
  MUSIC: msg`音乐`,
  LYRICS: msg`歌词`,
  generate: msg`图生视频`,
  textGenerate: msg`文生视频`,
  firstTailGenerate: msg`首尾帧视频`,
  referenceGenerate: msg`参考图视频`,
  remixGenerate: msg`视频改编`,
  BATCH: msg`批处理`,
  RESPONSE: msg`后台响应`,
};

/** The name of an action; undefined for one that is shown as it came. */
export const actionName = (action: string): MessageDescriptor | undefined =>
  found(drawingActions, action) ?? found(taskActions, action);

export const DRAWING_ACTIONS = Object.entries(drawingActions).map(([value, text]) => ({ value, text }));

/** The status is final. */
export const isOver = (status: string): boolean => FINAL_STATUSES.some((final) => final === status);

/** Seconds that a job took: over a minute is red (C-639 to C-641); null while it runs. */
export const tookHue = (seconds: number): Hue => (seconds > 60 ? "red" : "green");

/** "45%" as 45; null for a text that is none. */
export function percentOf(progress: string): number | null {
  const [, number] = /^\s*(\d{1,3}(?:\.\d+)?)\s*%?\s*$/.exec(progress) ?? [];
  return number === undefined ? null : Math.min(100, Number(number));
}
