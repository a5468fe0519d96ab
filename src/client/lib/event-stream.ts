/**
 * The data of each server-sent event of a body, in order, `[DONE]` included; an event without data is none. Any cutting
 * of the bytes gives the same events. Leaving the loop early ends the request.
 */
export async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      rest += decoder.decode(value, { stream: !done });
      // A CR at the very end may be half of a CRLF.
      const end = !done && rest.endsWith("\r") ? rest.length - 1 : rest.length;
      const lines = rest.slice(0, end).split(/\r\n|\n|\r/);
      rest = (lines.pop() ?? "") + rest.slice(end);
      for (const line of lines) {
        if (line === "" && data.length > 0) {
          yield data.join("\n");
          data = [];
        } else if (line.startsWith("data:")) {
          data.push(line.slice(line[5] === " " ? 6 : 5));
        }
      }
      // What an end without a blank line leaves is half an event, which nobody may read.
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
