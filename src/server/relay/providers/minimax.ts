/**
 * MiniMax: chat in OpenAI's format, speech in its own (platform.minimax.io/docs/api-reference/speech-t2a-http, read
 * November 2026).
 */
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { compact, object, text } from "../../protocol/dialects/shared/json";
import { ordinary } from "./ordinary";
import type { DirectCodec, Provider } from "./provider";

/** The vendor's formats and their media types. */
const formats: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  pcm: "audio/pcm",
};

/** The vendor's own members that a caller may add to the body. */
const ownMembers = ["language_boost", "pronunciation_dict", "timbre_weights", "voice_modify"] as const;

const formatOf = ({ response_format }: Readonly<Record<string, unknown>>): string =>
  response_format === undefined || response_format === null ? "mp3" : text(response_format);

/** Audio arrives as hexadecimal digits inside JSON. */
const speech: DirectCodec = {
  encode(body) {
    const format = formatOf(body);
    if (!Object.hasOwn(formats, format)) throw new RequestFault("response_format");
    if (body.stream_format === "sse") throw new RequestFault("stream_format");
    if (typeof body.voice !== "string" || body.voice === "") throw new RequestFault("voice");
    return {
      model: body.model,
      text: body.input,
      stream: false,
      voice_setting: compact({ voice_id: body.voice, speed: body.speed ?? undefined, ...object(body.voice_setting) }),
      audio_setting: { ...object(body.audio_setting), format },
      output_format: "hex",
      ...Object.fromEntries(ownMembers.flatMap((word) => (body[word] === undefined ? [] : [[word, body[word]]]))),
    };
  },
  decode(answer, asked) {
    const digits = text(object(answer.data).audio);
    if (digits === "" || digits.length % 2 !== 0) return undefined;
    const sound = Buffer.from(digits, "hex");
    // The first invalid digit ends the data.
    if (sound.length * 2 !== digits.length) return undefined;
    return new Response(sound, { headers: { "content-type": formats[formatOf(asked)] ?? "application/octet-stream" } });
  },
};

export const minimax: Provider = { ...ordinary, direct: { speech } };
