/**
 * LiteLLM's encrypted texts (litellm 1.109, proxy/common_utils/encrypt_decrypt_utils.py). The key is the SHA-256 of
 * LITELLM_SALT_KEY, or of the master key where there is no salt.
 */
import { createDecipheriv, createHash } from "node:crypto";
import { openSecretbox } from "../../../lib/secretbox";

const GCM = "v2:gcm:";

const isText = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};

/** The clear text; undefined where it cannot be decrypted with this salt. */
export function openLiteText(text: string, salt: string): string | undefined {
  const key = createHash("sha256").update(salt).digest();
  const bytes = Buffer.from(text.startsWith(GCM) ? text.slice(GCM.length) : text, "base64url");
  if (!text.startsWith(GCM)) {
    const opened = openSecretbox(bytes.subarray(24), bytes.subarray(0, 24), key);
    return opened && isText(opened) ? Buffer.from(opened).toString("utf8") : undefined;
  }
  if (bytes.length < 28) return undefined;
  try {
    const open = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
    open.setAuthTag(bytes.subarray(-16));
    return open.update(bytes.subarray(12, -16), undefined, "utf8") + open.final("utf8");
  } catch {
    return undefined;
  }
}
