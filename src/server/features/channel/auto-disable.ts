/**
 * Automatic changes of a channel's status. Enabled (1) becomes auto-disabled (3) only when
 * AutomaticDisableChannelEnabled and the channel's auto_ban allow it; only 3 becomes 1 again, when
 * AutomaticEnableChannelEnabled allows it; disabled by hand (2) is never touched (C-330 to C-333). Each change is one
 * conditional statement with its log row of type 4, so many failures at once make one change and one row.
 */
import { and, eq, ne } from "drizzle-orm";
import { CHANNEL_STATUS } from "../../../shared/channel";
import { MAX_REASON, storedReason, statusInfo, type StatusReason } from "../../../shared/channel-operations";
import type { EventName } from "../../../shared/events";
import type { TextParams } from "../../../shared/text";
import { type Services, seconds } from "../../contracts/context";
import { run } from "../../db/transaction";
import { withoutNul } from "../../db/sql";
import { credentialId } from "../../relay/providers/credential-id";
import type { PoolChannel } from "../../contracts/channel";
import { announceChange } from "./announce";
import { disableKey, enableKey } from "./keys";
import type { ChannelTrouble, Evidence } from "../../contracts/channel-trouble";

/** A channel, or one of its several keys. */
export interface Suspect {
  id: number;
  key_row?: PoolChannel["key_row"];
}

/**
 * Disables a channel for `reason`, or the one of its keys that failed, if the options and its auto_ban allow. True when
 * this call changed it.
 */
export async function autoDisable(
  services: Services,
  { id, key_row }: Suspect,
  { code, values }: StatusReason,
  evidence: Evidence = {},
): Promise<boolean> {
  return services.options.get("AutomaticDisableChannelEnabled")
    ? disableChannel(services, { id, key_row }, { code, values }, evidence)
    : false;
}

/**
 * The same whatever the options say, for a key that its vendor has refused for good. Only the channel's auto_ban may
 * forbid it.
 */
export async function disableChannel(
  services: Services,
  { id, key_row }: Suspect,
  { code, values }: StatusReason,
  evidence: Evidence = {},
): Promise<boolean> {
  const { channels } = services.db.t;
  const reason: StatusReason = { code, values: Object.fromEntries(Object.entries(values).map(short)) };
  return key_row
    ? await disableKey(services, id, key_row.id, reason, evidence)
    : await change(services, {
        set: { status: CHANNEL_STATUS.auto_disabled, other_info: statusInfo(reason, seconds(services)) },
        where: and(eq(channels.id, id), eq(channels.status, CHANNEL_STATUS.enabled), ne(channels.auto_ban, 0)),
        event: "channel_auto_disabled",
        params: { reason: storedReason(reason) },
        other: { ...evidence },
      });
}

/**
 * Enables a channel that was disabled automatically, and the key that its test passed with, if the option allows. True
 * when this call changed it.
 */
export async function autoEnable(
  services: Services,
  { id, key_row }: Suspect,
  evidence: Evidence = {},
): Promise<boolean> {
  if (!services.options.get("AutomaticEnableChannelEnabled")) return false;
  const came = key_row ? await enableKey(services, id, key_row.id) : false;
  const { channels } = services.db.t;
  const changed = await change(services, {
    set: { status: CHANNEL_STATUS.enabled, other_info: "" },
    where: and(eq(channels.id, id), eq(channels.status, CHANNEL_STATUS.auto_disabled)),
    event: "channel_auto_enabled",
    other: { ...evidence },
  });
  return changed || came;
}

const short = ([name, value]: [string, string | number]): [string, string | number] => [
  name,
  typeof value === "string" ? withoutNul(value).slice(0, MAX_REASON) : value,
];

interface Change {
  set: { status: number; other_info: string };
  where: ReturnType<typeof and>;
  event: EventName;
  params?: TextParams;
  other: Record<string, unknown>;
}

async function change(services: Services, { set, where, event, params, other }: Change): Promise<boolean> {
  const { channels } = services.db.t;
  const changed = await services.db.tx(function* (q) {
    const [row] = yield* run(
      q.update(channels).set(set).where(where).returning({ id: channels.id, name: channels.name }),
    );
    if (!row) return undefined;
    yield* services.events.record(q, {
      type: "system",
      channel: row,
      event,
      params: { id: row.id, name: row.name, ...params },
      other,
    });
    yield* announceChange(services, q, row.id);
    return row;
  });
  if (!changed) return false;
  services.log.warn({ channel: changed.id, event }, "a channel's status was changed automatically");
  return true;
}

/**
 * Whether this failure disables a channel: by the failure table, or by a phrase of AutomaticDisableKeywords (case
 * ignored).
 */
export function disables(
  { options }: Pick<Services, "options">,
  { disable, message, quoted }: Pick<ChannelTrouble, "disable" | "message" | "quoted">,
): boolean {
  if (disable) return true;
  if (message === "") return false;
  const said = message.toLowerCase();
  return options
    .get("AutomaticDisableKeywords")
    .some((phrase) => said.includes(phrase.toLowerCase()) && !quoted?.(phrase));
}

/**
 * Called by the relay after every failed attempt (some vendors call an empty account a bad request). Returns at once
 * and never throws; the work is done in the background, once per channel at a time.
 */
export function channelWatch(services: Services): (channel: PoolChannel, trouble: ChannelTrouble) => void {
  const busy = new Set<number | string>();
  return (channel, trouble) => {
    const place = credentialId(channel);
    if (!channel.auto_ban || busy.has(place)) return;
    if (!services.options.get("AutomaticDisableChannelEnabled") || !disables(services, trouble)) return;
    busy.add(place);
    const { status, message, request_id, model } = trouble;
    const reason: StatusReason = { code: "channel_call_refused", values: { status, detail: message } };
    const work = autoDisable(services, channel, reason, { request_id, model });
    services.background.track(
      "auto-disable",
      work.finally(() => busy.delete(place)),
    );
  };
}
