/** The named parts of a channel's key. */
import { type KeyParts, splitKey } from "../../../shared/channel-types";
import type { PoolChannel } from "../../contracts/channel";
import { tokenRefused } from "./provider-context";

/** Throws Failed (bad credentials) where the key has not the form of its type; never repeats the key. */
export function keyParts({ type, key }: PoolChannel): KeyParts {
  const parts = splitKey(type.id, key);
  if (!parts) throw tokenRefused(401, `the key has not the form ${type.key_format.hint.en}`);
  return parts;
}
