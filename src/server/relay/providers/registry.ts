/** Provider files by the key of their channel type. The compiler demands an entry for each type that is `custom`. */
import type { CustomProviderKey } from "../../../shared/channel-types";
import type { PoolChannel } from "../seams";
import { azure } from "./azure";
import { gemini } from "./gemini";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";

/** Types whose answers are jobs: not called from here, but by the tasks that they belong to. */
export const taskTypes = [
  "midjourney", "midjourney-plus", "suno", "kling", "jimeng", "vidu", "doubao-video", "sora",
] as const satisfies readonly CustomProviderKey[];

/** undefined: has no file yet, so its channels are never picked. */
const custom: Readonly<Record<Exclude<CustomProviderKey, (typeof taskTypes)[number]>, Provider | undefined>> = {
  // Google, Microsoft, Amazon, OpenAI
  gemini,
  azure,
  bedrock: undefined,
  vertex: undefined,
  codex: undefined,

  // Cohere and the application builders
  cohere: undefined,
  dify: undefined,
  coze: undefined,
  palm: undefined,
  replicate: undefined,
  "aiproxy-library": undefined,

  // Vendors in China with signatures of their own
  baidu: undefined,
  "zhipu-v3": undefined,
  spark: undefined,
  tencent: undefined,
};

const byKey = new Map<string, Provider | undefined>(Object.entries(custom));

/** The provider of a channel; undefined when the relay does not call its type. */
export function providerOf({ type }: PoolChannel): Provider | undefined {
  return type.custom ? byKey.get(type.key) : ordinary;
}
