/**
 * A process that finds what is wrong, until it is killed: bun tests/kit/alert-worker.ts <database> <epoch ms> <target>
 *
 * It opens incidents without end and prints the subject of each that is committed. The message of the first it takes
 * for sending, and never sends it.
 */
import { writeSync } from "node:fs";
import { openDb } from "../../src/server/db/client";
import { dueMessages, openFindings, takeMessages } from "../../src/server/features/alert/incidents";

const [url = "", moment = "", target = ""] = process.argv.slice(2);
const services = { db: await openDb({ url, pool: 2 }), now: () => Number(moment), changes: { tell: () => {} } };

for (let n = 0; ; n++) {
  const params = { name: `model-${n}`, percent: 50, calls: 10, errors: 5, minutes: 5 };
  const subject = `model:killed-${n}`;
  await openFindings(services, [
    { rule: "killed", subject, severity: "warning", code: "errors_share", params, targets: [target] },
  ]);
  writeSync(1, `${subject}\n`);
  if (n > 0) continue;
  const [first] = await dueMessages(services, target);
  if (first) await takeMessages(services, [first.delivery.id], Math.floor(services.now() / 1000) + 300);
}
