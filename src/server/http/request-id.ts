/** Request ids: 14 digits of local time, 9 of a counter, 8 random characters. Unique per process. */
import { randomText } from "../lib/secrets";

const suffix = randomText(8);
let second = 0;
let stamp = "";
let counter = 0;

const two = (n: number): string => String(n).padStart(2, "0");

export function newRequestId(): string {
  const now = Date.now();
  const current = Math.floor(now / 1000);
  if (current !== second) {
    second = current;
    counter = Math.floor(Math.random() * 1_000_000);
    const d = new Date(now);
    stamp = `${d.getFullYear()}${two(d.getMonth() + 1)}${two(d.getDate())}${two(d.getHours())}${two(d.getMinutes())}${two(d.getSeconds())}`;
  }
  counter++;
  return `${stamp}${String(counter).padStart(9, "0")}${suffix}`;
}
