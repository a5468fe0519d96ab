/**
 * Replicate's predictions as jobs (replicate.com/docs/reference/http: models.predictions.create, predictions.create,
 * .get, .cancel; read November 2026). Inputs differ by model, so only members that the caller set are sent. Images that
 * a caller waits for are in relay/providers/replicate.ts.
 */
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, list, number, object, text } from "../../../protocol/dialects/shared/json";
import { mediaTypeOfUrl } from "../../../protocol/dialects/shared/media";
import type { WireObject } from "../../../protocol/chat-events";
import { replicate as provider } from "../../providers/replicate";
import type { VideoReport, VideoVendor } from "./vendor";

/** The maximum run time of a prediction that is no longer polled; the vendor's maximum is a day. */
const CANCEL_AFTER = "24h";

const states: Readonly<Record<string, "queued" | "running">> = { starting: "queued", processing: "running" };

function report(prediction: WireObject): VideoReport | undefined {
  const { status, output, error, metrics } = prediction;
  const state = states[text(status)];
  if (state) return { status: state };
  if (status === "succeeded") {
    const files = (Array.isArray(output) ? list(output) : [output]).filter(
      (one): one is string => typeof one === "string" && one !== "",
    );
    const seconds = number(object(metrics).video_output_duration_seconds);
    const pictures = files.length > 0 && files.every((file) => mediaTypeOfUrl(file)?.startsWith("image/"));
    return { status: "succeeded", files, use: compact({ seconds }), ...(pictures && { media: "image" }) };
  }
  if (status !== "failed" && status !== "canceled" && status !== "aborted") return undefined;
  return { status: "failed", code: status, message: text(error) };
}

const base = "/v1/predictions";

export const replicate: VideoVendor = {
  submit(request, { channel, model }) {
    if (request.n !== 1) throw new RequestFault("n");
    const [name, version] = model.split(":");
    const [image, ...others] = request.images;
    if (others.length > 0) throw new RequestFault("images");
    const { input: _, ...extra } = request.extra;
    const input = compact({
      ...extra,
      prompt: request.prompt || undefined,
      negative_prompt: request.negative_prompt,
      image,
      last_frame: request.last_frame,
      duration: request.seconds,
      resolution: request.resolution,
      aspect_ratio: request.ratio,
      seed: request.seed,
      generate_audio: request.audio,
    });
    const path =
      version === undefined
        ? `/v1/models/${(name ?? "").split("/").map(encodeURIComponent).join("/")}/predictions`
        : base;
    return {
      method: "POST",
      url: channel.base_url + path,
      headers: { "cancel-after": CANCEL_AFTER },
      body: version === undefined ? { input } : { version, input },
    };
  },
  accepted: ({ id }) => text(id) || undefined,
  poll: ({ upstream_id }, { channel }) => ({
    method: "GET",
    url: `${channel.base_url}${base}/${encodeURIComponent(upstream_id)}`,
  }),
  report,
  cancel: ({ upstream_id }, { channel }) => ({
    method: "POST",
    url: `${channel.base_url}${base}/${encodeURIComponent(upstream_id)}/cancel`,
  }),
  readError: (answer) => provider.readError?.(answer),
};
