/**
 * Tencent Cloud's signature TC3-HMAC-SHA256 (cloud.tencent.com/document/api/213/30654, read November 2026): canonical
 * request, string to sign, and a key derived for the day and the service.
 */
import { createHash, createHmac } from "node:crypto";

export interface Tc3Request {
  readonly secret_id: string;
  readonly secret_key: string;
  /** The product, for example `hunyuan`. */
  readonly service: string;
  /** As the Host header is sent, with a port where it has one. */
  readonly host: string;
  readonly action: string;
  readonly content_type: string;
  readonly body: string | Uint8Array;
  /** Epoch seconds; also the X-TC-Timestamp header. */
  readonly timestamp: number;
}

const SIGNED = "content-type;host;x-tc-action";
const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string): Buffer => createHmac("sha256", key).update(data).digest();

/** The Authorization header of a POST to the root of a service's address. */
export function tc3Authorization(request: Tc3Request): string {
  const { service, timestamp, secret_id } = request;
  const date = new Date(timestamp * 1000).toISOString().slice(0, 10);
  const scope = `${date}/${service}/tc3_request`;
  const headers = `content-type:${request.content_type}\nhost:${request.host}\nx-tc-action:${request.action.toLowerCase()}\n`;
  const canonical = ["POST", "/", "", headers, SIGNED, sha256(request.body)].join("\n");
  const signing = hmac(hmac(hmac(`TC3${request.secret_key}`, date), service), "tc3_request");
  const signature = hmac(signing, ["TC3-HMAC-SHA256", timestamp, scope, sha256(canonical)].join("\n")).toString("hex");
  return `TC3-HMAC-SHA256 Credential=${secret_id}/${scope}, SignedHeaders=${SIGNED}, Signature=${signature}`;
}
