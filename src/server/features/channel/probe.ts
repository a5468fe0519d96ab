/** The small call that tests a channel: what is sent, and what counts as an answer. */
import { AppError, fail } from "../../../shared/errors";
import { readLimited } from "../../lib/egress";
import { chatDialects } from "../../protocol/dialects/chat-dialects";
import { newLimit } from "../../protocol/dialects/openai-chat/request-encode";
import { decodeFrame } from "../../protocol/dialects/openai-chat/stream";
import { type UpstreamDialectKey, upstreamDialects } from "../../protocol/dialects/vendor-dialects";
import type { Usage } from "../../protocol/chat-events";
import { UpstreamError } from "../../protocol/upstream-error";
import { classifyErrorIn200, classifyStatus, type Failure } from "../../protocol/upstream-failure";
import { redact, redactOf } from "../../relay/providers/redact";
import { withSystemPrompt } from "../../relay/providers/param-override";
import { addressOf, dialectOf, exchange, operationFor, readChannelError } from "../../relay/providers/dispatch";
import { ownProviderContext } from "../../relay/providers/provider-context";
import type { PoolChannel } from "../../contracts/channel";
import { firstFrameEnd, readFrame } from "../../lib/sse";
import { atVersion } from "../../relay/providers/vendor-rules";
import { namesOf } from "../../relay/providers/model-mapping";
import type { VendorRules } from "../../contracts/vendor-rules";
import type { ChannelTrouble } from "../../contracts/channel-trouble";
import { deadlineOf, upstreamHeaders, upstreamMessage } from "./upstream";

const TEST_MAX_BYTES = 1024 * 1024;

const isEmbedding = (model: string): boolean => /embed|bge-|^m3e/i.test(model);

function testBody(model: string): Record<string, unknown> {
  if (isEmbedding(model)) return { model, input: ["hi"] };
  const messages = [{ role: "user", content: "hi" }];
  // Reasoning models refuse max_tokens and spend their first tokens on thinking.
  if (newLimit(model)) return { model, messages, max_completion_tokens: 200 };
  if (/think|reason|-r1/i.test(model)) return { model, messages, max_tokens: 50 };
  return { model, messages, max_tokens: 10 };
}

/** The same call in the channel's dialect, with the channel's system prompt. */
function bodyFor(channel: PoolChannel, dialect: UpstreamDialectKey, model: string, more: object = {}): object {
  const body = { ...testBody(model), ...more };
  if (isEmbedding(model) || (dialect === "openai-chat" && channel.setting.system_prompt === undefined)) return body;
  const prompt = withSystemPrompt(chatDialects["openai-chat"].decodeRequest(body), channel);
  return upstreamDialects[dialect].encodeRequest(prompt, () => undefined);
}

export interface ProbeResult {
  usage: { prompt_tokens: number; completion_tokens: number };
  /** The error; '' when the upstream answered like a model. */
  problem: string;
  /** The error for the rules of automatic disabling; absent when there is none or no answer came. */
  trouble?: ChannelTrouble;
  upstream_request_id: string;
}

const NO_USAGE = { prompt_tokens: 0, completion_tokens: 0 };
const whole = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;

/**
 * Calls the channel with `model` (mapping and the operator's rules are applied here), under one deadline. A channel
 * that only streams is called again with a stream. Never throws for an upstream's error; throws
 * channel_test_unsupported for a type that cannot be tested, and passes on the abort of `signal`.
 */
export async function probe(
  channel: PoolChannel,
  asked: string,
  timeoutMs: number,
  signal?: AbortSignal,
  rules?: VendorRules,
): Promise<ProbeResult> {
  const mapped = channel.model_mapping.get(asked) ?? asked;
  const operation = isEmbedding(mapped) ? "embeddings" : "chat";
  const names = namesOf(asked, channel, dialectOf(channel, { key: operation }, mapped), rules);
  const { model } = names;
  const dialect = dialectOf(channel, { key: operation }, model) ?? fail("channel_test_unsupported");
  const deadline = deadlineOf(timeoutMs, signal);
  const headers = { ...upstreamHeaders(channel), "content-type": "application/json", accept: "application/json" };
  const call = async (body: object, stream = false): Promise<ProbeResult & { status: number }> => {
    const url = atVersion(
      addressOf(channel, { key: operation }, model, stream) ?? fail("channel_test_unsupported"),
      channel,
      names,
      rules,
    );
    const outgoing = {
      channel,
      operation: operationFor(channel, { key: operation }, model),
      model,
      stream,
      url,
      headers,
      body: Buffer.from(JSON.stringify(body)),
    } as const;
    const response = await exchange(outgoing, ownProviderContext(channel, deadline));
    const text = await readLimited(response, TEST_MAX_BYTES);
    const upstream_request_id = redact(channel, response.headers.get("x-request-id") ?? "");
    return { ...judge(channel, dialect, model, response.status, text), upstream_request_id, status: response.status };
  };
  try {
    const plain = await call(bodyFor(channel, dialect, model));
    const wantsStream =
      plain.status === 400 && dialect === "openai-chat" && operation === "chat" && /stream/i.test(plain.problem);
    return wantsStream ? await call(bodyFor(channel, dialect, model, { stream: true }), true) : plain;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof AppError) throw error;
    if (error instanceof UpstreamError) return refused(error.failure);
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    const code = String((error as { code?: unknown } | null)?.code ?? "unreachable");
    return { usage: NO_USAGE, problem: timedOut ? `timeout (${timeoutMs / 1000} s)` : code, upstream_request_id: "" };
  }
}

/** No access token was issued: the channel itself was not called. */
function refused({ upstream_status: status, disable, error }: Failure): ProbeResult {
  const problem = error?.message ?? `HTTP ${status}`;
  return { usage: NO_USAGE, problem, trouble: { status, disable, message: problem }, upstream_request_id: "" };
}

type Judged = Omit<ProbeResult, "upstream_request_id">;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const counted = ({ input = 0, cache_read = 0, output = 0, reasoning = 0 }: Usage): ProbeResult["usage"] => ({
  prompt_tokens: input + cache_read,
  completion_tokens: output + reasoning,
});

/**
 * An answer counts when it is a success without an error object and belongs to its dialect (OpenAI's: has choices or
 * data), or is a stream of one.
 */
function judge(channel: PoolChannel, dialect: UpstreamDialectKey, model: string, status: number, text: string): Judged {
  const bad = (failure: Failure): Judged => ({
    usage: NO_USAGE,
    problem: upstreamMessage(channel, status, text),
    trouble: { status, disable: failure.disable, message: upstreamMessage(channel, status, text) },
  });
  const body = parse(text);
  const readError = (value: unknown) => readChannelError(channel, { key: "chat" }, model, value);
  if (status < 200 || status >= 300)
    return bad(classifyStatus(redactOf(channel), status, readError(body), channel.status_mapping));
  if (body === undefined && /^\s*(data|event|:)/.test(text)) return judgeStream(channel, status, text);
  const error = readError(body);
  if (error) return bad(classifyErrorIn200(redactOf(channel), error));
  if (dialect !== "openai-chat") {
    const said = isObject(body) ? upstreamDialects[dialect].decodeAnswer(body, "test") : undefined;
    return {
      usage: said?.usage ? counted(said.usage) : NO_USAGE,
      problem: said ? "" : upstreamMessage(channel, status, text),
    };
  }
  const answer = body as
    | { choices?: unknown; data?: unknown; usage?: Record<string, unknown> | null }
    | null
    | undefined;
  if (!Array.isArray(answer?.choices) && !Array.isArray(answer?.data)) {
    return { usage: NO_USAGE, problem: upstreamMessage(channel, status, text) };
  }
  return {
    usage: {
      prompt_tokens: whole(answer.usage?.prompt_tokens),
      completion_tokens: whole(answer.usage?.completion_tokens),
    },
    problem: "",
  };
}

/** A streamed answer counts when it has content or a finish before any error. */
function judgeStream(channel: PoolChannel, status: number, text: string): Judged {
  const bytes = Buffer.from(`${text}\n\n`);
  let answered = false;
  let usage = NO_USAGE;
  for (let from = 0; from < bytes.length;) {
    const end = firstFrameEnd(bytes, from, bytes.length);
    if (end < 0) break;
    const { data } = readFrame(bytes.subarray(from, end));
    from = end;
    for (const event of (data !== undefined && decodeFrame(data)) || []) {
      if (event.type === "error") {
        const problem = upstreamMessage(channel, status, JSON.stringify({ error: event.error }));
        const { disable } = classifyErrorIn200(redactOf(channel), event.error);
        return { usage: NO_USAGE, problem, trouble: { status, disable, message: problem } };
      }
      if (event.type === "usage") {
        usage = { prompt_tokens: whole(event.usage.input), completion_tokens: whole(event.usage.output) };
      } else if (event.type !== "start" && event.type !== "done") answered = true;
    }
  }
  return { usage, problem: answered ? "" : upstreamMessage(channel, status, "not an answer") };
}
