/** Events as one JSON array, piece by piece: Gemini's stream for callers that do not request events (no alt=sse). */
import { type Bytes, firstFrameEnd, FrameSplitter, readFrame } from "./sse";

class JsonArray {
  readonly #splitter = new FrameSplitter();
  #items = 0;
  #begun = false;

  /** The array's next text for bytes of an event stream, possibly empty; frames without data become white space. */
  push(chunk: Uint8Array): string {
    const region = this.#splitter.push(chunk);
    return region ? this.#write(region) : "";
  }

  /** The end of the array. */
  end(): string {
    return this.#begun ? "]" : "[]";
  }

  #write(region: Bytes): string {
    let text = "";
    for (let from = 0; from < region.length;) {
      const next = firstFrameEnd(region, from, region.length);
      const end = next < 0 ? region.length : next;
      const { data } = readFrame(region.subarray(from, end));
      from = end;
      if (!this.#begun) text += "[";
      this.#begun = true;
      text += data === undefined ? "\n" : this.#items++ > 0 ? `,\n${data}` : data;
    }
    return text;
  }
}

/** A body of events as a JSON array. */
export function asJsonArray(
  body: ReadableStream<Uint8Array> | Uint8Array,
): ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> {
  const array = new JsonArray();
  if (body instanceof Uint8Array) return Buffer.from(array.push(body) + array.end());
  const written = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const text = array.push(chunk);
      if (text !== "") controller.enqueue(Buffer.from(text));
    },
    flush: (controller) => controller.enqueue(Buffer.from(array.end())),
  });
  return body.pipeThrough(written);
}
