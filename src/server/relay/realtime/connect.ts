/** Opens the upstream half of a realtime session: channels one after the other, as for any call. */
import type { AttemptRecord } from "../../../shared/log";
import { socketThrough } from "../../lib/proxy";
import type { Call } from "../call/call";
import { asIs, classifyStatus, type Failure, failureOf } from "../../protocol/upstream-failure";
import { timeoutsFor } from "../call/timeouts";
import { headersOf } from "../providers/param-override";
import { credentialId } from "../providers/credential-id";
import { providerOf } from "../providers/registry";
import type { PoolChannel } from "../../contracts/channel";
import type { Selection } from "../routing/channel-selector";
import { type Refused, tryChannels } from "../upstream/retry";
import { urlOf, withVersion } from "../providers/address";

/** What the caller asked for besides the model. */
export interface RealtimeWish {
  /** `transcription`: a session that only writes down what is said. */
  intent: string | undefined;
  /** The preview of the API, which names some events differently. */
  beta: boolean;
}

/** The client socket as Bun has it: with headers, and with pause and resume. The browser's type hides that. */
export type UpstreamSocket = Bun.WebSocket;
const ClientSocket = WebSocket as unknown as new (url: string, options: Bun.WebSocketOptions) => UpstreamSocket;

export type Frame = string | Buffer<ArrayBuffer>;

/** An open socket and what it has said: frames, and its end. */
export interface Upstream {
  socket: UpstreamSocket;
  queue: (Frame | { code: number; reason: string })[];
}

export type Connected = { ok: true; upstream: Upstream } | Refused;

/** The WebSocket address of a session; undefined when the channel's type has none. */
export function realtimeUrl(
  channel: PoolChannel,
  call: Pick<Call, "operation" | "api_version">,
  model: string,
  intent?: string,
): string | undefined {
  const address = withVersion(urlOf(channel, call.operation, model), call);
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  // http -> ws, https -> wss
  url.protocol = url.protocol.replace("http", "ws");
  // Exactly one of the two (OpenAI's SDK, buildRealtimeURL); a vendor that names the deployment has named the model.
  if (intent !== undefined) url.searchParams.set("intent", intent);
  else if (!url.searchParams.has("model") && !url.searchParams.has("deployment")) url.searchParams.set("model", model);
  return url.href;
}

/** Tries channels until one opens. Its socket is paused: nothing is lost until somebody listens. Never throws. */
export function connect(call: Call, selection: Selection, wish: RealtimeWish): Promise<Connected> {
  return tryChannels<{ ok: true; upstream: Upstream }>(call, selection, async (_, channel) => {
    const outcome = await attempt(call, channel, wish);
    return isFailure(outcome) ? { ok: false, failure: outcome } : { ok: true, upstream: outcome };
  });
}

const isFailure = (outcome: Upstream | Failure): outcome is Failure => "class" in outcome;

async function attempt(call: Call, channel: PoolChannel, wish: RealtimeWish): Promise<Upstream | Failure> {
  const { engine, request } = call;
  const {
    controlPlane,
    routing: { cooldown },
  } = engine;
  const started = controlPlane.now();
  const record: AttemptRecord = {
    channel: channel.id,
    channel_name: channel.name,
    status: 0,
    failure: "",
    message: "",
    start_ms: started - call.arrived,
    duration_ms: 0,
    first_content_ms: -1,
    upstream_request_id: "",
    ...(channel.key_row && { key: channel.key_row }),
  };
  call.attempts.push(record);
  call.channel = channel;
  call.upstream_model = channel.model_mapping.get(request.model) ?? request.model;
  cooldown.begin(credentialId(channel), request.model, record);
  const outcome = await open(call, channel, wish);
  record.duration_ms = controlPlane.now() - started;
  engine.observer.attempted(channel, isFailure(outcome) ? outcome.class : "ok");
  if (!isFailure(outcome)) {
    record.status = 101;
    cooldown.served(credentialId(channel), request.model, started);
    return outcome;
  }
  record.status = outcome.upstream_status;
  record.failure = outcome.class;
  record.message = outcome.phase ?? "";
  cooldown.failed(credentialId(channel), request.model, record, started, outcome);
  if (!call.left) {
    const { upstream_status: status, disable } = outcome;
    controlPlane.channelFailed(channel, {
      status,
      disable,
      message: "",
      request_id: call.request_id,
      model: request.model,
      quoted: () => false,
    });
  }
  return outcome;
}

/** Resolves with the open socket, or with why there is none. */
async function open(call: Call, channel: PoolChannel, wish: RealtimeWish): Promise<Upstream | Failure> {
  const { engine } = call;
  const url = realtimeUrl(channel, call, call.upstream_model, wish.intent);
  const provider = providerOf(channel);
  const headers = provider && headersOf(provider, channel);
  if (url === undefined || !headers) return failureOf("malformed");
  if (wish.beta) headers["openai-beta"] = "realtime=v1";
  const { proxy } = channel.setting;
  const { promise, resolve } = Promise.withResolvers<Upstream | Failure>();
  let socket: UpstreamSocket;
  try {
    // What cannot go through its proxy goes nowhere.
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
  call.onLeave = () => giveUp(failureOf("cut"));
  if (call.left) call.onLeave();
  socket.onopen = () => {
    socket.pause();
    // Its first frames may have come with the handshake's answer.
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
    call.onLeave = undefined;
  });
}

/**
 * The runtime tells the status of a refused handshake in its message alone (Bun 1.4: "Expected 101 status code: 401").
 */
function handshakeFailure(event: object, { status_mapping }: PoolChannel): Failure {
  const message = "message" in event ? String(event.message) : "";
  const status = /Expected 101 status code: (\d{3})$/.exec(message)?.[1];
  return status === undefined
    ? failureOf("unreachable")
    : classifyStatus(asIs, Number(status), undefined, status_mapping);
}
