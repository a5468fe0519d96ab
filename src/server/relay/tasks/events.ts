/** A vendor's event stream about a job: its first event says what was accepted, and all events go to the caller. */
import { UpstreamError } from "../../protocol/upstream-error";
import { failureOf } from "../../protocol/upstream-failure";
import { isObject, type JsonObject, tryParse } from "../../lib/json-bytes";
import { FRAME_LIMIT, FrameSplitter, readFrame, wholeFrames } from "../../lib/sse";

export interface Events {
  first: JsonObject;
  /** Every byte as received, including the first event. The holder must read or cancel it. */
  all: ReadableStream<Uint8Array>;
}

/** Whether a response is an event stream. */
export const isEvents = ({ headers }: Response): boolean =>
  /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");

/**
 * Reads a response up to its first event. Throws Failed when it ends before that, or when the event is not a JSON
 * object.
 */
export async function readEvents({ body, status }: Response): Promise<Events> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  const splitter = new FrameSplitter(FRAME_LIMIT);
  const kept: Uint8Array[] = [];
  try {
    while (reader) {
      const { done, value } = await reader.read();
      if (done) break;
      kept.push(value);
      for (const frame of wholeFrames(splitter.push(value))) {
        const { data } = readFrame(frame);
        if (data === undefined || data === "") continue;
        const first = tryParse(Buffer.from(data));
        if (isObject(first)) return { first, all: joined(kept, reader) };
        await reader.cancel();
        throw new UpstreamError(failureOf("malformed", status));
      }
    }
  } finally {
    splitter.end();
  }
  throw new UpstreamError(failureOf(kept.length === 0 ? "malformed" : "cut", status));
}

function joined(
  kept: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        for (const chunk of kept) controller.enqueue(chunk);
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
