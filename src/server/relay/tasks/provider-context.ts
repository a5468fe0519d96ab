/** The tools of a job provider: see TaskTools. */
import { withHeaders } from "../../../shared/header-override";
import type { Engine } from "../call/call";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { UpstreamError } from "../../protocol/upstream-error";
import {
  classifyErrorIn200,
  classifyStatus,
  failureOf,
  retryAfterSeconds,
  unanswered,
} from "../../protocol/upstream-failure";
import { isObject, type JsonObject, tryParse } from "../../lib/json-bytes";
import { redactJson } from "../providers/redact";
import { providerContextFor } from "../providers/provider-context";
import type { PoolChannel } from "../../contracts/channel";
import { type Events, isEvents, readEvents } from "./events";
import type { TaskRequest, TaskProviderContext } from "./provider";

/** Largest response of a vendor about jobs: a list of many, with texts. */
const ANSWER_LIMIT = 16 << 20;

/** The result of a request, for the attempt's record. */
export interface RequestOutcome {
  status: number;
}

interface TaskRequestOptions {
  /** The channel's param_override applies. */
  submits?: boolean;
  /** Called with the status of the last response. */
  heard?: RequestOutcome;
}

/**
 * Runs work that must end within `total_ms`, whatever the provider waits for; `ms` is the timeout of each request.
 * Throws what `work` throws, and Failed for a timeout.
 */
export async function withTaskContext<T>(
  engine: Engine,
  channel: PoolChannel,
  { ms, total_ms }: { ms: number; total_ms: number },
  work: (context: TaskProviderContext) => Promise<T>,
  options: TaskRequestOptions = {},
): Promise<T> {
  const over = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = engine.timers.after(total_ms, () => {
    over.abort();
    reject(new UpstreamError(failureOf("timeout", 0, "total")));
  });
  try {
    return await Promise.race([work(taskTools(engine, channel, ms, { ...options, signal: over.signal })), late]);
  } finally {
    cancel();
  }
}

/** Tools for a channel. `ms`: the timeout of each request; `signal` aborts them all. */
export function taskTools(
  engine: Engine,
  channel: PoolChannel,
  ms: number,
  { submits = false, heard, signal }: TaskRequestOptions & { signal?: AbortSignal } = {},
): TaskProviderContext {
  const { controlPlane, timers } = engine;
  const controller = new AbortController();
  const context = providerContextFor(
    engine,
    channel,
    signal ? AbortSignal.any([controller.signal, signal]) : controller.signal,
    () => controlPlane.now(),
  );
  /** Sends a request and reads its response with `read`, all within the timeout. */
  const exchange = async <T>(
    { method, url, headers, body, sign, override }: TaskRequest,
    read: (response: Response) => Promise<T>,
  ): Promise<{ response: Response; got: T }> => {
    const changed = submits && override !== false && channel.override && isObject(body) ? channel.override(body) : body;
    const text =
      isObject(changed) && !(changed instanceof Blob) && !(changed instanceof FormData)
        ? JSON.stringify(changed)
        : changed;
    const typed = typeof text === "string" ? { "content-type": "application/json", ...headers } : headers;
    const ready = withHeaders({ accept: "application/json", ...typed }, channel.headers, channel.key);
    const signed = sign ? await sign(typeof text === "string" ? text : "", ready) : ready;
    let late = false;
    const done = timers.after(ms, () => {
      late = true;
      controller.abort();
    });
    if (heard) heard.status = 0;
    let response: Response | undefined;
    try {
      response = await context.fetch(url, {
        method,
        headers: signed,
        ...(text !== undefined && { body: text as BodyInit }),
      });
      if (heard) heard.status = response.status;
      return { response, got: await read(response) };
    } catch (error) {
      if (error instanceof UpstreamError) throw error;
      throw new UpstreamError(
        late
          ? failureOf("timeout", 0, "first byte")
          : response
            ? failureOf("cut", response.status)
            : failureOf(unanswered(error)),
      );
    } finally {
      done();
    }
  };
  /** The response, unless it is an error. */
  const judged = ({ readError }: TaskRequest, response: Response, bytes: Uint8Array): unknown => {
    // A vendor's report of a job is stored and shown.
    const answer = redactJson(channel, tryParse(bytes));
    const error = (readError ?? openaiChat.readError)(answer);
    if (!response.ok) {
      throw new UpstreamError(
        classifyStatus(
          context.redact,
          response.status,
          error,
          channel.status_mapping,
          retryAfterSeconds(response.headers.get("retry-after"), controlPlane.now()),
        ),
      );
    }
    if (error) throw new UpstreamError(classifyErrorIn200(context.redact, error));
    return answer;
  };
  const send = async <T>(request: TaskRequest, fits: (answer: unknown) => answer is T): Promise<T> => {
    const { response, got } = await exchange(request, readWhole);
    const answer = judged(request, response, got);
    if (!fits(answer)) throw new UpstreamError(failureOf("malformed", response.status));
    return answer;
  };
  const events = async (request: TaskRequest): Promise<Events> => {
    const { response, got } = await exchange<Uint8Array | Events>(request, (answer) =>
      answer.ok && isEvents(answer) ? readEvents(answer) : readWhole(answer),
    );
    if (!(got instanceof Uint8Array)) return got;
    judged(request, response, got);
    throw new UpstreamError(failureOf("malformed", response.status));
  };
  return {
    ...context,
    json: (request) => send<JsonObject>(request, isObject),
    list: (request) => send<readonly unknown[]>(request, Array.isArray),
    events,
  };
}

async function readWhole(response: Response): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > ANSWER_LIMIT) {
      await reader.cancel();
      throw new UpstreamError(failureOf("malformed", response.status));
    }
    parts.push(value);
  }
  return Buffer.concat(parts);
}
