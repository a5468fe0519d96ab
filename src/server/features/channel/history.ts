/** The changes of a channel, and putting back what it was before one of them: an edit like any other. */
import type { AuditView } from "../../../shared/audit";
import { CHANNEL_STATUS, channelUpdate, type ChannelUpdate, type ChannelView } from "../../../shared/channel";
import { fail } from "../../../shared/errors";
import { type History, membersOf, unblotted } from "../../../shared/history";
import type { Ctx } from "../../contracts/context";
import { historyEntry, historyOf } from "../audit/history";
import { presentChannel } from "./present";
import { findChannel, updateChannel } from "./service";

/** Never put back: keys are not in the log, and the way of several keys is not a value but what is stored. */
const NOT_RESTORED: ReadonlySet<string> = new Set(["id", "key", "multi_key_mode"]);

/** The fields of an edit that puts back what was before; a secret stays as it is. */
function fieldsBefore({ action, before }: AuditView, now: ChannelView): Record<string, unknown> {
  if (action !== "channel.update") return {};
  const members = Object.entries(membersOf(before) ?? {}).flatMap(([name, value]) => {
    if (NOT_RESTORED.has(name) || !Object.hasOwn(channelUpdate.shape, name)) return [];
    const restored = unblotted(value, Reflect.get(now, name));
    // The gateway alone disables automatically.
    return restored === undefined || (name === "status" && restored === CHANNEL_STATUS.auto_disabled)
      ? []
      : [[name, restored]];
  });
  return Object.fromEntries(members);
}

/** The channel's changes by people, newest first. Throws channel_not_found. */
export async function channelHistory(ctx: Ctx, id: number, cursor: number | null | undefined): Promise<History> {
  const now = presentChannel(await findChannel(ctx, id));
  return historyOf(ctx, "channel", [String(id)], cursor, (row) => ({
    before: row.before,
    after: row.after,
    restorable: Object.keys(fieldsBefore(row, now)).length > 0,
  }));
}

/**
 * Edits the channel so that what a change has changed is as it was before it. Throws what an edit throws,
 * history_not_found and history_not_restorable.
 */
export async function restoreChannel(ctx: Ctx, id: number, entry: number): Promise<ChannelView> {
  const row = await historyEntry(ctx, "channel", String(id), entry);
  const fields = fieldsBefore(row, presentChannel(await findChannel(ctx, id)));
  if (Object.keys(fields).length === 0) fail("history_not_restorable");
  const edit: ChannelUpdate = channelUpdate.parse({ id, ...fields });
  return updateChannel(ctx, edit);
}
