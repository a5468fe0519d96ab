/**
 * Amazon Bedrock (docs.aws.amazon.com/bedrock/latest/APIReference: InvokeModel, InvokeModelWithResponseStream,
 * Converse, ConverseStream; @anthropic-ai/bedrock-sdk 1.1; November 2026). Claude is called in Anthropic's format
 * through InvokeModel, all other models in Amazon's through Converse. The key is an access key that signs requests
 * (SigV4), with a session token if it is temporary, or an API key; each names the region.
 */
import { AwsV4Signer } from "aws4fetch";
import { splitKey } from "../../../shared/channel-types";
import { readError } from "../../protocol/dialects/anthropic/error";
import type { OutFrame } from "../../protocol/dialects/translation";
import type { Warn } from "../../protocol/chat-events";
import { isObject, type JsonObject, tryParse } from "../../lib/json-bytes";
import type { PoolChannel } from "../../contracts/channel";
import { jsonEvents, withError } from "./amazon-events";
import { bedrockBetas, bedrockModel, isClaude, withoutProfile } from "./bedrock-models";
import { bodyOf, withBody } from "./changed-body";
import { eventsOf } from "./framing";
import type { Outgoing, Provider } from "./provider";
import { send } from "./provider-context";

/** The version of the Messages API on Bedrock. */
const VERSION = "bedrock-2023-05-31";

const partsOf = ({ type, key }: PoolChannel): Record<string, string | undefined> => splitKey(type.id, key) ?? {};

/** Bedrock has no web search tool and refuses a call that declares one (platform.claude.com/docs, web search tool). */
function withoutSearch(body: JsonObject, warn: Warn): JsonObject {
  if (!Array.isArray(body.tools)) return body;
  const kept = body.tools.filter((tool) => !isObject(tool) || !/^web_search_\d/.test(String(tool.type)));
  if (kept.length === body.tools.length) return body;
  warn("dropped_tool", "web_search");
  const { tools: _, tool_choice: __, ...rest } = body;
  return kept.length === 0 ? rest : { ...body, tools: kept };
}

/** Anthropic's body as Bedrock takes it: model and streaming are in the address, version and betas in the body. */
function claudeBody(body: JsonObject, betas: string | undefined, warn: Warn): JsonObject {
  const { model: _, stream: __, ...rest } = withoutSearch(body, warn);
  const named = (betas ?? "")
    .split(",")
    .map((beta) => beta.trim())
    .filter((beta) => beta !== "");
  const known = named.filter((beta) => bedrockBetas.has(beta));
  if (known.length < named.length)
    warn("dropped_field", `anthropic-beta: ${named.filter((beta) => !bedrockBetas.has(beta)).join(", ")}`);
  return { anthropic_version: VERSION, ...(known.length > 0 && { anthropic_beta: known }), ...rest };
}

/** An event of InvokeModelWithResponseStream: a frame of Anthropic's stream, as base64. */
function claudeEvent(_: string, { bytes }: JsonObject): OutFrame | undefined {
  const data = typeof bytes === "string" ? Buffer.from(bytes, "base64") : undefined;
  const parsed = data && tryParse(data);
  return isObject(parsed) && typeof parsed.type === "string"
    ? { data: JSON.stringify(parsed), event: parsed.type }
    : undefined;
}

/** An event of ConverseStream, under its name; `p` is padding. */
function converseEvent(event: string, padded: JsonObject): OutFrame {
  const { p: _, ...payload } = padded;
  return { data: JSON.stringify({ [event]: payload }) };
}

async function signed(outgoing: Outgoing, now: number): Promise<Record<string, string>> {
  const { access_key = "", secret_key = "", region = "", session_token } = partsOf(outgoing.channel);
  const signer = new AwsV4Signer({
    method: "POST",
    url: outgoing.url,
    // Only host and date are signed, because proxies may change other headers.
    headers: {},
    body: outgoing.body,
    accessKeyId: access_key,
    secretAccessKey: secret_key,
    // The session token of temporary credentials is sent beside the signature, and signed.
    ...(session_token !== undefined && { sessionToken: session_token }),
    service: "bedrock",
    region,
    datetime: new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, ""),
  });
  const { headers } = await signer.sign();
  return Object.fromEntries(headers);
}

/** The body of a token count: InvokeModel requires max_tokens, larger than the thinking budget. */
function countedBody(body: JsonObject, betas: string | undefined, warn: Warn): JsonObject {
  const { thinking } = body;
  const thoughts = isObject(thinking) && typeof thinking.budget_tokens === "number" ? thinking.budget_tokens : 0;
  return { max_tokens: thoughts + 1, ...claudeBody(body, betas, warn) };
}

export const bedrock: Provider = {
  url(channel, operation, model, stream) {
    const { region } = partsOf(channel);
    if (operation !== "chat" || region === undefined) return undefined;
    const calls = isClaude(model) ? ["invoke", "invoke-with-response-stream"] : ["converse", "converse-stream"];
    const base = channel.base_url || `https://bedrock-runtime.${region}.amazonaws.com`;
    return `${base}/model/${encodeURIComponent(bedrockModel(model, region))}/${calls[stream === true ? 1 : 0]}`;
  },
  headers(channel): Record<string, string> {
    const { api_key } = partsOf(channel);
    return api_key === undefined ? {} : { authorization: `Bearer ${api_key}` };
  },
  dialect: (_, model) => (isClaude(model) ? "anthropic" : undefined),
  async prepare(outgoing, { now, warn }) {
    const { "anthropic-beta": betas, ...others } = outgoing.headers;
    const headers: Record<string, string> = outgoing.stream
      ? { ...others, accept: "application/vnd.amazon.eventstream" }
      : others;
    const last = { ...outgoing, headers };
    const ready = isClaude(outgoing.model) ? withBody(last, claudeBody(bodyOf(last), betas, warn)) : last;
    return headers.authorization === undefined
      ? { ...ready, headers: { ...headers, ...(await signed(ready, now())) } }
      : ready;
  },
  /**
   * CountTokens (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_CountTokens), for the request that
   * InvokeModel would be sent.
   */
  async count(outgoing, { now, warn }) {
    const { region = "" } = partsOf(outgoing.channel);
    const id = withoutProfile(bedrockModel(outgoing.model, region));
    const { "anthropic-beta": betas, ...others } = outgoing.headers;
    const body = Buffer.from(JSON.stringify(countedBody(bodyOf(outgoing), betas, warn))).toString("base64");
    const url = outgoing.url.replace(/[^/]+\/invoke$/, `${encodeURIComponent(id)}/count-tokens`);
    const asked = withBody({ ...outgoing, url, headers: others }, { input: { invokeModel: { body } } });
    const { headers } = asked;
    const ready =
      headers.authorization === undefined
        ? { ...asked, headers: { ...headers, ...(await signed(asked, now())) } }
        : asked;
    return { outgoing: ready, member: "inputTokens" };
  },
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    if (!response.ok) return withError(response);
    if (!/vnd\.amazon\.eventstream/i.test(response.headers.get("content-type") ?? "")) return response;
    return eventsOf(
      jsonEvents(response.body, isClaude(outgoing.model) ? claudeEvent : converseEvent),
      response.headers,
    );
  },
  readError,
};
