/**
 * Makers of models: for filters, logos and `owner_by` of price lists. The built-in price table has the vendor of its
 * models; for every other name it is derived from the name. A vendor is no channel type: Bedrock and Azure serve other
 * makers' models.
 */
import { modelPrices } from "./model-prices";
import type { Text } from "./text";

export interface Vendor {
  /** Its name in the price table. */
  readonly key: string;
  readonly name: Text;
  /** A slug of the console's logos; absent: its first letter is shown. */
  readonly logo?: string;
  /** Prefixes of its models' names, without an organisation (`qwen/…`); lower case. */
  readonly prefixes: readonly string[];
}

const vendor = (key: string, name: string | Text, logo: string | undefined, prefixes: string): Vendor => ({
  key,
  name: typeof name === "string" ? { zh: name, en: name } : name,
  ...(logo !== undefined && { logo }),
  prefixes: prefixes.split(" "),
});

/** In the order of filters; the first whose prefix fits has the model. */
export const vendors: readonly Vendor[] = [
  vendor(
    "openai",
    "OpenAI",
    "openai",
    "gpt chatgpt o1 o3 o4 codex dall-e sora whisper tts- text-embedding-3 text-embedding-ada text-moderation omni-moderation text-davinci davinci babbage",
  ),
  vendor("anthropic", "Anthropic", "claude", "claude"),
  vendor("google", "Google", "gemini", "gemini gemma imagen veo palm text-embedding-00"),
  vendor("deepseek", "DeepSeek", "deepseek", "deepseek"),
  vendor("xai", "xAI", "xai", "grok"),
  vendor("ali", { zh: "通义千问", en: "Qwen" }, "qwen", "qwen qwq qvq wan text-embedding-v gte"),
  vendor("zhipu", { zh: "智谱", en: "Zhipu" }, "zhipu", "glm chatglm cogview cogvideo embedding-2 embedding-3"),
  vendor("moonshot", { zh: "月之暗面", en: "Moonshot" }, "moonshot", "kimi moonshot"),
  vendor("minimax", "MiniMax", "minimax", "minimax abab"),
  vendor("bytedance", { zh: "豆包", en: "Doubao" }, "doubao", "doubao seed skylark jimeng"),
  vendor("tencent", { zh: "腾讯混元", en: "Tencent Hunyuan" }, "hunyuan", "hunyuan"),
  vendor("baidu", { zh: "百度文心", en: "Baidu Ernie" }, "wenxin", "ernie bloomz embedding-v1 tao-8k"),
  vendor("iflytek", { zh: "讯飞星火", en: "iFlytek Spark" }, "spark", "spark 4.0ultra"),
  vendor("lingyiwanwu", { zh: "零一万物", en: "01.AI" }, "yi", "yi-"),
  vendor("360", { zh: "360 智脑", en: "360 Zhinao" }, "ai360", "360"),
  vendor(
    "mistral",
    "Mistral",
    "mistral",
    "mistral mixtral ministral magistral codestral devstral pixtral voxtral open-mistral open-mixtral",
  ),
  vendor("cohere", "Cohere", "cohere", "command c4ai embed- rerank-v rerank-english rerank-multilingual"),
  vendor("perplexity", "Perplexity", "perplexity", "sonar pplx"),
  vendor("meta", "Meta", undefined, "llama meta-llama"),
  vendor("amazon", "Amazon", "aws", "nova- amazon titan"),
  vendor("jina", "Jina", "jina", "jina"),
  vendor("baai", "BAAI", undefined, "bge"),
  vendor("midjourney", "Midjourney", "midjourney", "mj_ swap_face midjourney"),
  vendor("suno", "Suno", "suno", "suno chirp"),
  vendor("kling", { zh: "可灵", en: "Kling" }, "kling", "kling"),
  vendor("vidu", "Vidu", "vidu", "vidu"),
  vendor("weir", "Weir", undefined, "demo-"),
];

const byKey = new Map(vendors.map((entry) => [entry.key, entry]));
const priced = new Map(modelPrices.map((row) => [row.model, row.vendor]));

/** A vendor's number in price lists, from 1; 0 = unknown. */
export const vendorId = (key: string): number => vendors.findIndex((one) => one.key === key) + 1;

/** The vendor with this key. */
export const vendorByKey = (key: string): Vendor | undefined => byKey.get(key);

/** The maker of a model; undefined when its name does not show it. */
export function vendorOf(model: string): Vendor | undefined {
  const known = byKey.get(priced.get(model) ?? "");
  if (known) return known;
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  return vendors.find((entry) => entry.prefixes.some((prefix) => name.startsWith(prefix)));
}
