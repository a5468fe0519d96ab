/**
 * The demo channel is an ordinary channel whose base_url leads back into this process. It is recognised by its key,
 * which is derived (key.ts), so its address can be set right when the server starts on another port.
 */
import { and, eq, ne } from "drizzle-orm";
import { CHANNEL_STATUS, type ChannelView } from "../../../shared/channel";
import { DEMO_MODEL } from "../../../shared/demo";
import { fail } from "../../../shared/errors";
import type { Ctx, Services } from "../../contracts/context";
import { run } from "../../db/transaction";
import { announceChange } from "../channel/announce";
import { createChannels, updateChannel } from "../channel/service";
import { demoKey } from "./key";

/** Type 1: OpenAI's own API, which is what upstream.ts speaks. */
const OPENAI = 1;

/** Where each running server reaches itself. */
const addresses = new WeakMap<Services["cluster"], string>();

/** The demo channel's base_url for a server that listens on `host` and `port`. */
export function demoBaseUrl(host: string, port: number): string {
  const anywhere = host === "0.0.0.0" || host === "::" || host === "";
  const name = anywhere ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}/demo`;
}

/**
 * To be called once the server listens: keeps the address for `createDemoChannel` and corrects that of a demo channel
 * of an earlier start. Instances of one database are expected to listen on one port.
 */
export async function startDemo(services: Services, base_url: string): Promise<void> {
  addresses.set(services.cluster, base_url);
  const { channels } = services.db.t;
  const key_hash = services.secrets.hash("channel-key", demoKey(services.secrets));
  await services.db.tx(function* (q) {
    const old = and(eq(channels.key_hash, key_hash), ne(channels.base_url, base_url));
    const moved = yield* run(q.update(channels).set({ base_url }).where(old).returning({ id: channels.id }));
    if (moved.length > 0) yield* announceChange(services, q, "*");
  });
}

/** Makes the demo channel, or enables the existing one. */
export async function createDemoChannel(ctx: Ctx): Promise<ChannelView> {
  const base_url = addresses.get(ctx.cluster) ?? fail("internal");
  const { q, t } = ctx.db;
  const key = demoKey(ctx.secrets);
  const [existing] = await q
    .select()
    .from(t.channels)
    .where(eq(t.channels.key_hash, ctx.secrets.hash("channel-key", key)));
  if (existing) return updateChannel(ctx, { id: existing.id, base_url, key, status: CHANNEL_STATUS.enabled });
  const [created] = await createChannels(ctx, {
    type: OPENAI,
    name: ctx.lang === "zh" ? "演示渠道" : "Demo channel",
    key,
    base_url,
    models: DEMO_MODEL,
    test_model: DEMO_MODEL,
  });
  return created ?? fail("internal");
}
