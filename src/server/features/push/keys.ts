/**
 * The keys that identify this gateway to push services (VAPID, RFC 8292): made at the first use, the same for all
 * instances, the private one encrypted. Another pair would make every subscription useless.
 */
import { eq } from "drizzle-orm";
import * as z from "zod";
import type { Services } from "../../contracts/context";
import type { Secrets } from "../../lib/secrets";

export const VAPID = "vapid";
const stored = z.object({ public_key: z.string(), private_key_cipher: z.string() });

export interface VapidKeys {
  publicKey: string;
  privateKey: string;
}

export async function vapidKeys({ db, secrets }: Pick<Services, "db" | "secrets">): Promise<VapidKeys> {
  const { meta } = db.t;
  const read = async () => (await db.q.select({ value: meta.value }).from(meta).where(eq(meta.name, VAPID)))[0]?.value;
  let value = await read();
  if (value === undefined) {
    const { default: webPush } = await import("web-push");
    const made = webPush.generateVAPIDKeys();
    const kept = JSON.stringify({
      public_key: made.publicKey,
      private_key_cipher: secrets.encrypt("push-key", made.privateKey),
    });
    // Another instance may have been first: then its keys are used.
    await db.q.insert(meta).values({ name: VAPID, value: kept }).onConflictDoNothing().returning({ name: meta.name });
    value = (await read()) ?? kept;
  }
  const { public_key, private_key_cipher } = stored.parse(JSON.parse(value));
  return { publicKey: public_key, privateKey: secrets.decrypt("push-key", private_key_cipher) };
}

/** For `weir secret rotate`: the stored keys under another master secret. */
export function rotateVapid(value: string, old: Secrets, next: Secrets): string {
  const { public_key, private_key_cipher } = stored.parse(JSON.parse(value));
  return JSON.stringify({
    public_key,
    private_key_cipher: next.encrypt("push-key", old.decrypt("push-key", private_key_cipher)),
  });
}
