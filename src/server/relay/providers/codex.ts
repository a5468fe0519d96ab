/**
 * ChatGPT's Codex service (github.com/openai/codex, codex-rs/core/src/client.rs and codex-rs/protocol; its errors as
 * reported in the issues of its clients, November 2026): OpenAI's Responses for a ChatGPT account. It only streams,
 * stores nothing, and refuses every member that its own client does not send. The key is the owner's auth.json
 * with access token and account id; features/channel/codex-tokens.ts renews the token where the file has a refresh
 * token.
 */
import { splitKey } from "../../../shared/channel-types";
import { readError } from "../../protocol/dialects/openai-responses/stream-decode";
import type { Warn, WireError } from "../../protocol/chat-events";
import { isObject, type JsonObject, tryParse } from "../../lib/json-bytes";
import { bodyOf, withBody } from "./changed-body";
import { framesOf, isEvents } from "./framing";
import type { Provider } from "./provider";
import { send } from "./provider-context";

/** The members of a request that the service accepts. */
const ACCEPTED: ReadonlySet<string> = new Set([
  "model",
  "instructions",
  "input",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "reasoning",
  "include",
  "service_tier",
  "prompt_cache_key",
  "text",
  "client_metadata",
]);
/** Members that can be dropped without a warning. */
const DROPPED_SILENTLY: ReadonlySet<string> = new Set(["stream", "store", "stream_options"]);
/** The service refuses calls without instructions. */
const INSTRUCTIONS = "You are a helpful assistant.";

/** The service accepts a system prompt only as `instructions`. */
function itemOf(item: unknown): unknown {
  return isObject(item) && item.role === "system" ? { ...item, role: "developer" } : item;
}

function codexBody(body: JsonObject, warn: Warn): JsonObject {
  const taken: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (ACCEPTED.has(name)) taken[name] = value;
    else if (!DROPPED_SILENTLY.has(name) && value !== null && value !== undefined) warn("dropped_field", name);
  }
  const { instructions, input } = body;
  return {
    ...taken,
    instructions: typeof instructions === "string" && instructions !== "" ? instructions : INSTRUCTIONS,
    input:
      typeof input === "string" ? [{ role: "user", content: input }] : Array.isArray(input) ? input.map(itemOf) : [],
    store: false,
    stream: true,
  };
}

const ends: ReadonlySet<unknown> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** The complete response at the end of a stream. Its items may be only in the events before it. */
async function completeResponse(response: Response): Promise<Response> {
  const items: unknown[] = [];
  for await (const { data } of framesOf(response.body)) {
    const event = data === undefined ? undefined : tryParse(Buffer.from(data));
    if (!isObject(event)) continue;
    if (event.type === "response.output_item.done") items.push(event.item);
    if (event.type === "error") return Response.json({ error: event.error ?? event });
    if (!ends.has(event.type) || !isObject(event.response)) continue;
    const { output } = event.response;
    return Response.json({ ...event.response, output: Array.isArray(output) && output.length > 0 ? output : items });
  }
  throw Object.assign(new Error("the stream ended without a last word"), { code: "ECONNRESET" });
}

export const codex: Provider = {
  unlimited: true,
  url: ({ base_url }, operation) =>
    operation === "chat" || operation === "responses" ? `${base_url}/backend-api/codex/responses` : undefined,
  headers({ type, key }) {
    const { access_token = "", account_id = "" } = splitKey(type.id, key) ?? {};
    return {
      authorization: `Bearer ${access_token}`,
      "chatgpt-account-id": account_id,
      "openai-beta": "responses=experimental",
      originator: "codex_cli_rs",
    };
  },
  prepare(outgoing, { warn }) {
    const headers = { ...outgoing.headers, accept: "text/event-stream" };
    return withBody({ ...outgoing, headers }, codexBody(bodyOf(outgoing), warn));
  },
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    return outgoing.stream || !isEvents(response) ? response : completeResponse(response);
  },
  /** OpenAI's error, or `{ detail }` when the service refuses before the model is called. */
  readError(body): WireError | undefined {
    const error = readError(body);
    if (error || !isObject(body) || typeof body.detail !== "string") return error;
    return { message: body.detail, type: "invalid_request_error", code: "", param: null };
  },
};
