/**
 * Frames as Server-Sent Events (html.spec.whatwg.org, "event stream"), in the notations that behaviours select, and as
 * the JSON array that Gemini streams without ?alt=sse.
 */
import type { Behaviour } from "./behaviours";
import type { Frame } from "./dialects/dialect";

export type Framing = "sse" | "json-array";

/** One event, blank line included. */
export function encodeEvent(frame: Frame, behaviour: Behaviour): Uint8Array {
  const { eol, space } = behaviour;
  const data = `data:${space ? " " : ""}`;
  // JSON may be split after its first brace and before its last one; a reader joins the lines with line feeds.
  const lines =
    behaviour.multiData && frame.data.startsWith("{") ? [frame.data[0], frame.data.slice(1, -1), "}"] : [frame.data];
  const name = frame.event ? `event:${space ? " " : ""}${frame.event}${eol}` : "";
  return Buffer.from(`${name}${lines.map((line) => data + line).join(eol)}${eol}${eol}`);
}

/** All frames in the order and bytes they are sent in, with the comments and pings the behaviour adds. */
export function encodeFrames(frames: Frame[], behaviour: Behaviour, framing: Framing, ping?: Frame): EncodedFrame[] {
  if (framing === "json-array") {
    return frames.map((frame, i) => ({
      kind: frame.kind,
      bytes: Buffer.from(`${i === 0 ? "[" : ",\r\n"}${frame.data}${i === frames.length - 1 ? "]" : ""}`),
    }));
  }
  let content = 0;
  return frames.flatMap((frame) => {
    let { data } = frame;
    if (frame.kind === "content" && ++content === 2 && behaviour.badJson) data = data.slice(0, data.length / 2);
    const encoded = { kind: frame.kind, bytes: encodeEvent({ ...frame, data }, behaviour) };
    if (!behaviour.comments || frame.kind !== "content") return [encoded];
    const { eol } = behaviour;
    const noise = [Buffer.from(`: keep-alive${eol}${eol}`), ...(ping ? [encodeEvent(ping, behaviour)] : [])];
    return [{ kind: "opening" as const, bytes: Buffer.concat(noise) }, encoded];
  });
}

export interface EncodedFrame {
  kind: Frame["kind"];
  bytes: Uint8Array;
}
