/** Channels with their keys. */
import { eq, sql } from "drizzle-orm";
import { CHANNEL_STATUS, jsonObject } from "../../../shared/channel";
import { headerProblem } from "../../../shared/header-override";
import { run, type Steps } from "../../db/transaction";
import type { Q } from "../../db/types";
import { sha256 } from "../../lib/secrets";
import { sealStored } from "../channel/sealed";
import type { Hour } from "../log/fold";
import { eachOf } from "./plan";
import { isLeft, type SourceChannel } from "./records";
import type { Source } from "../../db/foreign/source";
import { channelProblems, type Survey } from "./survey";
import { typeNumber } from "./systems/channel-row";
import { addHours, type Needs, openingHour, standIn, type Taken, type Target } from "./target";

export interface ChannelsInput {
  services: Needs;
  source: Source;
  survey: Survey;
  target: Target;
  /** Channels keep the status that they have; else those that are enabled arrive disabled. */
  live: boolean;
}

const CHANNELS = 50;

/** Returns how many channels are new. One that was taken before stays as it is here. */
export async function writeChannels(input: ChannelsInput): Promise<number> {
  const { services, source, survey } = input;
  const owner = await standIn(services);
  let written = 0;
  const flush = async (part: readonly SourceChannel[]): Promise<void> => {
    if (part.length > 0)
      written += await services.db.tx((q) => writeSome(input, q, part, owner), { durable: true, long: true });
  };
  let chunk: SourceChannel[] = [];
  for await (const { record } of eachOf(source, survey.tables.channels)) {
    if (isLeft(record) || survey.leftChannels.has(record.id)) continue;
    if (chunk.push(record) < CHANNELS) continue;
    await flush(chunk);
    chunk = [];
  }
  await flush(chunk);
  return written;
}

function* writeSome(
  { services, target, live }: ChannelsInput,
  q: Q,
  part: readonly SourceChannel[],
  owner: { id: number; username: string } | undefined,
): Steps<number> {
  const { db, secrets } = services;
  const { channels, channel_keys } = db.t;
  const hours: Hour[] = [];
  const noted = new Map<string, Taken>();
  let written = 0;
  for (const channel of part) {
    const before = target.taken("channel", channel.id);
    const id = before?.target ?? target.newId("channel", channel.id);
    const used = owner ? channel.used_quota : 0;
    const more = used - (before?.used ?? 0);
    noted.set(channel.id, { target: id, hash: sha256(JSON.stringify(channel)), credited: 0, used, calls: 0 });
    // A pair that adds up to nothing for the user: the channel's total is known, its callers are not.
    if (owner && more !== 0)
      for (const [of, sign] of [
        [id, 1],
        [0, -1],
      ] as const)
        hours.push(
          openingHour(target, {
            user_id: owner.id,
            username: owner.username,
            token_id: 0,
            channel: of,
            quota: sign * more,
            count: 0,
          }),
        );
    if (before) {
      if (more !== 0)
        yield* run(
          q
            .update(channels)
            .set({ used_quota: sql`${channels.used_quota} + ${more}` })
            .where(eq(channels.id, id)),
        );
      continue;
    }
    written++;
    const { id: _id, was: _was, keys, notes: _notes, status, used_quota: _used, header_override, ...plain } = channel;
    const several = channel.multi_key_mode !== "";
    const [first] = keys;
    const key = several ? "" : (first?.key ?? "");
    const secret = {
      setting: plain.setting,
      header_override: headerProblem(jsonObject(header_override) ?? {}) ? "" : header_override,
    };
    const callable = channel.type !== undefined && channelProblems(channel).length === 0;
    yield* run(
      q.insert(channels).values({
        ...plain,
        ...(sealStored(secrets, secret) ?? secret),
        id,
        type: channel.type ?? typeNumber("custom"),
        status: status === CHANNEL_STATUS.enabled && !(live && callable) ? CHANNEL_STATUS.disabled : status,
        key_cipher: secrets.encrypt("channel-key", key),
        key_hash: key ? secrets.hash("channel-key", key) : "",
        used_quota: used,
      }),
    );
    const rows = several
      ? keys.map((one, position) => ({
          channel_id: id,
          position,
          key_cipher: secrets.encrypt("channel-key", one.key),
          key_hash: secrets.hash("channel-key", one.key),
          status: one.status,
          reason: one.reason,
          created_at: channel.created_time,
        }))
      : [];
    for (let i = 0; i < rows.length; i += 100)
      yield* run(
        q
          .insert(channel_keys)
          .values(rows.slice(i, i + 100))
          .onConflictDoNothing(),
      );
  }
  yield* addHours(db, q, hours);
  yield* target.noteSteps(q, "channel", noted);
  return written;
}
