import { createParser } from "eventsource-parser";

/**
 * The data of each server-sent event of a body, in order, `[DONE]` included; an event without data is none. Leaving the
 * loop early ends the request.
 */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data) });
  try {
    for (;;) {
      const { value, done } = await reader.read();
      // What an end without a blank line leaves is half an event, which must not be read.
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
