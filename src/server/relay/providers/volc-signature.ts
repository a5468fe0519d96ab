/**
 * The signature HMAC-SHA256 of Volcengine's open APIs (volcengine.com/docs/6369/67269 and the example at
 * docs/6408/78948, read November 2026): canonical request, string to sign, and a key derived for the day, the region
 * and the service.
 */
import { createHash, createHmac } from "node:crypto";

export interface VolcRequest {
  readonly access_key: string;
  readonly secret_key: string;
  readonly region: string;
  readonly service: string;
  readonly method: string;
  readonly url: string;
  readonly content_type: string;
  readonly body: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

const SIGNED = "content-type;host;x-content-sha256;x-date";
const sha256 = (data: string): string => createHash("sha256").update(data).digest("hex");
const hmac = (key: string | Buffer, data: string): Buffer => createHmac("sha256", key).update(data).digest();

/** RFC 3986: encodeURIComponent leaves some characters that must be encoded as well. */
const encode = (value: string): string =>
  encodeURIComponent(value).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/** Query members sorted by name, in byte order. */
function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return pairs.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).join("&");
}

/** The headers of a signed request; names in lower case. */
export function volcHeaders(request: VolcRequest): Record<string, string> {
  const { host, pathname, searchParams } = new URL(request.url);
  const date = new Date(request.now).toISOString().replace(/[:-]|\.\d{3}/g, "");
  const digest = sha256(request.body);
  const scope = `${date.slice(0, 8)}/${request.region}/${request.service}/request`;
  const headers = `content-type:${request.content_type}\nhost:${host}\nx-content-sha256:${digest}\nx-date:${date}\n`;
  const canonical = [request.method, pathname, canonicalQuery(searchParams), headers, SIGNED, digest].join("\n");
  const key = [request.region, request.service, "request"].reduce(
    (last, part) => hmac(last, part),
    hmac(request.secret_key, date.slice(0, 8)),
  );
  const signature = hmac(key, ["HMAC-SHA256", date, scope, sha256(canonical)].join("\n")).toString("hex");
  return {
    "content-type": request.content_type,
    "x-content-sha256": digest,
    "x-date": date,
    authorization: `HMAC-SHA256 Credential=${request.access_key}/${scope}, SignedHeaders=${SIGNED}, Signature=${signature}`,
  };
}
