/** The duration of an audio file. */
import type { IAudioMetadata } from "music-metadata";
import { fail } from "../../../shared/errors";
import type { Bytes } from "../../lib/sse";

/** Bytes a second (32 kbit/s) assumed for a file without a duration, such as a browser's recording. */
const GUESSED_BYTES_PER_SECOND = 4_000;
/** A week in seconds: no upstream takes longer audio, and a larger number means a broken file. */
const MOST_SECONDS = 7 * 86_400;
/**
 * Reads after which other work gets a turn, and after which a file is given up: a broken one can have millions of
 * parts.
 */
const READS_A_TURN = 1_000;
const MOST_READS = 40_000;

type Format = IAudioMetadata["format"];

class TooManyParts extends Error {}

/** The parser's result; undefined when it gave up. Throws the parser's error for an unknown format. */
async function parse(
  bytes: Bytes,
  hints: { path: string; mimeType?: string } | undefined,
): Promise<Format | undefined> {
  const [{ parseFromTokenizer }, { fromBuffer }] = await Promise.all([import("music-metadata"), import("strtok3")]);
  const tokenizer = fromBuffer(bytes, { fileInfo: { size: bytes.length, ...hints } });
  const peek = tokenizer.peekBuffer.bind(tokenizer);
  let reads = 0;
  tokenizer.peekBuffer = async (target, options) => {
    if (++reads > MOST_READS) throw new TooManyParts();
    if (reads % READS_A_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
    return peek(target, options);
  };
  try {
    const { format } = await parseFromTokenizer(tokenizer, { skipCovers: true, skipPostHeaders: true });
    return format;
  } catch (error) {
    if (error instanceof TooManyParts) return undefined;
    throw error;
  }
}

/** Whether the parser found any property of audio: by a file name alone it would accept anything. */
const isSound = ({ container, codec, hasAudio, sampleRate, duration }: Format): boolean =>
  (container !== undefined || codec !== undefined) &&
  (hasAudio !== false || sampleRate !== undefined || duration !== undefined);

/**
 * The seconds of an audio file from its own data; `exact` is false when they are estimated from its size. Throws
 * invalid_request for other data. A header that claims less than its samples last does not lower the price.
 */
export async function secondsOf(
  bytes: Bytes,
  filename: string,
  contentType: string,
): Promise<{ seconds: number; exact: boolean }> {
  // The first bytes decide the format; name and type only where they do not.
  const format = await parse(bytes, undefined)
    .catch(() => parse(bytes, { path: filename, ...(contentType && { mimeType: contentType }) }))
    .catch((error: unknown) => fail("invalid_request", { detail: "file" }, error));
  if (format && !isSound(format)) fail("invalid_request", { detail: "file" });
  const {
    duration,
    container,
    codec,
    sampleRate = 0,
    numberOfChannels = 0,
    bitsPerSample = 0,
    bitrate = 0,
  } = format ?? {};
  const byteRate = container === "WAVE" && codec === "PCM" ? (sampleRate * numberOfChannels * bitsPerSample) / 8 : 0;
  const least = byteRate > 0 ? Math.floor((bytes.length - 44) / byteRate) : 0;
  if (duration !== undefined && Number.isFinite(duration) && duration > 0) {
    return { seconds: Math.min(MOST_SECONDS, Math.max(duration, least)), exact: true };
  }
  const rate = byteRate || bitrate / 8 || GUESSED_BYTES_PER_SECOND;
  return { seconds: Math.min(MOST_SECONDS, Math.max(1, bytes.length / rate)), exact: false };
}
