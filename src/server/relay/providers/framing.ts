/** A vendor's own framing made into server-sent events, which is what the relay reads. */
import type { OutFrame } from "../../protocol/dialects/translation";
import { type Frame, FrameSplitter, readFrame, wholeFrames, writeFrame } from "../../lib/sse";

/**
 * An answer of events, one for each piece of `data` (JSON text without line ends; a frame where the dialect names its
 * events). Pulled: nothing is read ahead. Who stops reading ends the generator; what it throws breaks the stream.
 * `headers` of the vendor's answer keep their request id.
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

/** The events of an SSE body, one by one; a last one without its blank line as well. Throws FrameTooLarge. */
export async function* framesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Frame> {
  const splitter = new FrameSplitter();
  for await (const piece of piecesOf(body)) {
    for (const frame of wholeFrames(splitter.push(piece))) yield readFrame(frame);
  }
  const rest = splitter.end();
  if (rest.length > 0) yield readFrame(rest);
}

/** Whether an answer is a stream of events, and no error in a 200. */
export const isEvents = (response: Response): boolean =>
  response.ok && /event-stream/i.test(response.headers.get("content-type") ?? "");

/** Headers of an answer whose body is another one now. */
function withoutFraming(headers: Headers | undefined): Headers {
  const rest = new Headers(headers);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) rest.delete(name);
  return rest;
}

/** An answer with another body: one that was looked at, or was made of it. */
export const rewritten = ({ status, headers }: Response, body: BodyInit): Response =>
  new Response(body, { status, headers: withoutFraming(headers) });
