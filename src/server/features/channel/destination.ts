/**
 * Where a channel's calls go, and its key with them. A stored key is never sent to another destination: a change of a
 * channel's address needs its key again.
 */
import { isMultiKeyMode } from "../../../shared/channel-keys";
import { planModels } from "../../../shared/channel-types";
import type { ChannelRow } from "../../db/schema";
import type { Secrets } from "../../lib/secrets";
import { addressOf } from "../../relay/providers/dispatch";
import type { PoolChannel } from "../../contracts/channel";
import { readChannel } from "./pool";

/** Scheme, host and port of an address; an invalid address equals itself only. */
const originOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : address);

/** Every origin that is called for these models, by any operation, and the proxy between. */
function* destinations(channel: PoolChannel, models: readonly string[]): Generator<string> {
  const { type, base_url, setting, model_mapping } = channel;
  const via = setting.proxy ?? "";
  const own = planModels(base_url) ?? base_url;
  if (own !== "") yield `${originOf(own)} ${via}`;
  // An ordinary vendor has one host for all its models.
  let said = own !== "";
  for (const model of type.custom || type.complete_url ? models : models.slice(0, 1)) {
    for (const key of type.operations) {
      const address = addressOf(channel, { key }, model_mapping.get(model) ?? model);
      if (address === undefined) continue;
      said = true;
      yield `${originOf(address)} ${via}`;
    }
  }
  // The address is unknown: only a channel of the same type goes there too.
  if (!said) yield `type ${type.id} ${via}`;
}

/** Whether calls of the channel `after` go where none of `before` went. An unreadable setting may go anywhere. */
export function goesElsewhere(secrets: Secrets, before: ChannelRow, after: ChannelRow): boolean {
  const [old, now] = [before, after].map((row) => readChannel(row, secrets, () => undefined));
  if (!old || !now)
    return (
      before.type !== after.type ||
      before.base_url !== after.base_url ||
      before.other !== after.other ||
      before.setting !== after.setting
    );
  const same =
    old.type === now.type &&
    old.base_url === now.base_url &&
    old.other === now.other &&
    old.setting.proxy === now.setting.proxy;
  const models = [...new Set([...old.models, ...now.models])];
  // Under one address only another name of a model may lead elsewhere.
  const changed = same
    ? models.filter((model) => old.model_mapping.get(model) !== now.model_mapping.get(model))
    : models;
  if (same && changed.length === 0) return false;
  const known = new Set(destinations(old, models));
  return destinations(now, changed).some((destination) => !known.has(destination));
}

/** Whether a channel has a key that must not be sent elsewhere. */
export function holdsKey(secrets: Secrets, { multi_key_mode, key_cipher }: ChannelRow): boolean {
  if (isMultiKeyMode(multi_key_mode)) return true;
  try {
    return secrets.decrypt("channel-key", key_cipher) !== "";
  } catch {
    return true;
  }
}
