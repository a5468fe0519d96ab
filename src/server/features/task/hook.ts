/** Posts to a caller's address what became of a job (Midjourney's notifyHook): once, by the policy of lib/egress.ts. */
import type { Services } from "../../contracts/context";
import { egressFetch } from "../../lib/egress";
import { userFetch } from "../option/egress-policy";

/** The timeout of a receiver; the job's owner can always query it. */
const TIMEOUT_MS = 10_000;
/** The receiver's answer is not used. */
const ANSWER_BYTES = 64 * 1024;

type Needs = Pick<Services, "background" | "env" | "log" | "options">;

/** Returns at once and never throws. */
export function sendWebhook(services: Needs, address: string, body: Readonly<Record<string, unknown>>): void {
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
