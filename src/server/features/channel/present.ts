/** What may leave: everything but the key. */
import type { ChannelView } from "../../../shared/channel";
import type { ChannelRow } from "../../db/schema";

export function presentChannel(row: ChannelRow): ChannelView {
  const { key_cipher: _cipher, key_hash: _hash, ...rest } = row;
  return { ...rest, key: "" };
}
