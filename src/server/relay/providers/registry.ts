/** Provider files by the key of their channel type. */
import type { PoolChannel } from "../seams";
import { gemini } from "./gemini";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";

const custom: Readonly<Record<string, Provider>> = { gemini };

/** The provider of a channel; undefined when its type needs a file that is not there. */
export function providerOf(channel: PoolChannel): Provider | undefined {
  return channel.type.custom ? custom[channel.type.key] : ordinary;
}
