/** How an answer reaches the caller: pauses, cuts, hangs and encodings. Its content is decided before. */
import type { Behaviour } from "./behaviours";
import type { Clock } from "./clock";
import type { Dialect } from "./dialects/dialect";
import type { Content } from "./dialects/operations";
import { cutHead, hang, htmlPage, lieAboutLength } from "./lies";
import { encodeEvent, encodeFrames, type EncodedFrame, type Framing } from "./sse";
import type { Exchange, Headers } from "./wire";

export interface Delivery {
  exchange: Exchange;
  behaviour: Behaviour;
  dialect: Dialect;
  framing: Framing;
  headers: Headers;
  clock: Clock;
  /** Awaited before the last frames of a stream, or a plain answer. */
  beforeEnd?: (() => Promise<void>) | undefined;
}

/** Sleeps on the upstream's clock, or less when the caller leaves. */
export async function pause(exchange: Exchange, clock: Clock, ms: number): Promise<void> {
  if (ms > 0 && !exchange.over) await Promise.race([clock.sleep(ms), exchange.left]);
}

export async function deliver(content: Content, delivery: Delivery): Promise<void> {
  const { exchange, behaviour, clock, dialect, framing } = delivery;
  await pause(exchange, clock, behaviour.headMs);
  if (behaviour.break === "hang-before-headers") return hang(exchange);
  if (behaviour.break === "cut-head") return cutHead(exchange, delivery.headers);
  if (behaviour.html) {
    const page = htmlPage(behaviour.html);
    await exchange.start(behaviour.html, { "content-type": "text/html" }, page.length);
    await exchange.write(page);
    return exchange.finish();
  }
  if ("frames" in content) {
    const type = framing === "sse" ? "text/event-stream; charset=utf-8" : "application/json; charset=UTF-8";
    const headers = { ...delivery.headers, "content-type": type, "cache-control": "no-cache" };
    const frames = encodeFrames(content.frames, behaviour, framing, dialect.ping);
    return deliverFrames(frames, { ...delivery, headers });
  }
  return deliverBody(content.body, {
    ...delivery,
    headers: { ...delivery.headers, "content-type": content.contentType },
  });
}

async function deliverBody(plain: Uint8Array, delivery: Delivery): Promise<void> {
  const { exchange, behaviour, headers, dialect, beforeEnd } = delivery;
  if (beforeEnd) await Promise.race([beforeEnd(), exchange.left]);
  if (behaviour.break === "error-midstream") {
    const failed = Buffer.from(JSON.stringify(dialect.error(500).body));
    await exchange.start(500, { ...headers, "content-type": "application/json" }, failed.length);
    await exchange.write(failed);
    return exchange.finish();
  }
  const body = encode(
    behaviour.badJson ? plain.subarray(0, Math.floor(plain.length * 0.7)) : plain,
    behaviour,
    headers,
  );
  const half = body.subarray(0, Math.floor(body.length / 2));
  if (behaviour.liesLength) return lieAboutLength(exchange, behaviour, headers, body);
  switch (behaviour.break) {
    case "hang-after-headers":
      await exchange.start(200, headers, body.length);
      return hang(exchange);
    case "cut-midstream":
      await exchange.start(200, headers, body.length);
      await exchange.write(half);
      return exchange.reset();
    case "hang-in-frame":
      await exchange.start(200, headers, body.length);
      await exchange.write(half);
      return hang(exchange);
    case "cut-clean":
      await exchange.start(200, headers);
      await exchange.write(half);
      return exchange.finish();
    case "hang-after-done":
      await exchange.start(200, headers);
      await exchange.write(body);
      return hang(exchange);
    default:
      await exchange.start(200, headers, body.length);
      await emit(exchange, behaviour, body);
      return exchange.finish();
  }
}

async function deliverFrames(frames: EncodedFrame[], delivery: Delivery): Promise<void> {
  const { exchange, behaviour, headers, clock, beforeEnd } = delivery;
  if (behaviour.liesLength || behaviour.gzip || behaviour.liesGzip) {
    const body = encode(Buffer.concat(frames.map((frame) => frame.bytes)), behaviour, headers);
    if (behaviour.liesLength) return lieAboutLength(exchange, behaviour, headers, body);
    await exchange.start(200, headers);
    await emit(exchange, behaviour, body);
    return exchange.finish();
  }
  await exchange.start(200, headers);
  if (behaviour.break === "hang-after-headers") return hang(exchange);
  if (behaviour.burst && !behaviour.break) {
    await emit(exchange, behaviour, Buffer.concat(frames.map((frame) => frame.bytes)));
    return exchange.finish();
  }
  let content = 0;
  for (const [sent, frame] of frames.entries()) {
    if (exchange.over) return;
    const atEnd =
      frame.kind === "closing" || frame.kind === "finish" || frame.kind === "usage" || frame.kind === "done";
    if (atEnd && beforeEnd) await Promise.race([beforeEnd(), exchange.left]);
    if (behaviour.break && (atEnd || (frame.kind === "content" && content >= behaviour.breakAfter))) {
      const broken = breakOff(frame, sent, delivery);
      if (broken) return broken;
    }
    if (frame.kind === "content" && content++ > 0) await pause(exchange, clock, behaviour.paceMs);
    if (frame.kind === "usage" && behaviour.usageMode === "late") await pause(exchange, clock, behaviour.lateMs);
    await emit(exchange, behaviour, frame.bytes);
  }
  return behaviour.break === "hang-after-done" ? hang(exchange) : exchange.finish();
}

/** Undefined when this break is not inside the stream. */
function breakOff(next: EncodedFrame, sent: number, delivery: Delivery): Promise<void> | undefined {
  const { exchange, behaviour, dialect, framing } = delivery;
  switch (behaviour.break) {
    case "cut-midstream":
      // A reset discards what its receiver has not read yet.
      return Bun.sleep(60).then(() => exchange.reset());
    case "cut-clean":
      return exchange.finish();
    case "hang-in-frame":
      return exchange.write(next.bytes.subarray(0, next.bytes.length / 2)).then(() => hang(exchange));
    case "error-midstream": {
      const frame = dialect.errorFrame(sent);
      const bytes =
        framing === "sse" ? encodeEvent(frame, behaviour) : Buffer.from(`${sent === 0 ? "[" : ",\r\n"}${frame.data}]`);
      return emit(exchange, behaviour, bytes).then(() => exchange.finish());
    }
    default:
      return undefined;
  }
}

/** Compresses, or only claims to; adds the header either way. */
function encode(bytes: Uint8Array, behaviour: Behaviour, headers: Headers): Uint8Array {
  if (!behaviour.gzip && !behaviour.liesGzip) return bytes;
  headers["content-encoding"] = "gzip";
  return behaviour.gzip ? Bun.gzipSync(new Uint8Array(bytes)) : bytes;
}

async function emit(exchange: Exchange, behaviour: Behaviour, bytes: Uint8Array): Promise<void> {
  if (!behaviour.splitBytes) return exchange.write(bytes);
  for (let i = 0; i < bytes.length && !exchange.over; i++) {
    await exchange.write(bytes.subarray(i, i + 1));
    // One turn of the event loop, so that the reader sees this byte alone.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
