import { expect, test } from "bun:test";
import { eventData } from "./event-stream";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function bodyOf(parts: Uint8Array[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const part = parts[next++];
      if (part) controller.enqueue(part);
      else controller.close();
    },
  });
}

const read = (body: ReadableStream<Uint8Array>): Promise<string[]> => Array.fromAsync(eventData(body));

const STREAM = 'data: {"a":"你好🙂"}\n\n: ping\n\nevent: x\r\ndata:two\r\ndata: lines\r\n\r\nid: 1\n\ndata: [DONE]\n\n';
const EVENTS = ['{"a":"你好🙂"}', "two\nlines", "[DONE]"];

test("a stream cut at every byte gives the same events", async () => {
  const all = bytes(STREAM);
  for (let cut = 0; cut <= all.length; cut++) {
    expect(await read(bodyOf([all.slice(0, cut), all.slice(cut)].filter((part) => part.length > 0)))).toEqual(EVENTS);
  }
  expect(await read(bodyOf([...all].map((byte) => new Uint8Array([byte]))))).toEqual(EVENTS);
});

test("half an event at the end of a cut stream is not read", async () => {
  expect(await read(bodyOf([bytes('data: whole\n\ndata: {"half')]))).toEqual(["whole"]);
  expect(await read(bodyOf([bytes("data: whole\n\ndata: line without its blank line\n")]))).toEqual(["whole"]);
  expect(await read(bodyOf([]))).toEqual([]);
});

test("leaving early cancels the body", async () => {
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes(STREAM)),
    cancel: () => void (cancelled = true),
  });
  for await (const data of eventData(endless)) {
    expect(data).toBe(EVENTS[0] ?? "");
    break;
  }
  expect(cancelled).toBe(true);
});
