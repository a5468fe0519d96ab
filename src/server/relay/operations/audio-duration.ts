/** How long a sound file is. */
import { type IAudioMetadata, parseFromTokenizer } from "music-metadata";
import { fromBuffer } from "strtok3";
import { fail } from "../../../shared/errors";
import type { Bytes } from "../../lib/sse";

/** For a file that does not say how long it is (what browsers record does not): bytes a second, as of 32 kbit/s. */
const GUESSED_BYTES_PER_SECOND = 4_000;
/** No upstream takes more, and a larger number is a broken file: a week. */
const MOST_SECONDS = 7 * 86_400;
/**
 * Reads after which other work has its turn, and after which a file is given up: a broken one has millions of parts.
 */
const READS_A_TURN = 1_000;
const MOST_READS = 40_000;

type Format = IAudioMetadata["format"];

class TooManyParts extends Error {}

/** What the parser finds; undefined when it gave up. Throws the parser's error for what it does not know. */
async function parse(
  bytes: Bytes,
  hints: { path: string; mimeType?: string } | undefined,
): Promise<Format | undefined> {
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

/** Whether the parser found any fact of a sound: a name alone makes it believe. */
const isSound = ({ container, codec, hasAudio, sampleRate, duration }: Format): boolean =>
  (container !== undefined || codec !== undefined) &&
  (hasAudio !== false || sampleRate !== undefined || duration !== undefined);

/**
 * The seconds of a sound file by what it says; `exact` is false when it does not say and they are guessed from its
 * size. Throws invalid_request for what is no sound. A header that claims less than its samples last does not make them
 * cheaper.
 */
export async function secondsOf(
  bytes: Bytes,
  filename: string,
  contentType: string,
): Promise<{ seconds: number; exact: boolean }> {
  // Its own first bytes say what it is; name and type only where they do not.
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
