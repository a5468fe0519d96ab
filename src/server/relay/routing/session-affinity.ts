/**
 * The previous channel of each conversation: vendors keep prompt caches per account, so its next turn goes there again.
 * Remembered for five minutes after the last turn, in this process; forgotten when the channel goes into cooldown.
 */
import { isObject, type JsonObject } from "../../lib/json-bytes";

const KEEP_MS = 300_000;
const MAX_ENTRIES = 50_000;

export class SessionAffinity {
  readonly #places = new Map<string, { channel: number; until: number }>();

  constructor(readonly now: () => number) {}

  /** The channel of this conversation, undefined when none is known. */
  get(key: string): number | undefined {
    const place = this.#places.get(key);
    if (!place) return undefined;
    if (place.until > this.now()) return place.channel;
    this.#places.delete(key);
    return undefined;
  }

  set(key: string, channel: number): void {
    const now = this.now();
    this.#places.delete(key); // the most recently used entry is dropped last
    this.#places.set(key, { channel, until: now + KEEP_MS });
    // The oldest stand first: each new entry takes two of those that nothing will ask for.
    let drops = 2;
    for (const [oldest, { until }] of this.#places) {
      if (drops-- === 0 || (until > now && this.#places.size <= MAX_ENTRIES)) return;
      this.#places.delete(oldest);
    }
  }

  /** Conversations that are remembered. */
  get size(): number {
    return this.#places.size;
  }

  delete(key: string): void {
    this.#places.delete(key);
  }
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
const roleOf = (message: unknown): unknown => (isObject(message) ? message.role : undefined);

/** System prompt and first message, wherever the caller's dialect puts them; undefined without messages. */
function beginning(body: JsonObject): unknown[] | undefined {
  const system = body.system ?? body.instructions ?? body.systemInstruction ?? body.system_instruction;
  const messages = body.messages ?? body.contents ?? body.input ?? body.prompt;
  if (!Array.isArray(messages)) return messages === undefined ? undefined : [system, messages];
  const first = messages.findIndex((message) => roleOf(message) !== "system" && roleOf(message) !== "developer");
  return [system, ...messages.slice(0, first < 0 ? messages.length : first + 1)];
}

/**
 * Identifies a conversation among those of its user: by the cache key or end user that the caller names, else by its
 * beginning. A digest, so that no text of the user is kept. undefined when the body has none of these.
 */
export function affinityKey(body: JsonObject, user: number, group: string, model: string): string | undefined {
  const metadata = isObject(body.metadata) ? body.metadata.user_id : undefined;
  const named = text(body.prompt_cache_key) ?? text(body.user) ?? text(metadata);
  const said = named ?? beginning(body);
  if (said === undefined) return undefined;
  return `${user} ${group} ${model} ${Bun.hash(typeof said === "string" ? said : JSON.stringify(said)).toString(36)}`;
}
