/** Amazon's side of a call: the signature as documented, and event streams from its own encoder. */
import { createHash, createHmac } from "node:crypto";
import { EventStreamCodec } from "@smithy/core/event-streams";
import type { Asked } from "./vendor-fake";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/**
 * The Authorization header of a request by
 * docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request (November 2026).
 */
export function sigv4(
  { url, headers, text }: Pick<Asked, "url" | "headers" | "text">,
  access: string,
  secret: string,
  region: string,
): string {
  const stamp = headers.get("x-amz-date") ?? "";
  const day = stamp.slice(0, 8);
  // Every segment is encoded once more, except for S3.
  const path = url.pathname.split("/").map(encodeURIComponent).join("/");
  const canonical = [
    "POST",
    path,
    "",
    `host:${url.host}`,
    `x-amz-date:${stamp}`,
    "",
    "host;x-amz-date",
    sha256(text),
  ].join("\n");
  const scope = `${day}/${region}/bedrock/aws4_request`;
  const key = ["bedrock", "aws4_request"].reduce(
    (held, part) => hmac(held, part),
    hmac(hmac(`AWS4${secret}`, day), region),
  );
  const signature = hmac(key, ["AWS4-HMAC-SHA256", stamp, scope, sha256(canonical)].join("\n")).toString("hex");
  return `AWS4-HMAC-SHA256 Credential=${access}/${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`;
}

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString("utf8"),
  (text) => Buffer.from(text, "utf8"),
);
const texts = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { type: "string" as const, value }]));

/** One event of a stream. */
export const amazonEvent = (event: string, payload: object): Uint8Array =>
  codec.encode({
    headers: texts({ ":event-type": event, ":content-type": "application/json", ":message-type": "event" }),
    body: Buffer.from(JSON.stringify(payload)),
  });

/** The event that ends a stream with an error. */
export const amazonException = (name: string, message: string): Uint8Array =>
  codec.encode({
    headers: texts({ ":exception-type": name, ":content-type": "application/json", ":message-type": "exception" }),
    body: Buffer.from(JSON.stringify({ message })),
  });

export const amazonStream = (...events: Uint8Array[]): Response =>
  new Response(Buffer.concat(events), {
    headers: { "content-type": "application/vnd.amazon.eventstream", "x-amzn-requestid": "d2a0f2a4" },
  });

/** A piece of Anthropic's stream in InvokeModelWithResponseStream. */
export const claudePiece = (data: object): Uint8Array =>
  amazonEvent("chunk", {
    bytes: Buffer.from(JSON.stringify(data)).toString("base64"),
    p: "abcdefghijklmnopqrstuvwxyz",
  });
