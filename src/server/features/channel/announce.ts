/** How a change of channels becomes known. */
import type { Services } from "../../context";

/** Tells the other instances, then brings this one's pool up to date before the caller hears of success (C-327). */
export async function announceChange({ cluster, pool }: Pick<Services, "cluster" | "pool">, id: number | "*"): Promise<void> {
  await cluster.bus.publish("channels", String(id));
  await pool.reload();
}
