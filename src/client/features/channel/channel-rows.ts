/** The rows of the channel list: channels, and in tag mode tags with the channels of those that are unfolded. */
import type { ChannelView } from "../../../shared/channel";
import { summarizeTag, type TagPage, type TagSummary } from "../../../shared/channel-operations";

export interface ChannelListRow {
  kind: "channel";
  /** The channel's id as the address has it. */
  id: string;
  channel: ChannelView;
  /** Stands below its tag. */
  child: boolean;
}

export interface TagListRow {
  kind: "tag";
  id: string;
  tag: string;
  channels: readonly ChannelView[];
  summary: TagSummary;
  unfolded: boolean;
}

export type ListRow = ChannelListRow | TagListRow;

const rowOf = (channel: ChannelView, child = false): ChannelListRow => ({
  kind: "channel",
  id: String(channel.id),
  channel,
  child,
});

/** The rows of a plain list. */
export function plainRows(channels: readonly ChannelView[]): ListRow[] {
  return channels.map((channel) => rowOf(channel));
}

/** The rows of tag mode: each tag, its channels when it is unfolded, then the channels without a tag (C-074). */
export function tagRows(
  { tags, untagged }: Pick<TagPage, "tags" | "untagged">,
  unfolded: ReadonlySet<string>,
): ListRow[] {
  const grouped = tags.flatMap(({ tag, channels }): ListRow[] => {
    const open = unfolded.has(tag);
    const head: TagListRow = {
      kind: "tag",
      id: `tag:${tag}`,
      tag,
      channels,
      summary: summarizeTag(channels),
      unfolded: open,
    };
    return open ? [head, ...channels.map((channel) => rowOf(channel, true))] : [head];
  });
  return [...grouped, ...plainRows(untagged)];
}

/** The channels behind a row. */
export function channelsOf(row: ListRow): readonly ChannelView[] {
  return row.kind === "tag" ? row.channels : [row.channel];
}

/** The channels behind several rows, each once: a tag and its own channel may both be selected. */
export function channelsBehind(rows: readonly ListRow[]): ChannelView[] {
  return [...new Map(rows.flatMap(channelsOf).map((channel) => [channel.id, channel])).values()];
}
