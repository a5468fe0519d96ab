/**
 * OpenAI's videos, and other servers with the same API (API reference, videos: create, retrieve, remix, delete,
 * content; types of the `openai` SDK 7.55, read November 2026). OpenAI itself ended Sora on 24 September 2026; the API
 * remains at Azure (learn.microsoft.com/azure/foundry/openai/concepts/video-generation) and at other gateways.
 */
import { readError } from "../../../protocol/dialects/openai-chat/error";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, number, object, text } from "../../../protocol/dialects/shared/json";
import type { PoolChannel } from "../../../contracts/channel";
import { dimensions, inlineImage, type VideoRequest } from "./ask";
import type { VideoReport, VideoVendor } from "./vendor";

/** Portrait sizes of the resolutions, as OpenAI's default is. */
const sizes: Readonly<Record<string, string>> = { "720p": "720x1280", "1024p": "1024x1792", "1080p": "1080x1920" };

function sizeOf({ size, resolution, ratio }: VideoRequest): string | undefined {
  if (size !== undefined) return size;
  const upright = sizes[resolution ?? ""] ?? (ratio === undefined ? undefined : sizes["720p"]);
  const read = dimensions(upright);
  if (!read) return undefined;
  return ratio === "16:9" ? `${read.height}x${read.width}` : upright;
}

/** An uploaded image is forwarded as an upload. */
function formOf(members: Readonly<Record<string, unknown>>, image: { type: string; base64: string }): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) form.set(name, String(value));
  const end = image.type.split("/")[1] ?? "png";
  form.set(
    "input_reference",
    new Blob([Buffer.from(image.base64, "base64")], { type: image.type }),
    `reference.${end}`,
  );
  return form;
}

/** The files of a finished video, in this order. */
const variants = ["video", "thumbnail", "spritesheet"] as const;

const states: Readonly<Record<string, "queued" | "running">> = {
  queued: "queued",
  submitted: "queued",
  in_progress: "running",
  processing: "running",
};

function report(video: Readonly<Record<string, unknown>>): VideoReport | undefined {
  const { status, progress, seconds, size, id, error } = video;
  const state = states[text(status)];
  if (state) return { status: state, progress: number(progress) };
  if (status === "completed") {
    const read = dimensions(text(size));
    const length = Number(seconds);
    const use = compact({
      seconds: length > 0 ? length : undefined,
      resolution: read ? resolutionBySize(read) : undefined,
    });
    return { status: "succeeded", files: text(id) === "" ? [] : [text(id)], use };
  }
  if (status !== "failed" && status !== "cancelled") return undefined;
  const { code, message } = object(error);
  return { status: "failed", code: text(code) || text(status), message: text(message) };
}

const resolutionBySize = ({ width, height }: { width: number; height: number }): string =>
  `${Math.min(width, height)}p`;

/** The same API at other addresses. `place` returns the address of `path` below `/videos`. */
function openaiVideos(place: (channel: PoolChannel, path: string) => string): VideoVendor {
  return {
    submit(request, { channel, model }) {
      if (request.n !== 1) throw new RequestFault("n");
      if (request.images.length > 1 || request.last_frame !== undefined) throw new RequestFault("input_reference");
      const [image] = request.images;
      const members = {
        model,
        prompt: request.prompt,
        seconds: request.seconds === undefined ? undefined : String(request.seconds),
        size: sizeOf(request),
      };
      const call = { method: "POST", url: place(channel, "") } as const;
      const inline = image === undefined ? undefined : inlineImage(image);
      if (inline) return { ...call, form: formOf(members, inline) };
      return {
        ...call,
        body: compact({ ...members, input_reference: image === undefined ? undefined : { image_url: image } }),
      };
    },
    accepted: ({ id, task_id }) => text(id) || text(task_id) || undefined,
    poll: ({ upstream_id }, { channel }) => ({
      method: "GET",
      url: place(channel, `/${encodeURIComponent(upstream_id)}`),
    }),
    report,
    remix: ({ upstream_id }, prompt, { channel }) => ({
      method: "POST",
      url: place(channel, `/${encodeURIComponent(upstream_id)}/remix`),
      body: { prompt },
    }),
    remove: ({ upstream_id }, { channel }) => ({
      method: "DELETE",
      url: place(channel, `/${encodeURIComponent(upstream_id)}`),
    }),
    content: ({ upstream_id }, _, { channel }) => {
      const at = `/${encodeURIComponent(upstream_id)}/content`;
      return variants.map((variant) =>
        variant === "video"
          ? { url: place(channel, at), media: "video" }
          : { url: place(channel, `${at}?variant=${variant}`), media: "image" },
      );
    },
    readError,
  };
}

export const sora = openaiVideos(({ base_url }, path) => `${base_url}/v1/videos${path}`);

/** The API version of Azure's videos; Azure takes the deployment name as the model. */
const VERSION = "preview";

export const azureSora = openaiVideos(({ base_url }, path) => {
  const [at, query] = path.split("?");
  return `${base_url}/openai/v1/videos${at}?api-version=${VERSION}${query === undefined ? "" : `&${query}`}`;
});
