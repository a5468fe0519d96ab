/** Converts a vendor's own framing to server-sent events, which the relay reads. */
import type { OutFrame } from "../../protocol/dialects/translation";
import { type Frame, FrameSplitter, readFrame, wholeFrames, writeFrame } from "../../lib/sse";

/**
 * A response of events, one per piece of `data` (JSON text without line ends; a frame where the dialect names its
 * events). Nothing is read ahead. Cancelling the body ends the generator; an error thrown by it breaks the stream.
 * `headers` of the vendor's response keep their request id.
 */
export function eventsOf(data: AsyncGenerator<string | OutFrame>, headers?: Headers): Response {
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await data.next();
        if (done) controller.close();
        else controller.enqueue(typeof value === "string" ? writeFrame(value) : writeFrame(value.data, value.event));
      },
      async cancel() {
        await data.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const answered = withoutFraming(headers);
  answered.set("content-type", "text/event-stream");
  return new Response(body, { headers: answered });
}

/** The chunks of a body as they arrive; ending the generator cancels the body. */
export async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
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

/** The events of an SSE body; the last one may lack its blank line. Throws FrameTooLarge. */
export async function* framesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Frame> {
  const splitter = new FrameSplitter();
  for await (const piece of chunksOf(body)) {
    for (const frame of wholeFrames(splitter.push(piece))) yield readFrame(frame);
  }
  const rest = splitter.end();
  if (rest.length > 0) yield readFrame(rest);
}

/** Whether a response is an event stream, and not an error with status 200. */
export const isEvents = (response: Response): boolean =>
  response.ok && /event-stream/i.test(response.headers.get("content-type") ?? "");

/** The headers of a response whose body was replaced. */
function withoutFraming(headers: Headers | undefined): Headers {
  const rest = new Headers(headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) rest.delete(name);
  return rest;
}

/** A response with another body: one that was read already, or was converted. */
export const replaceBody = ({ status, headers }: Response, body: BodyInit): Response =>
  new Response(body, { status, headers: withoutFraming(headers) });
