/**
 * Request ids: 14 digits of UTC time (YYYYMMDDHHMMSS), 9 of a counter, 8 random characters. Unique per process; sorted
 * as text they are in the order of time, so that the log can be partitioned by them.
 */
import { randomText } from "../lib/secrets";

/** The beginning of the id of something that happened at `seconds` (epoch). */
export const requestIdTime = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().replace(/\D/g, "").slice(0, 14);

const suffix = randomText(8);
let second = 0;
let stamp = "";
let counter = 0;

export function newRequestId(): string {
  const current = Math.floor(Date.now() / 1000);
  if (current !== second) {
    second = current;
    counter = Math.floor(Math.random() * 1_000_000);
    stamp = requestIdTime(current);
  }
  counter++;
  return `${stamp}${String(counter).padStart(9, "0")}${suffix}`;
}
