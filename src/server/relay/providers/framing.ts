/** A vendor's own framing made into server-sent events, which is what the relay reads. */
import { writeFrame } from "../sse";

/**
 * An answer of events, one for each piece of `data` (JSON text without line ends). Pulled: nothing is read ahead. Who stops
 * reading ends the generator; what it throws breaks the stream. `headers` of the vendor's answer keep their request id.
 */
export function eventsOf(data: AsyncGenerator<string>, headers?: Headers): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await data.next();
        if (done) controller.close();
        else controller.enqueue(writeFrame(value));
      },
      async cancel() {
        await data.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const answered = new Headers(headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) answered.delete(name);
  answered.set("content-type", "text/event-stream");
  return new Response(body, { headers: answered });
}

/** The pieces of a body as they come; the connection is given up when the generator is. */
export async function* piecesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
