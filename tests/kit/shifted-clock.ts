/**
 * Loaded before the server in tests of a clock that is set forward or back: the wall clock is the machine's plus the
 * seconds in the file named by CLOCK_FILE. Timers and performance.now() go on as they do.
 */
import { readFileSync } from "node:fs";

const file = process.env.CLOCK_FILE ?? "";
const real = Date.now.bind(Date);
let ahead = 0;

function read(): void {
  try {
    ahead = Number(readFileSync(file, "utf8")) * 1000;
  } catch {
    // None is set.
  }
}

read();
setInterval(read, 20).unref();
const now = (): number => real() + ahead;

globalThis.Date = new Proxy(Date, {
  construct: (target, args: [], self) => Reflect.construct(target, args.length === 0 ? [now()] : args, self) as Date,
  apply: () => new Date(now()).toString(),
  get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
});
