/** Opens the upstream side of a realtime session: tries channels one after the other, like any call. */
import { socketThrough } from "../../lib/proxy";
import type { Admitted, Asked, Attempted } from "../call/call";
import { asIs } from "../../protocol/clean-text";
import { classifyStatus, type Failure, failureOf } from "../../protocol/upstream-failure";
import { timeoutsFor } from "../call/timeouts";
import { headersOf } from "../providers/param-override";
import { providerOf } from "../providers/registry";
import type { PoolChannel } from "../../contracts/channel";
import { attemptFailed, attemptServed, beginAttempt } from "../upstream/attempt-record";
import { type RetryOutcome, tryChannels } from "../upstream/retry";
import { urlOf, withVersion } from "../providers/address";

/** The caller's settings besides the model. */
export interface RealtimeWish {
  /** `transcription`: a session that only transcribes speech. */
  intent: string | undefined;
  /** The API's preview version, which names some events differently. */
  beta: boolean;
}

/** The client socket as Bun has it: with headers, and with pause and resume. The browser's type hides that. */
export type UpstreamSocket = Bun.WebSocket;
const ClientSocket = WebSocket as unknown as new (url: string, options: Bun.WebSocketOptions) => UpstreamSocket;

export type Frame = string | Buffer<ArrayBuffer>;

/** An open socket and its received frames and close event. */
export interface Upstream {
  socket: UpstreamSocket;
  queue: (Frame | { code: number; reason: string })[];
}

/** The WebSocket address of a session; undefined when the channel's type has none. */
function realtimeUrl(
  channel: PoolChannel,
  { operation, api_version }: Pick<Asked, "operation" | "api_version">,
  model: string,
  intent?: string,
): string | undefined {
  const address = withVersion(urlOf(channel, operation, model), { api_version });
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  // http -> ws, https -> wss
  url.protocol = url.protocol.replace("http", "ws");
  // Exactly one of the two (OpenAI's SDK, buildRealtimeURL); a vendor that names the deployment has named the model.
  if (intent !== undefined) url.searchParams.set("intent", intent);
  else if (!url.searchParams.has("model") && !url.searchParams.has("deployment")) url.searchParams.set("model", model);
  return url.href;
}

/** Tries channels until one opens. Its socket is paused: nothing is lost before the session listens. Never throws. */
export const connect = (call: Admitted, wish: RealtimeWish): Promise<RetryOutcome<Upstream>> =>
  tryChannels(call, async (attempt) => {
    const outcome = await attemptConnection(attempt, wish);
    return isFailure(outcome) ? { ok: false, failure: outcome } : { ok: true, answer: outcome };
  });

const isFailure = (outcome: Upstream | Failure): outcome is Failure => "kind" in outcome;

async function attemptConnection(attempt: Attempted, wish: RealtimeWish): Promise<Upstream | Failure> {
  const { call, channel, translation } = attempt;
  const { model } = call.asked.request;
  const record = beginAttempt(attempt);
  translation.sent(channel.model_mapping.get(model) ?? model, []);
  const outcome = await open(attempt, wish);
  if (isFailure(outcome)) {
    record.status = outcome.upstream_status;
    attemptFailed(attempt, record, outcome, () => false);
  } else {
    record.status = 101;
    attemptServed(attempt, record);
  }
  return outcome;
}

/** Resolves with the open socket, or with why there is none. */
async function open({ call, channel, translation }: Attempted, wish: RealtimeWish): Promise<Upstream | Failure> {
  const { asked, progress } = call;
  const { engine } = asked;
  const url = realtimeUrl(channel, asked, translation.upstream_model, wish.intent);
  const provider = providerOf(channel);
  const headers = provider && headersOf(provider, channel);
  if (url === undefined || !headers) return failureOf("malformed");
  if (wish.beta) headers["openai-beta"] = "realtime=v1";
  const { proxy } = channel.setting;
  const { promise, resolve } = Promise.withResolvers<Upstream | Failure>();
  let socket: UpstreamSocket;
  try {
    // A connection that cannot use its proxy is not made.
    socket = await socketThrough(
      proxy,
      (through) => new ClientSocket(url, { headers, perMessageDeflate: false, ...through }),
    );
  } catch {
    return failureOf("unreachable");
  }
  const { connectMs } = timeoutsFor(engine.controlPlane.option, channel);
  const giveUp = (failure: Failure): void => {
    resolve(failure);
    socket.terminate();
  };
  const cancel = engine.timers.after(connectMs, () => giveUp(failureOf("timeout", 0, "connect")));
  progress.onLeave = () => giveUp(failureOf("cut"));
  if (progress.left) progress.onLeave();
  socket.onopen = () => {
    socket.pause();
    // Its first frames may have arrived with the handshake's response.
    const queue: Upstream["queue"] = [];
    socket.onmessage = ({ data }) => queue.push(data);
    socket.onclose = ({ code, reason }) => queue.push({ code, reason });
    socket.onerror = null;
    resolve({ socket, queue });
  };
  socket.onerror = (event) => resolve(handshakeFailure(event, channel));
  socket.onclose = () => resolve(failureOf("cut"));
  return promise.finally(() => {
    cancel();
    progress.onLeave = undefined;
  });
}

/**
 * The runtime reports the status of a refused handshake only in its message (Bun 1.4: "Expected 101 status code: 401").
 */
function handshakeFailure(event: object, { status_mapping }: PoolChannel): Failure {
  const message = "message" in event ? String(event.message) : "";
  const status = /Expected 101 status code: (\d{3})$/.exec(message)?.[1];
  return status === undefined
    ? failureOf("unreachable")
    : classifyStatus(asIs, Number(status), undefined, status_mapping);
}
