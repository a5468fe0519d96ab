/**
 * When a channel's keys expire, where it can be known: a JWT says it itself (RFC 7519 section 4.1.4, `exp`), and
 * OpenRouter tells of its keys ("Get current API key": GET /api/v1/key, data.expires_at; read November 2026).
 */
import { keyHint } from "../../../shared/channel-keys";
import type { Services } from "../../contracts/context";
import type { PoolChannel } from "../../contracts/channel";
import { readLimited } from "../../lib/egress";
import { fetchThrough } from "../../lib/proxy";
import { upstreamHeaders, upstreamInit } from "../channel/upstream";

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 64 * 1024;
/** Keys of one channel that are asked about. */
const MOST_KEYS = 20;

export interface Expiry {
  hint: string;
  /** Epoch seconds. */
  at: number;
}

/** `exp` of a JWT in epoch seconds; undefined for other keys. */
export function jwtExpiry(key: string): number | undefined {
  const payload = /^[\w-]+\.([\w-]+)\.[\w-]+$/.exec(key)?.[1];
  if (payload === undefined) return undefined;
  try {
    const { exp } = JSON.parse(Buffer.from(payload, "base64url").toString()) as { exp?: unknown };
    return typeof exp === "number" && Number.isFinite(exp) ? Math.floor(exp) : undefined;
  } catch {
    return undefined;
  }
}

async function openrouterExpiry(channel: PoolChannel, signal: AbortSignal): Promise<number | undefined> {
  const headers = upstreamHeaders(channel);
  if (!headers) return undefined;
  const response = await fetchThrough(`${channel.base_url}/v1/key`, {
    ...upstreamInit(channel, TIMEOUT_MS, signal),
    headers: { ...headers, accept: "application/json" },
  });
  const text = await readLimited(response, MAX_BYTES);
  if (!response.ok) return undefined;
  const { data } = JSON.parse(text) as { data?: { expires_at?: unknown } };
  const at = typeof data?.expires_at === "string" ? Date.parse(data.expires_at) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.floor(at / 1000);
}

/** The key that expires first; undefined when none tells. */
export async function keyExpiry(
  { background, log }: Pick<Services, "background" | "log">,
  channels: readonly PoolChannel[],
): Promise<Expiry | undefined> {
  const found: Expiry[] = [];
  for (const channel of channels.slice(0, MOST_KEYS)) {
    let at = jwtExpiry(channel.key);
    if (at === undefined && channel.type.balance === "openrouter") {
      try {
        at = await openrouterExpiry(channel, background.signal);
      } catch (err) {
        log.debug({ err, channel: channel.id }, "a key's expiry could not be asked for");
      }
    }
    if (at !== undefined) found.push({ hint: keyHint(channel.key), at });
  }
  return found.toSorted((a, b) => a.at - b.at)[0];
}
