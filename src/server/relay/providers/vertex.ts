/**
 * Google Vertex AI (cloud.google.com/vertex-ai/generative-ai/docs: model reference, partner models, open models;
 * @anthropic-ai/vertex-sdk 1.1; November 2026): Gemini, Claude and open models of one project, each in its maker's
 * dialect, with a service account's token. The channel names the region, for all models or for each. An API key instead
 * means express mode (cloud.google.com/vertex-ai/generative-ai/docs/start/express-mode/overview): Google's own models,
 * no project, no region.
 */
import { type Operation, otherFor, splitKey } from "../../../shared/channel-types";
import { geminiDialect } from "../../protocol/dialects/gemini/dialect";
import { isObject, withMembers } from "../../lib/json-bytes";
import { bodyOf, withBody } from "./changed-body";
import { googleImages, isImagen, vertexEmbeddings } from "./google-codecs";
import { googleToken, serviceAccount } from "./google-token";
import type { PoolChannel } from "../../contracts/channel";
import type { Outgoing, Provider, ProviderContext } from "./provider";
import { send, tokenRefused } from "./provider-context";
import { vertexFamily, vertexHost, vertexModel } from "./vertex-models";

/** The version of the Messages API on Vertex. */
const VERSION = "vertex-2023-10-16";

const google = (model: string, call: string): string => `publishers/google/models/${encodeURIComponent(model)}:${call}`;

const chatCalls = {
  gemini: (model: string, stream: boolean) =>
    google(model, stream ? "streamGenerateContent?alt=sse" : "generateContent"),
  // The @ before the date is not escaped.
  anthropic: (model: string, stream: boolean) =>
    `publishers/anthropic/models/${encodeURIComponent(model).replace("%40", "@")}:${stream ? "streamRawPredict" : "rawPredict"}`,
  "openai-chat": () => "endpoints/openapi/chat/completions",
} as const;

/** The end of an operation's address; undefined where Vertex does not serve it for that model. */
function callOf(operation: Operation, model: string, stream: boolean): string | undefined {
  const family = vertexFamily(model);
  if (operation === "chat") return chatCalls[family](vertexModel(model), stream);
  if (family !== "gemini") return undefined;
  if (operation === "embeddings") return google(model, "predict");
  return operation === "images" ? google(model, isImagen(model) ? "predict" : "generateContent") : undefined;
}

/** The request in the format of the model's maker on Vertex. */
function inMakersFormat(outgoing: Outgoing): Outgoing {
  const { model, stream } = outgoing;
  switch (vertexFamily(model)) {
    case "anthropic": {
      // The model is in the address, the version in the body.
      const { model: _, ...rest } = bodyOf(outgoing);
      return withBody(outgoing, { anthropic_version: VERSION, ...rest });
    }
    case "openai-chat":
      return {
        ...outgoing,
        body: withMembers(outgoing.body, {
          model: vertexModel(model),
          ...(stream && { stream_options: { include_usage: true } }),
        }),
      };
    case "gemini":
      return outgoing;
  }
}

const expressKey = ({ type, key }: PoolChannel): string | undefined => splitKey(type.id, key)?.api_key;

/** The request with the account's token, or with the express mode key. Throws Failed when there is neither. */
async function authorized(outgoing: Outgoing, context: ProviderContext): Promise<Outgoing> {
  const key = expressKey(outgoing.channel);
  if (key !== undefined) return { ...outgoing, headers: { ...outgoing.headers, "x-goog-api-key": key } };
  const account = serviceAccount(outgoing.channel);
  if (!account) throw tokenRefused(401, "the key is no service account");
  const token = await context.token(() => googleToken(account, context));
  return { ...outgoing, headers: { ...outgoing.headers, authorization: `Bearer ${token}` } };
}

/**
 * The token count of the same conversation: Claude's at a separate endpoint with the model in the body
 * (docs.cloud.google.com/vertex-ai, partner models, Claude, count tokens), Gemini's beside its calls (model reference,
 * CountTokens).
 */
function inquiry(outgoing: Outgoing): Outgoing {
  const { model, url } = outgoing;
  if (vertexFamily(model) !== "anthropic")
    return { ...outgoing, url: url.replace(/:generateContent$/, ":countTokens") };
  const body = { anthropic_version: VERSION, ...bodyOf(outgoing), model: vertexModel(model) };
  return withBody({ ...outgoing, url: url.replace(/[^/]+:rawPredict$/, "count-tokens:rawPredict") }, body);
}

export const vertex: Provider = {
  url(channel, operation, model, stream = false) {
    if (expressKey(channel) !== undefined) {
      const own = vertexFamily(model) === "gemini" ? callOf(operation, model, stream) : undefined;
      return own && `${channel.base_url || vertexHost("global")}/v1/${own}`;
    }
    const account = serviceAccount(channel);
    const location = otherFor(channel.type.id, channel.other, model);
    const call = callOf(operation, model, stream);
    if (call === undefined || !account || location === "") return undefined;
    const base = channel.base_url || vertexHost(location);
    const place = `/v1/projects/${encodeURIComponent(account.project_id)}/locations/${encodeURIComponent(location)}/`;
    return base + place + call;
  },
  headers: () => ({}),
  dialect: (_, model) => vertexFamily(model),
  prepare: (outgoing, context) => authorized(inMakersFormat(outgoing), context),
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    if (response.status !== 401 || expressKey(outgoing.channel) !== undefined) return response;
    // The cached token was revoked: one new token is worth a try.
    context.dropToken();
    await response.body?.cancel();
    return send(await authorized(outgoing, context), context);
  },
  count: async (outgoing, context) => ({
    outgoing: await authorized(inquiry(outgoing), context),
    member: vertexFamily(outgoing.model) === "anthropic" ? "input_tokens" : "totalTokens",
  }),
  direct: { embeddings: vertexEmbeddings, images: googleImages },
  // Google's own errors come before the model is called; the maker's errors are read in the maker's dialect.
  readError: (body) => (isObject(body) && body.type === "error" ? undefined : geminiDialect.readError(body)),
};
