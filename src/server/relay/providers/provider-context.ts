/** The tools of a provider: the network with the call's signal and the channel's proxy, time, and tokens. */
import { fetchThrough } from "../../lib/proxy";
import { realTimers, type Timers } from "../../lib/timers";
import type { Warn } from "../../protocol/chat-events";
import { asIs, type Redact } from "../../protocol/clean-text";
import { classifyStatus } from "../../protocol/upstream-failure";
import { UpstreamError } from "../../protocol/upstream-error";
import type { SpooledBody } from "../../lib/request-body/spooled-body";
import type { PoolChannel } from "../../contracts/channel";
import type { Outgoing, ProviderContext } from "./provider";
import { rememberToken, redactOf } from "./redact";
import { AccessTokenCache } from "./access-token-cache";

/** Where tools come from: the relay's engine, or a channel test. */
export interface ProviderServices {
  readonly timers: Timers;
  readonly accessTokens: AccessTokenCache;
  fetch(url: string, init: BunFetchRequestInit): Promise<Response>;
}

/** Fetch options that all of a channel's requests share: the signal, its proxy, no redirects. */
export function initFor({ setting: { proxy } }: PoolChannel, signal: AbortSignal): BunFetchRequestInit {
  const init: BunFetchRequestInit = { signal, redirect: "manual" };
  if (proxy !== undefined) init.proxy = proxy;
  return init;
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
      // The request carries a token that the provider derived from the key.
      if (!authorization.endsWith(channel.key)) rememberToken(channel, authorization);
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
    async token(fetchToken) {
      const token = await box.accessTokens.get(channel, now, fetchToken);
      rememberToken(channel, token);
      return token;
    },
    dropToken: () => box.accessTokens.drop(channel),
  };
}

const ownBox: ProviderServices = { timers: realTimers, accessTokens: new AccessTokenCache(), fetch: fetchThrough };

/** Tools for a call of Weir itself: the channel test. */
export const ownProviderContext = (channel: PoolChannel, signal: AbortSignal): ProviderContext =>
  providerContextFor(ownBox, channel, signal, Date.now);

/** Sends a request unchanged. */
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
 * The failure of an attempt whose vendor gave no token: `status` of its answer, and its message. Refused credentials
 * count as such whatever the status (OAuth answers 400). `redact` removes the channel's secrets when the message is the
 * vendor's.
 */
export function tokenRefused(status: number, message: string, redact: Redact = asIs): UpstreamError {
  const bad = status >= 200 && status < 500 && status !== 429;
  return new UpstreamError(
    classifyStatus(redact, bad ? 401 : status, { message, type: "token", code: "", param: null }, new Map()),
  );
}
