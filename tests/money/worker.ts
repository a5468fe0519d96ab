/**
 * A process that works on a database until it is killed, or drains on SIGTERM: `bun tests/money/worker.ts <url> <id>
 * <user> <token>`. Each of 8 callers holds, extends, settles and is refunded without end. Each result is printed in one
 * write per line, so that the reader knows what was confirmed before the kill:
 *   running <request id> <units>    an extend recorded this running cost
 *   settled <request id> <units>    the caller has the answer, for this charge
 *   refunded <request id> <units>   this much of the charge was refunded
 */
import { writeSync } from "node:fs";
import { openDb } from "../../src/server/db/client";
import { startInstance } from "../../src/server/features/wallet/instances";
import { createLedger } from "../../src/server/features/wallet/open-ledger";
import { calls } from "./world";

const [url = "", id = "", user = "", token = ""] = process.argv.slice(2);
const db = await openDb({ url, pool: 4 });
const ledger = createLedger(db, id, Date.now);
const instance = await startInstance(db, id, "test", { failed: (error) => console.error(error) });
const { hold, settle } = calls(ledger, Number(user), Number(token));
const say = (line: string) => writeSync(1, `${line}\n`);

let draining = false;
process.on("SIGTERM", () => {
  draining = true;
});

async function caller(name: number): Promise<void> {
  for (let n = 0; !draining; n++) {
    const request = `${id}-${name}-${n}`;
    if (!(await hold(request, 100)).ok) throw new Error("the test's user is rich");
    if (n % 5 === 4) {
      await ledger.release(request);
      continue;
    }
    if (n % 2) {
      await ledger.extend(request, 50, 70 + n);
      say(`running ${request} ${70 + n}`);
      await Bun.sleep(Math.random() * 4); // the stream
    }
    await settle(request, 60 + n);
    say(`settled ${request} ${60 + n}`);
    if (n % 4 === 2) {
      await ledger.refund({ charge_id: request, quota: 40 });
      say(`refunded ${request} 40`);
    }
  }
}

await Promise.all(Array.from({ length: 8 }, (_, name) => caller(name)));
await ledger.flush();
await instance.stop();
await db.close();
say("drained");
