/**
 * A video request from any route, as one neutral form that every vendor's format is built from. Members that decide the
 * price are read only here; they never reach a vendor in another way (`extra`).
 */
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, isObject, list, object } from "../../../protocol/dialects/shared/json";
import { dataUrlOf } from "../../../protocol/dialects/shared/media";
import type { WireObject } from "../../../protocol/chat-events";

export interface VideoRequest {
  readonly model: string;
  readonly prompt: string;
  readonly negative_prompt?: string;
  /** The first frame, or reference images: URLs or data URLs. */
  readonly images: readonly string[];
  readonly last_frame?: string;
  /** Duration in seconds; undefined: the vendor's own default. */
  readonly seconds?: number;
  /** Width and height, `1280x720`. */
  readonly size?: string;
  /** The resolution of the size: `720p`, `4k`. */
  readonly resolution?: string;
  /** `16:9` */
  readonly ratio?: string;
  /** How many videos, 1 by default. */
  readonly n: number;
  readonly audio?: boolean;
  readonly seed?: number;
  /** The vendor's own members, without those that the members above stand for. */
  readonly extra: WireObject;
}

/** Longer than any vendor's videos. */
const MAX_SECONDS = 60;
const MAX_VIDEOS = 4;
const MAX_IMAGES = 9;
/** Frames per second of the vendors that count frames (Jimeng, Ark). */
const FPS = 24;

/** Names of one member, in order of precedence. */
const names = {
  prompt: ["prompt"],
  negative_prompt: ["negative_prompt", "negativePrompt"],
  seconds: ["seconds", "duration", "durationSeconds", "duration_seconds"],
  size: ["size"],
  resolution: ["resolution"],
  ratio: ["aspect_ratio", "aspectRatio", "ratio"],
  n: ["n", "sampleCount", "numberOfVideos", "number_of_videos"],
  audio: ["generate_audio", "generateAudio", "audio", "sound"],
  seed: ["seed"],
  image: [
    "image",
    "images",
    "input_reference",
    "image_url",
    "image_urls",
    "first_frame_image",
    "binary_data_base64",
    "img_url",
  ],
  last_frame: ["image_tail", "last_frame", "lastFrame", "last_frame_image"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

type Wanted = keyof typeof names;

/**
 * Members that are not forwarded: those above, other names of the model, and members that would make a vendor call a
 * webhook, write to a storage location or use an id that belongs to the operator.
 */
const reservedMembers = new Set<string>([
  ...Object.values(names).flat(),
  "model",
  "model_name",
  "req_key",
  "mode",
  "frames",
  "fps",
  "framespersecond",
  "width",
  "height",
  "metadata",
  "stream",
  "user",
  "response_format",
  "callback_url",
  "callBackUrl",
  "webhook",
  "webhook_events_filter",
  "webhookConfig",
  "external_task_id",
  "notify_hook",
  "storageUri",
  "storage_uri",
  "outputGcsUri",
  "output_gcs_uri",
  "pubsubTopic",
  "version",
]);

/** The resolutions of vendors that name them by quality (Kling). */
const modes: Readonly<Record<string, string>> = { std: "720p", pro: "1080p", "4k": "4k" };

/** Pixels of the resolutions at 16:9. */
const resolutions: readonly (readonly [name: string, pixels: number])[] = [
  ["360p", 640 * 360],
  ["480p", 854 * 480],
  ["540p", 960 * 540],
  ["720p", 1280 * 720],
  ["1080p", 1920 * 1080],
  ["4k", 3840 * 2160],
];

/** The aspect ratios that vendors name. */
const aspectRatios = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"] as const;
const valueOf = (shape: string): number => {
  const [width = 1, height = 1] = shape.split(":").map(Number);
  return Math.log(width / height);
};

/** Width and height of `1280x720` or `1280*720`; undefined for anything else. */
export function dimensions(size: string | undefined): { width: number; height: number } | undefined {
  const found = /^(\d{2,5})[x*](\d{2,5})$/i.exec(size ?? "");
  return found ? { width: Number(found[1]), height: Number(found[2]) } : undefined;
}

/** The resolution with the nearest pixel count; Sora's 1024 lines are a resolution of their own. */
function resolutionOf({ width, height }: { width: number; height: number }): string {
  if (Math.min(width, height) === 1024) return "1024p";
  const distance = (pixels: number): number => Math.abs(Math.log(pixels / (width * height)));
  return resolutions.toSorted(([, a], [, b]) => distance(a) - distance(b))[0]?.[0] ?? "720p";
}

/** The aspect ratio nearest to a size. */
function ratioOf({ width, height }: { width: number; height: number }): string {
  const wanted = Math.log(width / height);
  return aspectRatios.toSorted((a, b) => Math.abs(valueOf(a) - wanted) - Math.abs(valueOf(b) - wanted))[0] ?? "16:9";
}

type Found = readonly [value: unknown, param: string] | undefined;

/** The first name with a value, in the body before its `metadata`. */
function find(places: readonly WireObject[], wanted: Wanted): Found {
  for (const place of places) {
    for (const name of names[wanted]) {
      const value = place[name];
      if (value !== undefined && value !== null && value !== "") return [value, name];
    }
  }
  return undefined;
}

function readText(found: Found): string | undefined {
  if (!found) return undefined;
  if (typeof found[0] !== "string") throw new RequestFault(found[1]);
  return found[0];
}

/** A number, also as a string (`"8"`, `"8s"`), which OpenAI and Kling use. */
function readNumber(found: Found, least: number, most: number): number | undefined {
  if (!found) return undefined;
  const [value, param] = found;
  const read = typeof value === "string" && /^\d{1,9}(\.\d{1,3})?s?$/.test(value) ? Number.parseFloat(value) : value;
  if (typeof read !== "number" || !Number.isFinite(read) || read < least || read > most) throw new RequestFault(param);
  return read;
}

function readWhole(found: Found, least: number, most: number): number | undefined {
  const read = readNumber(found, least, most);
  if (read !== undefined && !Number.isInteger(read)) throw new RequestFault(found?.[1] ?? "");
  return read;
}

function readAudio(found: Found): boolean | undefined {
  if (!found) return undefined;
  const [value, param] = found;
  if (typeof value === "boolean") return value;
  if (value === "on" || value === "native") return true;
  if (value === "off") return false;
  throw new RequestFault(param);
}

/** An image: its URL, a data URL, plain base64 (Kling, Jimeng), or OpenAI's `{image_url}`. */
function readImage(value: unknown, param: string): string {
  const said = isObject(value) ? (value.image_url ?? value.url) : value;
  const address = isObject(said) ? said.url : said;
  if (typeof address !== "string" || address === "") throw new RequestFault(param);
  if (/^(?:https?:\/\/|data:image\/|gs:\/\/|oss:\/\/)/i.test(address)) return address;
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(address.slice(0, 4096))) return dataUrlOf(kindOf(address), address);
  throw new RequestFault(param);
}

/** The media type of an image from the start of its base64. */
function kindOf(base64: string): string {
  if (base64.startsWith("iVBOR")) return "image/png";
  if (base64.startsWith("UklGR")) return "image/webp";
  return "image/jpeg";
}

function readImages(places: readonly WireObject[]): string[] {
  const found = find(places, "image");
  if (!found) return [];
  const [value, param] = found;
  const images = Array.isArray(value) ? list(value) : [value];
  if (images.length > MAX_IMAGES) throw new RequestFault(param);
  return images.map((image) => readImage(image, param));
}

function readSeconds(places: readonly WireObject[]): number | undefined {
  const said = readNumber(find(places, "seconds"), 0.5, MAX_SECONDS);
  if (said !== undefined) return said;
  for (const { frames } of places) {
    if (frames !== undefined && frames !== null)
      return Math.max(1, Math.round((readNumber([frames, "frames"], 1, MAX_SECONDS * FPS) ?? FPS) / FPS));
  }
  return undefined;
}

function readSize(places: readonly WireObject[]): string | undefined {
  const size = readText(find(places, "size"));
  if (size !== undefined && size !== "auto") {
    const read = dimensions(size);
    // An aspect ratio or a resolution instead of a size (`16:9`, `720p`) sets only that.
    if (!read && !aspectRatios.some((shape) => shape === size) && !isStep(size)) throw new RequestFault("size");
    return read ? `${read.width}x${read.height}` : size;
  }
  const [{ width, height } = {}] = places;
  if (width === undefined && height === undefined) return undefined;
  return `${readWhole([width, "width"], 16, 16_384)}x${readWhole([height, "height"], 16, 16_384)}`;
}

const isStep = (value: string): boolean => /^(?:\d{3,4}p|[1248]k)$/i.test(value);

function readResolution(places: readonly WireObject[], size: string | undefined): string | undefined {
  const said = readText(find(places, "resolution"))?.toLowerCase();
  if (said !== undefined) {
    const read = dimensions(said);
    if (!read && !isStep(said)) throw new RequestFault("resolution");
    return read ? resolutionOf(read) : said;
  }
  for (const { mode } of places) {
    if (mode === undefined || mode === null || mode === "") continue;
    const step = typeof mode === "string" && Object.hasOwn(modes, mode) ? modes[mode] : undefined;
    if (step === undefined) throw new RequestFault("mode");
    return step;
  }
  const read = dimensions(size);
  return read ? resolutionOf(read) : size !== undefined && isStep(size) ? size.toLowerCase() : undefined;
}

function readRatio(places: readonly WireObject[], size: string | undefined): string | undefined {
  const said = readText(find(places, "ratio"));
  if (said !== undefined) {
    if (!/^(?:\d{1,2}:\d{1,2}|adaptive|keep_ratio|auto)$/.test(said)) throw new RequestFault("aspect_ratio");
    return said;
  }
  const read = dimensions(size);
  return read ? ratioOf(read) : aspectRatios.find((shape) => shape === size);
}

/**
 * Reads a body in any of the formats that clients use: OpenAI's, `/v1/video/generations`, Kling's and Jimeng's. Throws
 * RequestFault with the invalid member.
 */
export function readVideoRequest(model: string, body: WireObject): VideoRequest {
  if (body.metadata !== undefined && body.metadata !== null && !isObject(body.metadata))
    throw new RequestFault("metadata");
  const metadata = object(body.metadata);
  const places = [body, metadata];
  const size = readSize(places);
  const images = readImages(places);
  const tail = find(places, "last_frame");
  const prompt = readText(find(places, "prompt")) ?? "";
  // An image without a prompt can be enough for a vendor; neither of them cannot.
  if (
    prompt.trim() === "" &&
    images.length === 0 &&
    metadata.multi_prompt === undefined &&
    body.multi_prompt === undefined
  )
    throw new RequestFault("prompt");
  const extra = Object.entries({ ...metadata, ...body }).filter(
    ([name, value]) => !reservedMembers.has(name) && value !== undefined && value !== null,
  );
  return compact({
    model,
    prompt,
    negative_prompt: readText(find(places, "negative_prompt")),
    images,
    last_frame: tail && readImage(tail[0], tail[1]),
    seconds: readSeconds(places),
    size: dimensions(size) ? size : undefined,
    resolution: readResolution(places, size),
    ratio: readRatio(places, size),
    n: readWhole(find(places, "n"), 1, MAX_VIDEOS) ?? 1,
    audio: readAudio(find(places, "audio")),
    seed: readWhole(find(places, "seed"), -1, 2 ** 32 - 1),
    extra: Object.fromEntries(extra),
  });
}

/** The part of the request that is stored and shown: no media, no vendor members. */
export const describeVideoRequest = ({ images, last_frame, extra: _extra, ...rest }: VideoRequest): WireObject => ({
  ...rest,
  ...(images.length > 0 && { images: images.length }),
  ...(last_frame !== undefined && { last_frame: true }),
});

/** The bytes of a data URL; undefined for other URLs. */
export function inlineImage(image: string): { type: string; base64: string } | undefined {
  const found = /^data:([^;,]*);base64,/i.exec(image.slice(0, 200));
  return found ? { type: found[1] || "image/jpeg", base64: image.slice(found[0].length) } : undefined;
}
