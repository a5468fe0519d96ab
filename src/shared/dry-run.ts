/** The dry run: where a call would go, and why. Input, answer, and what they mean. GET /api/channel/dry_run. */
import * as z from "zod";
import type { ErrorCode } from "./errors";
import type { LimitField, LimitScope } from "./limits";
import type { DisplayPrices } from "./price-display";
import type { Text } from "./text";

/**
 * The endpoints that the console offers; any path of the relay is understood. `{model}` stands for the model's name.
 */
export const DRY_RUN_ENDPOINTS = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/messages",
  "/v1beta/models/{model}:generateContent",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/images/generations",
  "/v1/audio/speech",
  "/v1/audio/transcriptions",
  "/v1/moderations",
  "/v1/rerank",
] as const;

/** A field that is left empty, as a form sends it, is absent. */
const optionalId = z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0);
export const dryRunInput = z.object({
  model: z.string().trim().min(1).max(255),
  endpoint: z.string().trim().max(500).default(DRY_RUN_ENDPOINTS[0]),
  stream: z.boolean().default(false),
  /** Whose call: a token, else a user, else the one who asks. 0 = none named. */
  token_id: optionalId,
  user_id: optionalId,
  /** Instead of the caller's own group. */
  group: z.string().trim().max(64).default(""),
  /** The conversation: what a call names as prompt_cache_key or user. */
  cache_key: z.string().max(1000).default(""),
});
export type DryRunInput = z.output<typeof dryRunInput>;

/**
 * ready: drawn from in its turn. cooling: left alone after a failure, tried last. probing: its pause is over and one
 * call finds out. limited: at a limit of its own, passed over. unsupported: its type does not serve the endpoint.
 * disabled: stored for this model and group, but not enabled.
 */
export type DryRunStanding = "ready" | "cooling" | "probing" | "limited" | "unsupported" | "disabled";

export const dryRunStandings: Readonly<Record<DryRunStanding, Text>> = {
  ready: { zh: "可用", en: "Ready" },
  cooling: { zh: "冷却中", en: "Cooling down" },
  probing: { zh: "正在试探恢复", en: "Being probed" },
  limited: { zh: "已达限额", en: "At its limit" },
  unsupported: { zh: "不支持此接口", en: "Does not serve this endpoint" },
  disabled: { zh: "未启用", en: "Not enabled" },
};

/** Why a call passed a channel over, as its row keeps it: what a dry run can tell, and what only a call knows. */
export const skipReasons: Readonly<Record<string, Text>> = {
  ...dryRunStandings,
  elsewhere: { zh: "上文或文件在其他渠道", en: "What the call refers to is elsewhere" },
  too_long: { zh: "输入过长", en: "Input too long" },
};

export interface DryRunChannel {
  id: number;
  name: string;
  type: number;
  /** The channel's status, see shared/channel.ts. */
  status: number;
  /** The group that it would be tried in. */
  group: string;
  priority: number;
  weight: number;
  /**
   * Its turn, from 1: those of one turn are drawn from together, the next turn comes when all of them failed. 0 = never
   * tried.
   */
  turn: number;
  /** Its chance to be the first of its turn, 0 to 1. */
  share: number;
  standing: DryRunStanding;
  /** Milliseconds until it is asked again, for cooling and limited. */
  remaining_ms: number;
  /** The model's name there. */
  upstream_model: string;
  /** Where it is asked, without query; '' when it is not. */
  url: string;
  /** Its dialect is not the caller's. */
  translated: boolean;
}

export interface DryRunLimit {
  scope: LimitScope;
  of: string | number;
  kind: LimitField | "requests" | "successful_requests";
  limit: number;
  remaining: number;
  reset_seconds: number;
}

export interface DryRun {
  model: string;
  endpoint: string;
  /** What serves the endpoint, and the caller's dialect; '' when there is no such endpoint. */
  operation: string;
  dialect: string;
  /** The group that counts; with "auto" those it stands for, in order. */
  group: string;
  groups: string[];
  /** What would stop the call, most important first; [] when nothing would. */
  problems: { code: ErrorCode; message: string }[];
  /** In the order of their turns; those never tried last. */
  channels: DryRunChannel[];
  /** The conversation's own channel, which comes first; 0 = none. */
  sticky: number;
  /** USD in the group that counts (with "auto" the dearest); null without a price. */
  price: DisplayPrices | null;
  limits: DryRunLimit[];
}
