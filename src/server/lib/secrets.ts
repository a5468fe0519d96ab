/**
 * The master secret and its derived keys: sub-keys by HKDF per purpose, AES-256-GCM for what must be decrypted, HMAC
 * for what is only compared. A key of one purpose is useless for another.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

import { CannotStart } from "./cannot-start";

export type Purpose =
  | "relay-key"
  | "imported-key"
  | "channel-key"
  | "channel-secret"
  | "redemption-key"
  | "session"
  | "device"
  | "access-token"
  | "setup-code"
  | "demo-upstream"
  | "code"
  | "turnstile"
  | "ticket"
  | "totp"
  | "option-secret"
  | "user-secret"
  | "push-key"
  | "answered-request"
  | "canary";

const BASE62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Uniform random letters and digits. */
export function randomText(length: number, alphabet: string = BASE62): string {
  const limit = 256 - (256 % alphabet.length);
  let out = "";
  while (out.length < length) {
    for (const byte of randomBytes(length * 2))
      if (byte < limit && out.length < length) out += alphabet[byte % alphabet.length];
  }
  return out;
}

export const sha256 = (data: string): string => createHash("sha256").update(data).digest("hex");

/** Compares two texts in time that does not depend on where they differ. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest());
}

export class WrongSecret extends CannotStart {}

export interface Secrets {
  /** Keyed hash (hex) for look-up. */
  hash(purpose: Purpose, text: string): string;
  /** `k1.<iv>.<cipher+tag>`, base64url; "" stays "". */
  encrypt(purpose: Purpose, text: string): string;
  /** Throws WrongSecret when the text was encrypted under another secret or was changed. */
  decrypt(purpose: Purpose, cipher: string): string;
}

const KEY_ID = "k1";

export function createSecrets(master: string): Secrets {
  const keys = new Map<string, Buffer>();
  const key = (purpose: Purpose, use: "hash" | "encrypt"): Buffer => {
    const name = `${use}:${purpose}`;
    let found = keys.get(name);
    if (!found) keys.set(name, (found = Buffer.from(hkdfSync("sha256", master, "weir", name, 32))));
    return found;
  };
  // Keyed once and copied: half the time of createHmac, and every call hashes its key.
  const hashers = new Map<Purpose, Bun.CryptoHasher>();
  const hasher = (purpose: Purpose): Bun.CryptoHasher => {
    let found = hashers.get(purpose);
    if (!found) hashers.set(purpose, (found = new Bun.CryptoHasher("sha256", key(purpose, "hash"))));
    return found;
  };
  return {
    hash: (purpose, text) => hasher(purpose).copy().update(text).digest("hex"),
    encrypt: (purpose, text) => {
      if (text === "") return "";
      const iv = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key(purpose, "encrypt"), iv);
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return `${KEY_ID}.${iv.toString("base64url")}.${body.toString("base64url")}`;
    },
    decrypt: (purpose, cipher) => {
      if (cipher === "") return "";
      const [id, iv, body] = cipher.split(".");
      if (id !== KEY_ID || !iv || !body) throw new WrongSecret("The text is not one of ours");
      const bytes = Buffer.from(body, "base64url");
      try {
        const open = createDecipheriv("aes-256-gcm", key(purpose, "encrypt"), Buffer.from(iv, "base64url"));
        open.setAuthTag(bytes.subarray(-16));
        return open.update(bytes.subarray(0, -16), undefined, "utf8") + open.final("utf8");
      } catch (cause) {
        throw new WrongSecret("The text was encrypted under another secret, or was changed", { cause });
      }
    },
  };
}
