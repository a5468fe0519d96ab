/**
 * What a caller asks of a video, whichever door he came by: one neutral form that every vendor's words are made of.
 * Members that decide the price are read here and nowhere else; they never reach a vendor by another way (`extra`).
 */
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, isObject, list, object } from "../../../protocol/dialects/shared/json";
import { dataUrlOf } from "../../../protocol/dialects/shared/media";
import type { WireObject } from "../../../protocol/chat-events";

export interface VideoAsk {
  readonly model: string;
  readonly prompt: string;
  readonly negative_prompt?: string;
  /** The first frame, or pictures to go by: addresses or data URLs. */
  readonly images: readonly string[];
  readonly last_frame?: string;
  /** Length in seconds; undefined: the vendor's own default. */
  readonly seconds?: number;
  /** Width and height, `1280x720`. */
  readonly size?: string;
  /** The step that size or resolution stand for: `720p`, `4k`. */
  readonly resolution?: string;
  /** `16:9` */
  readonly ratio?: string;
  /** How many videos, 1 unless asked. */
  readonly n: number;
  readonly audio?: boolean;
  readonly seed?: number;
  /** The vendor's own words, without those that the members above are. */
  readonly extra: WireObject;
}

/** More seconds than any vendor makes in one go. */
const MAX_SECONDS = 60;
const MAX_VIDEOS = 4;
const MAX_IMAGES = 9;
/** Frames per second of the vendors that count in frames (Jimeng, Ark). */
const FPS = 24;

/** Spellings of one thing, in the order in which they count. */
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
 * Words that are not passed on: the members above, other spellings of the model, and what would make a vendor call,
 * write or count somewhere that is the operator's.
 */
const ownWords = new Set<string>([
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

/** What the steps of resolution are called by the vendors that name them by quality (Kling). */
const modes: Readonly<Record<string, string>> = { std: "720p", pro: "1080p", "4k": "4k" };

/** Pixels of the steps at 16:9. */
const steps: readonly (readonly [name: string, pixels: number])[] = [
  ["360p", 640 * 360],
  ["480p", 854 * 480],
  ["540p", 960 * 540],
  ["720p", 1280 * 720],
  ["1080p", 1920 * 1080],
  ["4k", 3840 * 2160],
];

/** The shapes that vendors name. */
const shapes = ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9"] as const;
const valueOf = (shape: string): number => {
  const [width = 1, height = 1] = shape.split(":").map(Number);
  return Math.log(width / height);
};

/** Width and height of `1280x720` or `1280*720`; undefined when it is neither. */
export function dimensions(size: string | undefined): { width: number; height: number } | undefined {
  const found = /^(\d{2,5})[x*](\d{2,5})$/i.exec(size ?? "");
  return found ? { width: Number(found[1]), height: Number(found[2]) } : undefined;
}

/** The step whose pixels are nearest; Sora's 1024 lines are a step of their own. */
function stepOf({ width, height }: { width: number; height: number }): string {
  if (Math.min(width, height) === 1024) return "1024p";
  const distance = (pixels: number): number => Math.abs(Math.log(pixels / (width * height)));
  return steps.toSorted(([, a], [, b]) => distance(a) - distance(b))[0]?.[0] ?? "720p";
}

/** The shape that is nearest to a size. */
function shapeOf({ width, height }: { width: number; height: number }): string {
  const wanted = Math.log(width / height);
  return shapes.toSorted((a, b) => Math.abs(valueOf(a) - wanted) - Math.abs(valueOf(b) - wanted))[0] ?? "16:9";
}

type Found = readonly [value: unknown, param: string] | undefined;

/** The first spelling that says something, in the body before its `metadata`. */
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

/** A number, also as text (`"8"`, `"8s"`): OpenAI and Kling write theirs so. */
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

/** A picture: its address, a data URL, bare base64 (Kling, Jimeng), or OpenAI's `{image_url}`. */
function readImage(value: unknown, param: string): string {
  const said = isObject(value) ? (value.image_url ?? value.url) : value;
  const address = isObject(said) ? said.url : said;
  if (typeof address !== "string" || address === "") throw new RequestFault(param);
  if (/^(?:https?:\/\/|data:image\/|gs:\/\/|oss:\/\/)/i.test(address)) return address;
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(address.slice(0, 4096))) return dataUrlOf(kindOf(address), address);
  throw new RequestFault(param);
}

/** The media type of a picture by how its base64 begins. */
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
    // A shape or a step instead of a size (`16:9`, `720p`) stands for itself.
    if (!read && !shapes.some((shape) => shape === size) && !isStep(size)) throw new RequestFault("size");
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
    return read ? stepOf(read) : said;
  }
  for (const { mode } of places) {
    if (mode === undefined || mode === null || mode === "") continue;
    const step = typeof mode === "string" && Object.hasOwn(modes, mode) ? modes[mode] : undefined;
    if (step === undefined) throw new RequestFault("mode");
    return step;
  }
  const read = dimensions(size);
  return read ? stepOf(read) : size !== undefined && isStep(size) ? size.toLowerCase() : undefined;
}

function readRatio(places: readonly WireObject[], size: string | undefined): string | undefined {
  const said = readText(find(places, "ratio"));
  if (said !== undefined) {
    if (!/^(?:\d{1,2}:\d{1,2}|adaptive|keep_ratio|auto)$/.test(said)) throw new RequestFault("aspect_ratio");
    return said;
  }
  const read = dimensions(size);
  return read ? shapeOf(read) : shapes.find((shape) => shape === size);
}

/**
 * Reads a body in any of the spellings that clients use: OpenAI's, the family's `/v1/video/generations`, Kling's and
 * Jimeng's. Throws RequestFault with the member that cannot be.
 */
export function readAsk(model: string, body: WireObject): VideoAsk {
  if (body.metadata !== undefined && body.metadata !== null && !isObject(body.metadata))
    throw new RequestFault("metadata");
  const metadata = object(body.metadata);
  const places = [body, metadata];
  const size = readSize(places);
  const images = readImages(places);
  const tail = find(places, "last_frame");
  const prompt = readText(find(places, "prompt")) ?? "";
  // A vendor may draw from a picture alone; from nothing at all, none.
  if (
    prompt.trim() === "" &&
    images.length === 0 &&
    metadata.multi_prompt === undefined &&
    body.multi_prompt === undefined
  )
    throw new RequestFault("prompt");
  const extra = Object.entries({ ...metadata, ...body }).filter(
    ([name, value]) => !ownWords.has(name) && value !== undefined && value !== null,
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

/** What of the question is kept and shown: no media, no vendor's words. */
export const describeAsk = ({ images, last_frame, extra: _extra, ...rest }: VideoAsk): WireObject => ({
  ...rest,
  ...(images.length > 0 && { images: images.length }),
  ...(last_frame !== undefined && { last_frame: true }),
});

/** The bytes of a data URL; undefined for an address. */
export function inlineImage(image: string): { type: string; base64: string } | undefined {
  const found = /^data:([^;,]*);base64,/i.exec(image.slice(0, 200));
  return found ? { type: found[1] || "image/jpeg", base64: image.slice(found[0].length) } : undefined;
}
