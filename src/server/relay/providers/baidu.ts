/**
 * Baidu Wenxin, generation 1: a path for each model, and an access token in the query
 * (cloud.baidu.com/doc/WENXINWORKSHOP, s/Ilkkrb0i5: access token; go/qianfan of bce-qianfan-sdk: endpoints; read
 * November 2026).
 */
import type { Operation } from "../../../shared/channel-types";
import { readError } from "../../protocol/dialects/baidu/answer";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { count, isObject, list, optionalText } from "../../protocol/dialects/shared/json";
import { tryParse } from "../../lib/json-bytes";
import { replaceBody } from "./framing";
import { keyParts } from "./parts";
import type { DirectCodec, Outgoing, Provider, ProviderContext } from "./provider";
import { send, tokenRefused } from "./provider-context";

const ROOT = "/rpc/2.0/ai_custom/v1/wenxinworkshop";

/** Models whose endpoint is not their name in lower case. */
const endpoints: Readonly<Record<string, string>> = {
  "ernie-4.0-8k": "completions_pro",
  "ernie-bot-4": "completions_pro",
  "ernie-3.5-8k": "completions",
  "ernie-bot": "completions",
  "ernie-bot-8k": "ernie_bot_8k",
  "ernie-bot-turbo": "eb-instant",
  "ernie-lite-8k-0922": "eb-instant",
  "ernie-speed": "ernie_speed",
  "ernie-speed-8k": "ernie_speed",
  "ernie-character-8k": "ernie-char-8k",
  "ernie-character-fiction-8k": "ernie-char-fiction-8k",
  "ernie-functions-8k": "ernie-func-8k",
  "ernie-function-8k": "ernie-func-8k",
  "bloomz-7b": "bloomz_7b1",
  "bge-large-zh": "bge_large_zh",
  "bge-large-en": "bge_large_en",
  "tao-8k": "tao_8k",
};

const folders: Readonly<Partial<Record<Operation, string>>> = { chat: "chat", embeddings: "embeddings" };

/** A token for the key and secret of an application; valid for 30 days. */
const accessToken = (outgoing: Outgoing, context: ProviderContext): Promise<string> =>
  context.token(async () => {
    const { api_key: client_id = "", secret_key: client_secret = "" } = keyParts(outgoing.channel);
    const query = new URLSearchParams({ grant_type: "client_credentials", client_id, client_secret });
    const { origin } = new URL(outgoing.url);
    const response = await context.fetch(`${origin}/oauth/2.0/token?${query}`, { method: "POST" });
    const answer = tryParse(Buffer.from(await response.arrayBuffer()));
    const token = isObject(answer) ? optionalText(answer.access_token) : undefined;
    if (!response.ok || !token || !isObject(answer))
      throw tokenRefused(response.status, readError(answer)?.message ?? "no access token", context.redact);
    return { token, expires_in: count(answer.expires_in) ?? 3600 };
  });

async function sendWithToken(outgoing: Outgoing, context: ProviderContext): Promise<Response> {
  const access_token = await accessToken(outgoing, context);
  return send({ ...outgoing, url: `${outgoing.url}?${new URLSearchParams({ access_token })}` }, context);
}

/** "Access token invalid or no longer valid", and expired. */
const stale = new Set(["110", "111"]);

/** OpenAI's embeddings; the vendor takes only lists of texts, and names the list differently. */
const embeddings: DirectCodec = {
  encode({ input, user }) {
    const texts = typeof input === "string" ? [input] : list(input);
    if (texts.length === 0 || !texts.every((text) => typeof text === "string")) throw new RequestFault("input");
    return { input: texts, ...(typeof user === "string" && { user_id: user }) };
  },
  decode({ data, usage }, { model }) {
    return Array.isArray(data) ? { object: "list", model, data, usage } : undefined;
  },
};

export const baidu: Provider = {
  url({ base_url }, operation, model) {
    const folder = folders[operation];
    const name = model.toLowerCase();
    return folder === undefined
      ? undefined
      : `${base_url}${ROOT}/${folder}/${encodeURIComponent(endpoints[name] ?? name)}`;
  },
  headers: () => ({}),
  async open(outgoing, context) {
    const response = await sendWithToken(outgoing, context);
    if (!/json/i.test(response.headers.get("content-type") ?? "")) return response;
    const bytes = await response.arrayBuffer();
    const error = readError(tryParse(new Uint8Array(bytes)));
    if (!error || !stale.has(error.code)) return replaceBody(response, bytes);
    // The cached token was revoked: one new token is worth a try.
    context.dropToken();
    return sendWithToken(outgoing, context);
  },
  direct: { embeddings },
};
