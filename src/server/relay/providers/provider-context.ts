/**
 * What a provider may use of the world: the network under the call's signal and the channel's proxy, time, and tokens.
 */
import { fetchThrough } from "../../lib/proxy";
import { realTimers, type Timers } from "../../lib/timers";
import type { Warn } from "../../protocol/chat-events";
import { asIs, classifyStatus, type Redact } from "../../protocol/upstream-failure";
import { UpstreamError } from "../../protocol/upstream-error";
import type { SpooledBody } from "../../lib/request-body/spooled-body";
import type { PoolChannel } from "../../contracts/channel";
import type { Outgoing, ProviderContext } from "./provider";
import { noteMinted, redactOf } from "./redact";
import { AccessTokenCache } from "./access-token-cache";

/** Where tools come from: the relay's engine, or a test of a channel. */
export interface ProviderServices {
  readonly timers: Timers;
  readonly accessTokens: AccessTokenCache;
  fetch(url: string, init: BunFetchRequestInit): Promise<Response>;
}

/** What a fetch for a channel has in common: the signal, its proxy, no redirect. */
export function initFor({ setting: { proxy } }: PoolChannel, signal: AbortSignal): BunFetchRequestInit {
  return { signal, redirect: "manual", ...(proxy !== undefined && { proxy }) };
}

export function providerContextFor(
  box: ProviderServices,
  channel: PoolChannel,
  signal: AbortSignal,
  now: () => number,
  warn: Warn = () => undefined,
): ProviderContext {
  return {
    signal,
    warn,
    redact: redactOf(channel),
    fetch: (url, init) => {
      const { authorization = "" } = init.headers ?? {};
      // A token that the sender made of the key.
      if (!authorization.endsWith(channel.key)) noteMinted(channel, authorization);
      return box.fetch(url, { ...init, ...initFor(channel, signal) });
    },
    now,
    wait: (ms) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const leave = (): void => {
          cancel();
          reject(signal.reason);
        };
        const cancel = box.timers.after(ms, () => {
          signal.removeEventListener("abort", leave);
          resolve();
        });
        signal.addEventListener("abort", leave, { once: true });
      }),
    async token(ask) {
      const token = await box.accessTokens.get(channel, now, ask);
      noteMinted(channel, token);
      return token;
    },
    dropToken: () => box.accessTokens.drop(channel),
  };
}

const ownBox: ProviderServices = { timers: realTimers, accessTokens: new AccessTokenCache(), fetch: fetchThrough };

/** Tools for a call of our own: the test of a channel. */
export const ownProviderContext = (channel: PoolChannel, signal: AbortSignal): ProviderContext =>
  providerContextFor(ownBox, channel, signal, Date.now);

/** Sends a request as it stands. */
export const send = (outgoing: Outgoing, context: Pick<ProviderContext, "fetch">): Promise<Response> => {
  const { url, headers, body, form, spooled } = outgoing;
  return spooled
    ? sendLarge(spooled, outgoing, context)
    : context.fetch(url, { method: "POST", headers, body: form ?? body });
};

async function sendLarge(
  spooled: SpooledBody,
  outgoing: Outgoing,
  context: Pick<ProviderContext, "fetch">,
): Promise<Response> {
  const { body, length } = await spooled.send(outgoing);
  return context.fetch(outgoing.url, {
    method: "POST",
    headers: { ...outgoing.headers, "content-length": String(length) },
    body,
  });
}

/**
 * What a vendor that gave no token leaves the attempt with: `status` of its answer, and its words. Refused credentials
 * count as such whatever the status (OAuth answers 400). `redact` is the channel's, where the words are the vendor's.
 */
export function tokenRefused(status: number, message: string, redact: Redact = asIs): UpstreamError {
  const bad = status >= 200 && status < 500 && status !== 429;
  return new UpstreamError(
    classifyStatus(redact, bad ? 401 : status, { message, type: "token", code: "", param: null }, new Map()),
  );
}
