/**
 * Access tokens of channels: fetched once for everybody who waits, kept until shortly before they end. In memory only.
 */
import type { PoolChannel } from "../../contracts/channel";
import type { FreshToken } from "./provider";

/** A token is renewed this long before it ends, but kept for half its life at least. */
const EARLY_MS = 60_000;
/** Channels are few; what is beyond belongs to keys that are gone. */
const MAX_TOKENS = 10_000;

interface Kept {
  token: string;
  /** Epoch milliseconds. */
  until: number;
}

export class AccessTokenCache {
  readonly #kept = new Map<string, Kept>();
  readonly #flights = new Map<string, Promise<string>>();

  /**
   * The token of a channel. Calls `ask` when there is none; one flight at a time for a channel. Throws what `ask` does.
   */
  async get(channel: PoolChannel, now: () => number, ask: () => Promise<FreshToken>): Promise<string> {
    const name = nameOf(channel);
    for (;;) {
      const kept = this.#kept.get(name);
      if (kept && kept.until > now()) return kept.token;
      const flight = this.#flights.get(name);
      if (!flight) break;
      // The flight belongs to another call and ends with it; then this one asks for itself.
      const token = await flight.catch(() => undefined);
      if (token !== undefined) return token;
    }
    const flight = this.#fetch(name, now, ask).finally(() => this.#flights.delete(name));
    this.#flights.set(name, flight);
    return flight;
  }

  /** Drops a token that the vendor no longer takes. */
  drop(channel: PoolChannel): void {
    this.#kept.delete(nameOf(channel));
  }

  async #fetch(name: string, now: () => number, ask: () => Promise<FreshToken>): Promise<string> {
    const { token, expires_in } = await ask();
    const life = Math.max(0, expires_in * 1000);
    this.#kept.delete(name);
    this.#kept.set(name, { token, until: now() + Math.max(life - EARLY_MS, life / 2) });
    const oldest = this.#kept.size > MAX_TOKENS ? this.#kept.keys().next() : undefined;
    if (oldest && !oldest.done) this.#kept.delete(oldest.value);
    return token;
  }
}

/** A changed key is another account; the address and the proxy are where the token was got. */
const nameOf = ({ id, key, base_url }: PoolChannel): string =>
  `${id} ${new Bun.CryptoHasher("sha256").update(`${key}\n${base_url}`).digest("base64")}`;
