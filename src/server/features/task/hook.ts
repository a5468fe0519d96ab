/**
 * Tells an address that a caller typed what has become of his job (Midjourney's notifyHook): once, by the policy of
 * lib/egress.ts.
 */
import type { Services } from "../../contracts/context";
import { egressFetch } from "../../lib/egress";
import { userFetch } from "../option/egress-policy";

/** Receivers are told within this time or not at all; their owner can always ask. */
const TIMEOUT_MS = 10_000;
/** What they answer is of no account. */
const ANSWER_BYTES = 64 * 1024;

type Needs = Pick<Services, "background" | "env" | "log" | "options">;

/** Answers at once and never throws. */
export function tellHook(services: Needs, address: string, body: Readonly<Record<string, unknown>>): void {
  const { background, log } = services;
  const work = egressFetch(address, {
    ...userFetch(services),
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
    timeoutMs: TIMEOUT_MS,
    maxBytes: ANSWER_BYTES,
    signal: background.signal,
  });
  background.track(
    "job hook",
    work.catch((err: unknown) => log.info({ err }, "a caller's hook could not be told")),
  );
}
