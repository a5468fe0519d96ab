/** The named parts of a channel's key. */
import { type KeyParts, splitKey } from "../../../shared/channel-types";
import type { PoolChannel } from "../../contracts/channel";
import { tokenRefused } from "./provider-context";

/**
 * Throws Failed (bad credentials) when the key does not have the format of its type; the error never contains the key.
 */
export function keyParts({ type, key }: PoolChannel): KeyParts {
  const parts = splitKey(type.id, key);
  if (!parts) throw tokenRefused(401, `the key has not the form ${type.key_format.hint.en}`);
  return parts;
}
