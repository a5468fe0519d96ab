/** The requests that the upstream received: one entry per request, kept until cleared. */
import type { Clock } from "./clock";
import type { Exchange, Headers } from "./wire";

export interface JournalEntry {
  method: string;
  path: string;
  query: Record<string, string>;
  /** Names in lower case. */
  headers: Headers;
  /** Body as UTF-8 text; `bytes` has the original. */
  body: string;
  bytes: Uint8Array;
  /** The API key from Authorization, x-api-key, api-key, x-goog-api-key or ?key=; "" when none was sent. */
  key: string;
  /** The requested model name; "" when the request names none. */
  model: string;
  /** Milliseconds since the epoch, by the upstream's clock. */
  arrivedAt: number;
  /** The answer has ended: sent, cut by the behaviour, or aborted by the caller. */
  finished: boolean;
  /** The caller closed its connection before the answer was over. */
  aborted: boolean;
  abortedAt?: number;
  /** Answer bytes handed to the kernel, head and chunk framing included. */
  bytesWritten: number;
}

export interface Journal {
  readonly entries: readonly JournalEntry[];
  /** The newest entry; throws when there is none. */
  last(): JournalEntry;
  /**
   * The first entry, past or future, for which the predicate holds; rejects after `timeoutMs` (default 2000, real
   * time).
   */
  wait(predicate: (entry: JournalEntry) => boolean, timeoutMs?: number): Promise<JournalEntry>;
  clear(): void;
}

export function createJournal(clock: Clock): Journal & {
  open(exchange: Exchange, seen: { key: string; model: string; query: Record<string, string> }): JournalEntry;
  close(exchange: Exchange): void;
} {
  let entries: JournalEntry[] = [];
  const running = new Map<Exchange, JournalEntry>();
  const waiting = new Set<(entry: JournalEntry) => void>();
  const changed = (entry: JournalEntry): void => waiting.forEach((check) => check(entry));

  return {
    get entries() {
      for (const [exchange, entry] of running) entry.bytesWritten = exchange.bytesWritten;
      return entries;
    },
    open(exchange, seen) {
      const { method, path, headers, body } = exchange.request;
      const entry: JournalEntry = {
        method,
        path,
        headers,
        ...seen,
        body: body.toString("utf8"),
        bytes: body,
        arrivedAt: clock.now(),
        finished: false,
        aborted: false,
        bytesWritten: 0,
      };
      entries.push(entry);
      running.set(exchange, entry);
      changed(entry);
      return entry;
    },
    close(exchange) {
      const entry = running.get(exchange);
      if (!entry) return;
      running.delete(exchange);
      entry.finished = true;
      entry.bytesWritten = exchange.bytesWritten;
      if (exchange.aborted) {
        entry.aborted = true;
        entry.abortedAt = clock.now();
      }
      changed(entry);
    },
    last() {
      const entry = this.entries.at(-1);
      if (!entry) throw new Error("the fake upstream was not asked anything");
      return entry;
    },
    wait(predicate, timeoutMs = 2000) {
      const known = this.entries.find(predicate);
      if (known) return Promise.resolve(known);
      return new Promise((resolve, reject) => {
        const check = (entry: JournalEntry): void => {
          if (!predicate(entry)) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve(entry);
        };
        const timer = setTimeout(() => {
          waiting.delete(check);
          const seen = entries.map(
            (e) => `${e.method} ${e.path} ${e.model} finished=${e.finished} aborted=${e.aborted}`,
          );
          reject(new Error(`no such request within ${timeoutMs} ms; seen:\n${seen.join("\n") || "(nothing)"}`));
        }, timeoutMs);
        waiting.add(check);
      });
    },
    clear() {
      entries = [];
    },
  };
}
