/**
 * Where a channel's calls go, and its key with them. A key that is stored never goes anywhere else: who changes the address
 * of a channel enters its key again (issue 10).
 */
import { splitList } from "../../../shared/channel";
import { isMultiKeyMode } from "../../../shared/channel-keys";
import { canonicalModel, planModels } from "../../../shared/channel-types";
import type { ChannelRow } from "../../db/schema";
import type { Secrets } from "../../lib/secrets";
import { addressOf } from "../../relay/providers/speak";
import type { PoolChannel } from "../../relay/seams";
import { readChannel } from "./pool";

/** The columns that decide where a call goes. */
const DECIDING = ["type", "base_url", "other", "setting", "model_mapping"] as const satisfies readonly (keyof ChannelRow)[];

/** Scheme, host and port of an address; what is no address is only equal to itself. */
const originOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : address);

/** Every origin that is called for these models, by whichever operation, and the proxy between. */
function destinations(channel: PoolChannel, models: Iterable<string>): Set<string> {
  const { type, base_url, setting, model_mapping } = channel;
  const addresses = [
    // Without an address the type says where calls go, from the key or by constants of its own.
    base_url === "" ? `type ${type.id}` : base_url, planModels(base_url),
    ...[...models].flatMap((model) => {
      const name = model_mapping.get(model) ?? model;
      return type.operations.map((key) => addressOf(channel, { key }, name));
    }),
  ];
  const via = setting.proxy ?? "";
  return new Set(addresses.flatMap((address) => (address === undefined ? [] : [`${originOf(address)} ${via}`])));
}

/** Whether calls of the channel `after` go where none of `before` went. What cannot be read may go anywhere. */
export function goesElsewhere(secrets: Secrets, before: ChannelRow, after: ChannelRow): boolean {
  if (DECIDING.every((column) => before[column] === after[column])) return false;
  const [old, now] = [before, after].map((row) => readChannel(row, secrets, () => undefined));
  if (!old || !now) return true;
  const models = new Set([before, after].flatMap((row) => splitList(row.models).map(canonicalModel)));
  const known = destinations(old, models);
  return [...destinations(now, models)].some((destination) => !known.has(destination));
}

/** Whether a channel has a key that is to be kept where it is. */
export function holdsKey(secrets: Secrets, { multi_key_mode, key_cipher }: ChannelRow): boolean {
  if (isMultiKeyMode(multi_key_mode)) return true;
  try {
    return secrets.decrypt("channel-key", key_cipher) !== "";
  } catch {
    return true;
  }
}
