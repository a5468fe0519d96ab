import { expect, test } from "bun:test";
import { localBus } from "../../cluster/local";
import { freshDatabase } from "../../../../tests/kit/databases";
import { createLogger } from "../../lib/log";
import { createSecrets } from "../../lib/secrets";
import { openOptionStore } from "./store";

test("a slow reload of the options does not undo what was set meanwhile", async () => {
  const { db, close } = await freshDatabase("sqlite");
  const gate = Promise.withResolvers<void>();
  let slow = false;
  const q = new Proxy(db.q, {
    get: (target, member) => {
      if (member !== "select" || !slow) return Reflect.get(target, member);
      slow = false;
      return () => ({
        from: async (table: typeof db.t.options) => {
          const rows = await db.q.select().from(table);
          await gate.promise;
          return rows;
        },
      });
    },
  });
  const log = createLogger({ level: "silent", format: "json" });
  const bus = localBus();
  const store = await openOptionStore({
    db: { ...db, q },
    bus,
    secrets: createSecrets("a secret for tests only"),
    log,
    now: Date.now,
  });
  slow = true;
  const reading = store.reload();
  await store.set("SystemName", "Second");
  gate.resolve();
  await reading;
  expect(store.get("SystemName")).toBe("Second");
  await close();
});
