/** What may leave the server of a channel; never its key. */
import { CHANNEL_FIELDS, type ChannelView } from "../../../shared/channel";
import { pick } from "../../../shared/pick";
import type { ChannelRow } from "../../db/schema";

export const presentChannel = (row: ChannelRow): ChannelView => ({ ...pick(row, CHANNEL_FIELDS), key: "" });
