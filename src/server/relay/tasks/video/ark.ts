/**
 * Volcengine Ark, the Seedance models of Doubao (volcengine.com/docs/82379/1520757 create, 1521309 query, 1521720
 * cancel or delete; error codes; October 2025 to September 2026, read November 2026). Billed by tokens, which a
 * finished job reports.
 */
import { readError } from "../../../protocol/dialects/openai-chat/error";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, number, object, text } from "../../../protocol/dialects/shared/json";
import type { VideoRequest } from "./ask";
import type { VideoReport, VideoVendor } from "./vendor";

const PATH = "/api/v3/contents/generations/tasks";

const states: Readonly<Record<string, "queued" | "running">> = { queued: "queued", running: "running" };

function report(answer: Readonly<Record<string, unknown>>): VideoReport | undefined {
  const { status, content, usage, duration, resolution, error } = answer;
  const state = states[text(status)];
  if (state) return { status: state };
  if (status === "succeeded") {
    const url = text(object(content).video_url);
    const use = compact({
      tokens: number(object(usage).completion_tokens),
      seconds: number(duration),
      resolution: text(resolution) || undefined,
    });
    return { status: "succeeded", files: url === "" ? [] : [url], use };
  }
  if (status !== "failed" && status !== "cancelled" && status !== "expired") return undefined;
  const { code, message } = object(error);
  return { status: "failed", code: text(code) || text(status), message: text(message) || `The task ${text(status)}.` };
}

/** A first frame, first and last frame, or reference images. */
function pictures({ images, last_frame }: VideoRequest): object[] {
  if (last_frame !== undefined && images.length !== 1) throw new RequestFault("last_frame");
  const all = last_frame === undefined ? images : [...images, last_frame];
  const roles = all.length > 2 ? all.map(() => "reference_image") : ["first_frame", "last_frame"];
  return all.map((url, index) => ({ type: "image_url", image_url: { url }, role: roles[index] }));
}

export const ark: VideoVendor = {
  submit(request, { channel, model }) {
    if (request.n !== 1) throw new RequestFault("n");
    const { content: own, ...extra } = request.extra;
    // The vendor reads parameters after `--` in the text, which could change the price after it was calculated.
    const prompt = request.prompt
      .replaceAll(/(?:^|\s)--(?:resolution|rs|duration|dur|frames|framespersecond|fps)\s+\S+/g, "")
      .trim();
    const content = [...(prompt === "" ? [] : [{ type: "text", text: prompt }]), ...pictures(request)];
    if (own !== undefined || content.length === 0) throw new RequestFault(own === undefined ? "prompt" : "content");
    const body = compact({
      ...extra,
      model,
      content,
      resolution: request.resolution,
      ratio: request.ratio,
      duration: request.seconds,
      generate_audio: request.audio,
      seed: request.seed,
    });
    return { method: "POST", url: channel.base_url + PATH, body };
  },
  accepted: ({ id }) => text(id) || undefined,
  poll: ({ upstream_id }, { channel }) => ({
    method: "GET",
    url: `${channel.base_url}${PATH}/${encodeURIComponent(upstream_id)}`,
  }),
  report,
  cancel: ({ upstream_id }, { channel }) => ({
    method: "DELETE",
    url: `${channel.base_url}${PATH}/${encodeURIComponent(upstream_id)}`,
  }),
  remove: ({ upstream_id }, { channel }) => ({
    method: "DELETE",
    url: `${channel.base_url}${PATH}/${encodeURIComponent(upstream_id)}`,
  }),
  readError,
};
