/**
 * Members of a call for which the vendor charges more per token: a faster tier, a certain region. Weir's plain prices
 * do not include them, only rules do, so a channel passes them on only if its operator allows it (shared/channel-
 * setting). Sources: types of the `openai` SDK 7.55 (service_tier), @anthropic-ai/sdk 1.11 (speed, inference_geo),
 * @google/genai 3.1 (serviceTier); the price pages of OpenAI (fast mode, formerly priority processing) and Anthropic
 * (fast mode, data residency); read November 2026.
 */
import type { ChannelSetting } from "../../../shared/channel-setting";
import { SERVICE_MEMBERS } from "../../../shared/price-rules";
import { isObject } from "../../lib/json-bytes";
import type { Warning, WireObject } from "../../protocol/chat-events";

interface Tier {
  /** The setting that allows it. */
  readonly allowed: "allow_service_tier" | "allow_speed" | "allow_inference_geo";
  /** Values that cost no more than the model's price. */
  readonly ordinary: ReadonlySet<unknown>;
}

const service: Tier = {
  allowed: "allow_service_tier",
  ordinary: new Set(["auto", "default", "standard", "standard_only", "unspecified", "flex", "on_demand", null]),
};
const tiers: Readonly<Record<(typeof SERVICE_MEMBERS)[number], Tier>> = {
  service_tier: service,
  serviceTier: service,
  speed: { allowed: "allow_speed", ordinary: new Set(["standard", null]) },
  inference_geo: { allowed: "allow_inference_geo", ordinary: new Set(["global", null]) },
};

/** Whether a call, or its `extra_body`, says anything of its service; most do not. */
export const choosesService = (body: WireObject): boolean =>
  SERVICE_MEMBERS.some((name) => body[name] !== undefined) ||
  (isObject(body.extra_body) && choosesService(body.extra_body));

/**
 * The members of a call that the channel does not pass on, those of `extra_body` (which some vendors read like the
 * call's own) as `extra_body.<name>`; most calls have none.
 */
export function surchargedFields(body: WireObject, setting: ChannelSetting): string[] {
  const own = surchargedIn(body, setting);
  if (!isObject(body.extra_body)) return own;
  return [...own, ...surchargedIn(body.extra_body, setting).map((name) => IN_EXTRA + name)];
}

const IN_EXTRA = "extra_body.";

function surchargedIn(object: WireObject, setting: ChannelSetting): string[] {
  return SERVICE_MEMBERS.filter((name) => {
    const value = object[name];
    const tier = tiers[name];
    return (
      value !== undefined &&
      setting[tier.allowed] !== true &&
      !tier.ordinary.has(typeof value === "string" ? value.toLowerCase() : value)
    );
  });
}

/** The call without those members, with a warning for each. */
export function without(body: WireObject, members: readonly string[]): { body: WireObject; warnings: Warning[] } {
  const left = (object: WireObject, prefix: string): WireObject =>
    Object.fromEntries(Object.entries(object).filter(([name]) => !members.includes(prefix + name)));
  const rest = left(body, "");
  const kept = isObject(rest.extra_body) ? { ...rest, extra_body: left(rest.extra_body, IN_EXTRA) } : rest;
  return { body: kept, warnings: members.map((detail) => ({ code: "dropped_field", detail })) };
}
