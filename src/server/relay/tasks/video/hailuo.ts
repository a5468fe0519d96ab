/**
 * MiniMax's Hailuo (platform.minimax.io/docs/api-reference: video-generation-t2v, -i2v, -fl2v, -query, -download;
 * errorcode; 2026, read November 2026). A finished job names a file, whose URL is requested when it is needed: it is
 * valid for nine hours.
 */
import { type ErrorKind, wireError } from "../../../protocol/dialects/shared/error-kind";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, isObject, number, object, text } from "../../../protocol/dialects/shared/json";
import type { VideoReport, VideoVendor } from "./vendor";

const kinds: Readonly<Record<string, ErrorKind>> = {
  1002: "rate",
  1039: "rate",
  1041: "rate",
  2056: "rate",
  1004: "authentication",
  2049: "authentication",
  1008: "quota",
  1026: "caller",
  1027: "caller",
  1042: "caller",
  2013: "caller",
  1000: "overloaded",
  1001: "overloaded",
  1024: "overloaded",
  1033: "overloaded",
};
const kindOf = (code: string): ErrorKind | undefined => kinds[code];

const states: Readonly<Record<string, "queued" | "running">> = {
  Preparing: "queued",
  Queueing: "queued",
  Processing: "running",
};

const codeOf = (answer: Readonly<Record<string, unknown>>): number => number(object(answer.base_resp).status_code) ?? 0;

function report(answer: Readonly<Record<string, unknown>>): VideoReport | undefined {
  const { status, file_id, base_resp } = answer;
  const state = states[text(status)];
  if (state) return { status: state };
  if (status === "Fail") {
    return { status: "failed", code: String(codeOf(answer)), message: text(object(base_resp).status_msg) };
  }
  if (status !== "Success") return undefined;
  const file = typeof file_id === "number" ? String(file_id) : text(file_id);
  return { status: "succeeded", files: file === "" ? [] : [file] };
}

export const hailuo: VideoVendor = {
  submit(request, { channel, model }) {
    if (request.n !== 1) throw new RequestFault("n");
    if (request.images.length > 2) throw new RequestFault("images");
    const [first, second] = request.images;
    const body = compact({
      ...request.extra,
      model,
      prompt: request.prompt || undefined,
      first_frame_image: first,
      last_frame_image: request.last_frame ?? second,
      duration: request.seconds,
      resolution: request.resolution?.toUpperCase(),
    });
    return { method: "POST", url: `${channel.base_url}/v1/video_generation`, body };
  },
  accepted: (answer) => (codeOf(answer) === 0 ? text(answer.task_id) || undefined : undefined),
  poll: ({ upstream_id }, { channel }) => ({
    method: "GET",
    url: `${channel.base_url}/v1/query/video_generation?task_id=${encodeURIComponent(upstream_id)}`,
  }),
  report,
  locate: {
    call: (file, { channel }) => ({
      method: "GET",
      url: `${channel.base_url}/v1/files/retrieve?file_id=${encodeURIComponent(file)}`,
    }),
    read: ({ file }) => text(object(file).download_url) || undefined,
  },
  readError(answer) {
    if (!isObject(answer)) return undefined;
    const code = codeOf(answer);
    return code === 0 ? undefined : wireError(text(object(answer.base_resp).status_msg), String(code), kindOf);
  },
};
