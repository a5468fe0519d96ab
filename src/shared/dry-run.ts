/** The dry run of GET /api/channel/dry_run: where a call would go, and why. Input, result, and their meaning. */
import * as z from "zod";
import type { ErrorCode } from "./errors";
import type { LimitField, LimitScope } from "./limits";
import type { DisplayPrices } from "./price-display";
import type { ScoreFactors } from "./score-factors";
import type { Text } from "./text";
import type { StepReason } from "./virtual-models";

/** The endpoints that the console offers; any path of the relay is accepted. `{model}` is the model's name. */
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
  /** The caller: a token, else a user, else the signed-in user. 0 = none given. */
  token_id: optionalId,
  user_id: optionalId,
  /** Instead of the caller's own group. */
  group: z.string().trim().max(64).default(""),
  /** The conversation: a call's prompt_cache_key or user. */
  cache_key: z.string().max(1000).default(""),
});
export type DryRunInput = z.output<typeof dryRunInput>;

/**
 * ready: may be selected in its turn. cooling: in cooldown after a failure, tried last. probing: its cooldown is over
 * and one call probes it. limited: at one of its limits, skipped. unsupported: its type does not serve the endpoint.
 * draining: takes no new calls. disabled: stored for this model and group, but not enabled.
 */
export type DryRunStanding = "ready" | "cooling" | "probing" | "limited" | "draining" | "unsupported" | "disabled";

export const dryRunStandings: Readonly<Record<DryRunStanding, Text>> = {
  ready: { zh: "可用", en: "Ready" },
  cooling: { zh: "冷却中", en: "Cooling down" },
  probing: { zh: "正在试探恢复", en: "Being probed" },
  limited: { zh: "已达限额", en: "At its limit" },
  draining: { zh: "正在排空", en: "Draining" },
  unsupported: { zh: "不支持此接口", en: "Does not serve this endpoint" },
  disabled: { zh: "未启用", en: "Not enabled" },
};

/** Why a call skipped a channel, as its row keeps it: the states above, and reasons that only a call has. */
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
  /** The group in which it would be tried. */
  group: string;
  priority: number;
  weight: number;
  /**
   * Its turn, from 1: the channels of a turn are chosen from together; the next turn comes when all of them failed. 0 =
   * never tried.
   */
  turn: number;
  /** Its probability to be the first of its turn, 0 to 1. */
  share: number;
  standing: DryRunStanding;
  /** Milliseconds until it is tried again, for cooling and limited. */
  remaining_ms: number;
  /** The model's name at the channel. */
  upstream_model: string;
  /** The upstream address, without query; '' when it is not called. */
  url: string;
  /** Its dialect is not the caller's. */
  translated: boolean;
  /** Routing by score: what is known of it; absent: by weight. */
  score?: ScoreFactors;
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
  /** The operation of the endpoint, and the caller's dialect; '' when there is no such endpoint. */
  operation: string;
  dialect: string;
  /** The group of the call; with "auto" its groups, in order. */
  group: string;
  groups: string[];
  /** What would refuse the call, most important first; [] when nothing would. */
  problems: { code: ErrorCode; message: string }[];
  /** In the order of their turns; those that are never tried last. */
  channels: DryRunChannel[];
  /** The channel of the conversation by affinity, which comes first; 0 = none. */
  sticky: number;
  /** USD in the group of the call (with "auto" the highest price); null without a price. */
  price: DisplayPrices | null;
  limits: DryRunLimit[];
  /** A virtual model: its steps as configured, each with the dry run of its model; `channels` is then empty. */
  steps?: DryRunStep[];
}

/** A step of a virtual model. */
export interface DryRunStep {
  /** The reasons for which a call comes here from an earlier step. */
  on: StepReason[];
  /** null: the steps are tried in their order. */
  weight: number | null;
  /** As set, else as known of the model; 0 = only the channels decide. */
  max_input_tokens: number;
  run: DryRun;
}
