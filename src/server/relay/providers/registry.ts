/** Provider files by the key of their channel type. The compiler requires an entry for each type that is `custom`. */
import type { CustomProviderKey } from "../../../shared/channel-types";
import type { PoolChannel } from "../../contracts/channel";
import { aiproxyLibrary } from "./aiproxy-library";
import { ali } from "./ali";
import { azure } from "./azure";
import { baidu } from "./baidu";
import { bedrock } from "./bedrock";
import { cohere } from "./cohere";
import { codex } from "./codex";
import { coze } from "./coze";
import { dify } from "./dify";
import { baiduV2 } from "./baidu-v2";
import { fastgpt } from "./fastgpt";
import { gemini } from "./gemini";
import { minimax } from "./minimax";
import { mistral } from "./mistral";
import { ordinary } from "./ordinary";
import { palm } from "./palm";
import type { Provider } from "./provider";
import { replicate } from "./replicate";
import { spark } from "./spark";
import { tencent } from "./tencent";
import { vertex } from "./vertex";
import { xai } from "./xai";
import { zhipuV3 } from "./zhipu-v3";

/** Types that only serve jobs: src/server/relay/tasks calls them. */
export const taskTypes = [
  "midjourney",
  "midjourney-plus",
  "suno",
  "kling",
  "jimeng",
  "vidu",
  "doubao-video",
  "sora",
] as const satisfies readonly CustomProviderKey[];

const custom: Readonly<Record<Exclude<CustomProviderKey, (typeof taskTypes)[number]>, Provider>> = {
  // Google, Microsoft, Amazon, OpenAI, xAI
  gemini,
  azure,
  bedrock,
  vertex,
  codex,
  xai,

  // Cohere and the application builders
  cohere,
  dify,
  coze,
  fastgpt,
  palm,
  minimax,
  mistral,
  replicate,
  "aiproxy-library": aiproxyLibrary,

  // Vendors in China with their own signatures, frames or jobs
  ali,
  baidu,
  "baidu-v2": baiduV2,
  "zhipu-v3": zhipuV3,
  spark,
  tencent,
};

const byKey = new Map<string, Provider>(Object.entries(custom));

/** The provider of a channel; undefined when the relay does not call its type. */
export function providerOf({ type }: PoolChannel): Provider | undefined {
  return type.custom ? byKey.get(type.key) : ordinary;
}
