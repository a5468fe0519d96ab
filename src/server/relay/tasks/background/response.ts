/**
 * Background responses as jobs (OpenAI's guide, background mode; types of the `openai` SDK 7.55, Response; read
 * November 2026): the vendor stores the response, and its usage is charged when it is complete.
 */
import { channelTypes } from "../../../../shared/channel-types";
import type { TaskStatus } from "../../../../shared/task";
import { openaiChat } from "../../../protocol/dialects/openai-chat/dialect";
import { usageOf } from "../../../protocol/dialects/openai-responses/answer-decode";
import { tokensOfContent } from "../../billing/token-estimate";
import type { Usage, WireError } from "../../../protocol/chat-events";
import { UpstreamError } from "../../../protocol/upstream-error";
import { classifyErrorIn200, failureOf } from "../../../protocol/upstream-failure";
import { isObject, type JsonObject } from "../../../lib/json-bytes";
import { responses } from "../../operations/dialect-chat";
import { redactedBody } from "../../providers/redact";
import { providerOf } from "../../providers/registry";
import { headersOf, withInstructions } from "../../providers/param-override";
import { addressOf, operationFor } from "../../providers/dispatch";
import type { PoolChannel } from "../../../contracts/channel";
import { isStateful } from "../../providers/capabilities";
import { surchargedFields, without } from "../../providers/surcharged-fields";
import { urlFor } from "../../upstream/pinned-request";
import type { TaskKind, TaskProvider, TaskReport, TaskRequest, TaskProviderContext } from "../provider";
import type { Priced, Task } from "../../../contracts/task-store";

export interface BackgroundInput {
  body: JsonObject;
  /** Estimated input tokens, from the bytes; and the most output tokens. */
  input: number;
  output: number;
  /**
   * The vendor's first answer, for the caller: the response object, or the events of the response if the caller wants a
   * stream.
   */
  first?: JsonObject;
  events?: ReadableStream<Uint8Array>;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const statuses: Readonly<Record<string, TaskStatus>> = {
  queued: "QUEUED",
  in_progress: "IN_PROGRESS",
  completed: "SUCCESS",
  incomplete: "SUCCESS",
  failed: "FAILURE",
  cancelled: "FAILURE",
};

/** Shown in the task lists: nothing of the conversation. */
const factsOf = ({ id, status, usage }: JsonObject): JsonObject => ({ id, status, usage: usage ?? null });

/** The usage assumed when the vendor reports none: nothing for a failed response. */
function estimateOf(response: JsonObject, status: TaskStatus, { usage: { input = 0 } }: Priced): Usage {
  if (status === "FAILURE") return {};
  return {
    input,
    output: tokensOfContent(openaiChat.contentBytes(Buffer.from(JSON.stringify(response.output ?? [])))),
  };
}

function reportOf(response: JsonObject, { state }: Task): TaskReport {
  const status = statuses[text(response.status)] ?? "UNKNOWN";
  const usage = usageOf(response);
  const { error } = response;
  const report: TaskReport = { status, data: factsOf(response) };
  // A response that was cancelled or failed on the way is charged by the usage that its vendor reports.
  if (usage && (status === "SUCCESS" || status === "FAILURE"))
    return { ...report, status: "SUCCESS", final: { usage, estimate: estimateOf(response, status, state.priced) } };
  return status === "FAILURE"
    ? { ...report, fail_reason: (isObject(error) && text(error.message)) || text(response.status) }
    : report;
}

/** A failed response has its own error, and is still a valid answer. */
const readError = (body: unknown): WireError | undefined =>
  isObject(body) && body.object === "response" ? undefined : openaiChat.readError(body);

const headers = (channel: PoolChannel): Record<string, string> => {
  const provider = providerOf(channel);
  return provider ? headersOf(provider, channel) : {};
};

function required(url: string | undefined): string {
  if (url === undefined) throw new UpstreamError(failureOf("malformed"));
  return url;
}

/**
 * Opens a stream and returns the response object of its first event (`response.created`, API reference, streaming
 * events).
 */
async function openStream(
  channel: PoolChannel,
  input: BackgroundInput,
  request: TaskRequest,
  context: TaskProviderContext,
): Promise<JsonObject> {
  const { first, all } = await context.events(request);
  const { response } = first;
  if (isObject(response) && text(response.id) !== "") {
    input.events = redactedBody(channel, all);
    return response;
  }
  await all.cancel();
  // The members of an error event are beside its type.
  const error = first.type === "error" ? openaiChat.readError({ error: first }) : undefined;
  throw new UpstreamError(error ? classifyErrorIn200(context.redact, error) : failureOf("malformed", 200));
}

const provider: TaskProvider<BackgroundInput> = {
  platform: "response",
  types: channelTypes
    .filter(({ operations }) => operations.some((operation) => operation === "responses"))
    .map(({ key }) => key),
  serves: (channel) => isStateful(channel, responses),

  terms: ({ input, output }) => ({ usage: { input, output }, exact: false, hidden_turns: true }),

  passes: (body, { setting }) => without(body, surchargedFields(body, setting)).body,

  async submit({ channel, model, input }, context) {
    const body = {
      ...without(withInstructions(input.body, channel), surchargedFields(input.body, channel.setting)).body,
      model,
    };
    const request: TaskRequest = {
      method: "POST",
      url: required(addressOf(channel, responses, model)),
      headers: headers(channel),
      body,
      readError,
    };
    const response =
      input.body.stream === true ? await openStream(channel, input, request, context) : await context.json(request);
    input.first = response;
    return { upstream_id: text(response.id), data: factsOf(response) };
  },

  async poll([task], channel, context) {
    if (!task) return new Map();
    const url = required(
      urlFor(channel, operationFor(channel, responses, ""), `/${encodeURIComponent(task.upstream_id)}`),
    );
    try {
      return new Map([
        [
          task.upstream_id,
          reportOf(await context.json({ method: "GET", url, headers: headers(channel), readError }), task),
        ],
      ]);
    } catch (error) {
      if (!(error instanceof UpstreamError) || error.failure.upstream_status !== 404) throw error;
      // The owner deleted it, perhaps to hide its usage: the charge stays at the estimate.
      return new Map<string, TaskReport>([[task.upstream_id, { status: "SUCCESS" }]]);
    }
  },

  hasResult: () => true,
};

export const backgroundResponses: TaskKind<BackgroundInput> = {
  operation: "responses",
  enabled: () => true,
  providers: [provider],
};
