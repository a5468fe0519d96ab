/**
 * Alibaba's Wan at Model Studio (help.aliyun.com/zh/model-studio: text-to-video-api-reference,
 * image-to-video-general-api-reference, legacy-wan-text-to-video-api-reference, manage-asynchronous-tasks, error-code;
 * 2026, read November 2026). Models up to 2.6 use an older format: a size for text to video, one image for image to
 * video.
 */
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, number, object, text } from "../../../protocol/dialects/shared/json";
import type { WireObject } from "../../../protocol/chat-events";
import { readError } from "../../providers/ali";
import type { VideoRequest } from "./ask";
import type { VideoReport, VideoVendor } from "./vendor";

const PATH = "/api/v1/services/aigc/video-generation/video-synthesis";
const FRAMES = "/api/v1/services/aigc/image2video/video-synthesis";

const isOlder = (model: string): boolean => /^(?:wanx|wan2\.[0-6]-)/.test(model);

/** Sizes of the older format by resolution and aspect ratio. */
const sizes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "480p": { "16:9": "832*480", "9:16": "480*832", "1:1": "624*624" },
  "720p": { "16:9": "1280*720", "9:16": "720*1280", "1:1": "960*960", "4:3": "1088*832", "3:4": "832*1088" },
  "1080p": { "16:9": "1920*1080", "9:16": "1080*1920", "1:1": "1440*1440", "4:3": "1632*1248", "3:4": "1248*1632" },
};

function sizeOf({ resolution, ratio }: VideoRequest): string | undefined {
  if (resolution === undefined && ratio === undefined) return undefined;
  const size = sizes[resolution ?? "1080p"]?.[ratio ?? "16:9"];
  if (size === undefined)
    throw new RequestFault(resolution !== undefined && !sizes[resolution] ? "resolution" : "size");
  return size;
}

/** The vendor's own members that belong beside the prompt; all others are parameters. */
const inputMembers = new Set(["audio_url", "template", "reference_video_urls", "function", "media"]);

function splitMembers(extra: WireObject): { input: WireObject; parameters: WireObject } {
  const entries = Object.entries({ ...extra, ...object(extra.parameters), ...object(extra.input) });
  const own = entries.filter(([name]) => !priced.has(name));
  return {
    input: Object.fromEntries(own.filter(([name]) => inputMembers.has(name))),
    parameters: Object.fromEntries(own.filter(([name]) => !inputMembers.has(name))),
  };
}

/** Members that nested objects may not repeat. */
const priced = new Set([
  "input",
  "parameters",
  "prompt",
  "size",
  "resolution",
  "duration",
  "ratio",
  "audio",
  "img_url",
  "first_frame_url",
  "last_frame_url",
]);

function older(
  request: VideoRequest,
  own: ReturnType<typeof splitMembers>,
): { input: WireObject; parameters: WireObject } {
  const [first, second] = request.images;
  const tail = request.last_frame ?? second;
  const common = { prompt: request.prompt || undefined, negative_prompt: request.negative_prompt };
  const shared = { ...own.parameters, duration: request.seconds, audio: request.audio, seed: request.seed };
  if (first === undefined)
    return { input: { ...own.input, ...common }, parameters: { ...shared, size: sizeOf(request) } };
  const resolution = request.resolution?.toUpperCase();
  if (tail !== undefined)
    return {
      input: { ...own.input, ...common, first_frame_url: first, last_frame_url: tail },
      parameters: { ...shared, resolution },
    };
  return { input: { ...own.input, ...common, img_url: first }, parameters: { ...shared, resolution } };
}

function newer(
  request: VideoRequest,
  own: ReturnType<typeof splitMembers>,
): { input: WireObject; parameters: WireObject } {
  const [first, second] = request.images;
  const tail = request.last_frame ?? second;
  const frames = [
    ...(first === undefined ? [] : [{ type: "first_frame", url: first }]),
    ...(tail === undefined ? [] : [{ type: "last_frame", url: tail }]),
  ];
  return {
    input: {
      ...own.input,
      prompt: request.prompt || undefined,
      negative_prompt: request.negative_prompt,
      ...(frames.length > 0 && { media: frames }),
    },
    parameters: {
      ...own.parameters,
      resolution: request.resolution?.toUpperCase(),
      ratio: frames.length === 0 ? request.ratio : undefined,
      duration: request.seconds,
      seed: request.seed,
    },
  };
}

const states: Readonly<Record<string, "queued" | "running">> = { PENDING: "queued", RUNNING: "running" };

function report({ output, usage }: WireObject): VideoReport | undefined {
  const { task_status, video_url, code, message } = object(output);
  const status = text(task_status);
  const state = states[status];
  if (state) return { status: state };
  if (status === "SUCCEEDED") {
    const { duration, video_duration, output_video_duration, SR } = object(usage);
    const step = number(SR);
    const seconds = number(duration) ?? number(output_video_duration) ?? number(video_duration);
    const use = compact({
      seconds: seconds !== undefined && seconds > 0 ? seconds : undefined,
      resolution: step === undefined ? undefined : `${step}p`,
    });
    return { status: "succeeded", files: text(video_url) === "" ? [] : [text(video_url)], use };
  }
  if (status === "UNKNOWN") return { status: "failed", code: "UNKNOWN", message: "" };
  if (status !== "FAILED" && status !== "CANCELED") return undefined;
  return { status: "failed", code: text(code) || status, message: text(message) };
}

export const wan: VideoVendor = {
  submit(request, { channel, model }) {
    if (request.n !== 1) throw new RequestFault("n");
    if (request.images.length > 2) throw new RequestFault("images");
    const { input, parameters } = (isOlder(model) ? older : newer)(request, splitMembers(request.extra));
    const path = isOlder(model) && input.last_frame_url !== undefined ? FRAMES : PATH;
    return {
      method: "POST",
      url: channel.base_url + path,
      headers: { "x-dashscope-async": "enable" },
      body: { model, input: compact(input), parameters: compact(parameters) },
    };
  },
  accepted: ({ output }) => text(object(output).task_id) || undefined,
  poll: ({ upstream_id }, { channel }) => ({
    method: "GET",
    url: `${channel.base_url}/api/v1/tasks/${encodeURIComponent(upstream_id)}`,
  }),
  report,
  cancel: ({ upstream_id }, { channel }) => ({
    method: "POST",
    url: `${channel.base_url}/api/v1/tasks/${encodeURIComponent(upstream_id)}/cancel`,
  }),
  readError,
};
