/**
 * Access tokens of channels: fetched once for all waiting calls and cached until shortly before they expire. In memory
 * only.
 */
import type { PoolChannel } from "../../contracts/channel";
import type { FreshToken } from "./provider";

/** A token is renewed this long before it expires, but cached for at least half its lifetime. */
const RENEW_BEFORE_MS = 60_000;
/** Most cached tokens: there are few channels, so more belong to keys that are gone. */
const MAX_TOKENS = 10_000;

interface Kept {
  token: string;
  /** Epoch milliseconds. */
  until: number;
}

export class AccessTokenCache {
  readonly #kept = new Map<string, Kept>();
  readonly #flights = new Map<string, Promise<string>>();

  /** The token of a channel. Calls `fetchToken` when none is cached, once at a time per channel. Throws its errors. */
  async get(channel: PoolChannel, now: () => number, fetchToken: () => Promise<FreshToken>): Promise<string> {
    const name = nameOf(channel);
    for (;;) {
      const kept = this.#kept.get(name);
      if (kept && kept.until > now()) return kept.token;
      const flight = this.#flights.get(name);
      if (!flight) break;
      // The fetch belongs to another call and is aborted with it; then this call fetches itself.
      const token = await flight.catch(() => undefined);
      if (token !== undefined) return token;
    }
    const flight = this.#fetch(name, now, fetchToken).finally(() => this.#flights.delete(name));
    this.#flights.set(name, flight);
    return flight;
  }

  /** Drops a token that the vendor no longer accepts. */
  drop(channel: PoolChannel): void {
    this.#kept.delete(nameOf(channel));
  }

  async #fetch(name: string, now: () => number, ask: () => Promise<FreshToken>): Promise<string> {
    const { token, expires_in } = await ask();
    const life = Math.max(0, expires_in * 1000);
    this.#kept.delete(name);
    this.#kept.set(name, { token, until: now() + Math.max(life - RENEW_BEFORE_MS, life / 2) });
    const oldest = this.#kept.size > MAX_TOKENS ? this.#kept.keys().next() : undefined;
    if (oldest && !oldest.done) this.#kept.delete(oldest.value);
    return token;
  }
}

/** A changed key is another account; the address and the proxy decide where the token comes from. */
const nameOf = ({ id, key, base_url }: PoolChannel): string =>
  `${id} ${new Bun.CryptoHasher("sha256").update(`${key}\n${base_url}`).digest("base64")}`;
