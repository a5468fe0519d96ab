/** What may leave the server of a channel; never its key, and the secrets of its settings masked. */
import { CHANNEL_FIELDS, type ChannelView } from "../../../shared/channel";
import { pick } from "../../../shared/pick";
import type { ChannelRow } from "../../db/schema";
import { maskColumns } from "./sealed";

export const presentChannel = (row: ChannelRow): ChannelView => ({
  ...maskColumns(pick(row, CHANNEL_FIELDS)),
  key: "",
});
