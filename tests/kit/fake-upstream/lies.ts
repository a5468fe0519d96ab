/** Answers that no correct server gives: truncated heads, false lengths and encodings, silence. */
import type { Behaviour } from "./behaviours";
import { encodeHead, type Exchange, type Headers } from "./wire";

/** Keeps the connection open and silent until the caller leaves. */
export const hang = (exchange: Exchange): Promise<void> => exchange.left;

/** Half a status line and a header without its value, then a reset. */
export async function cutHead(exchange: Exchange, headers: Headers): Promise<void> {
  const head = encodeHead(200, headers, 100);
  await exchange.raw(head.subarray(0, Math.floor(head.length * 0.6)));
  await exchange.reset();
}

/**
 * All bytes of the body with a content-length that is 100 too large, or half. The connection then closes with a FIN.
 */
export async function lieAboutLength(
  exchange: Exchange,
  behaviour: Behaviour,
  headers: Headers,
  body: Uint8Array,
): Promise<void> {
  await exchange.start(
    200,
    headers,
    behaviour.liesLength === "short" ? Math.floor(body.length / 2) : body.length + 100,
  );
  await exchange.write(body);
  exchange.disconnect();
}

/** A page that a proxy or a captive portal returns instead of the API. */
export function htmlPage(status: number): Uint8Array {
  const title = status === 200 ? "Welcome" : `${status} Bad Gateway`;
  return Buffer.from(
    `<!DOCTYPE html>\n<html>\n<head><title>${title}</title></head>\n<body>\n<center><h1>${title}</h1></center>\n` +
      "<hr><center>nginx</center>\n</body>\n</html>\n",
  );
}
