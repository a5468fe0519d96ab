/** Serves a file in memory: whole, or one range of its bytes (RFC 9110, 14). */

/** First and last byte of `bytes=0-99`, `bytes=100-` or `bytes=-50` in a file of `size`; undefined: unsatisfiable. */
function rangeIn(range: string, size: number): { first: number; last: number } | undefined {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(range) ?? [];
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  return first <= last && first < size && (from !== "" || to !== "") ? { first, last } : undefined;
}

/** `range` is a well-formed range header, or undefined. */
export function fromMemory(
  { type, bytes }: { type: string; bytes: Uint8Array<ArrayBuffer> },
  range?: string,
): Response {
  const size = bytes.length;
  const whole = { "content-type": type, "accept-ranges": "bytes" };
  if (range === undefined) return new Response(bytes, { headers: { ...whole, "content-length": String(size) } });
  const part = rangeIn(range, size);
  if (!part) return new Response(null, { status: 416, headers: { ...whole, "content-range": `bytes */${size}` } });
  const { first, last } = part;
  return new Response(bytes.subarray(first, last + 1), {
    status: 206,
    headers: {
      ...whole,
      "content-range": `bytes ${first}-${last}/${size}`,
      "content-length": String(last - first + 1),
    },
  });
}
