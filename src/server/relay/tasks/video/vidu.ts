/**
 * Vidu (platform.vidu.com/docs: text, image, start-end and reference to video, query of the creations, cancel; error
 * codes; 2025 to September 2026, read November 2026).
 */
import { type ErrorKind, wireError } from "../../../protocol/dialects/shared/error-kind";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, isObject, objects, text } from "../../../protocol/dialects/shared/json";
import type { VideoRequest } from "./ask";
import type { VideoReport, VideoVendor } from "./vendor";

const kinds: readonly (readonly [RegExp, ErrorKind])[] = [
  [/^(Unauthorized|Forbidden)$/, "authentication"],
  [/^CreditInsufficient$/, "quota"],
  [/^(TooManyRequests|SystemThrottling|QuotaExceeded)$/, "rate"],
  [/^ModelUnavailable$/, "model"],
  [
    /^(BadRequest|Field|Image|Video|PageSize|AuditSubmitIllegal|AuditFailed|CreationPolicyViolation|FaceDetect|NoFace|MultiFace)/,
    "caller",
  ],
];
const kindOf = (code: string): ErrorKind | undefined => kinds.find(([pattern]) => pattern.test(code))?.[1];

/** The vendor's endpoint for the request. */
function kindFor({ images, last_frame }: VideoRequest): string {
  if (last_frame !== undefined) return "start-end2video";
  return images.length === 0 ? "text2video" : images.length === 1 ? "img2video" : "reference2video";
}

/** URLs are valid for a day; a later query returns new ones. */
const LINK_SECONDS = 86_400;

const states: Readonly<Record<string, "queued" | "running">> = {
  created: "queued",
  queueing: "queued",
  processing: "running",
};

function report(answer: Readonly<Record<string, unknown>>): VideoReport | undefined {
  const { state, err_code, creations } = answer;
  const running = states[text(state)];
  if (running) return { status: running };
  if (state === "failed") return { status: "failed", code: text(err_code) || "failed", message: text(err_code) };
  if (state !== "success") return undefined;
  return {
    status: "succeeded",
    files: objects(creations)
      .map(({ url }) => text(url))
      .filter((url) => url !== ""),
  };
}

export const vidu: VideoVendor = {
  submit(request, { channel, model }) {
    if (request.n !== 1) throw new RequestFault("n");
    if (request.last_frame !== undefined && request.images.length !== 1) throw new RequestFault("last_frame");
    const kind = kindFor(request);
    const images = request.last_frame === undefined ? request.images : [...request.images, request.last_frame];
    const body = compact({
      ...request.extra,
      model,
      prompt: request.prompt || undefined,
      images: images.length > 0 ? images : undefined,
      duration: request.seconds,
      resolution: request.resolution,
      // A video from frames has their aspect ratio.
      aspect_ratio: kind === "text2video" || kind === "reference2video" ? request.ratio : undefined,
      audio: request.audio,
      seed: request.seed,
    });
    return { method: "POST", url: `${channel.base_url}/ent/v2/${kind}`, body };
  },
  accepted: ({ task_id, state }) => (state === "failed" ? undefined : text(task_id) || undefined),
  poll: ({ upstream_id }, { channel }) => ({
    method: "GET",
    url: `${channel.base_url}/ent/v2/tasks/${encodeURIComponent(upstream_id)}/creations`,
  }),
  report,
  link_seconds: LINK_SECONDS,
  cancel: ({ upstream_id }, { channel }) => ({
    method: "POST",
    url: `${channel.base_url}/ent/v2/tasks/${encodeURIComponent(upstream_id)}/cancel`,
    body: { id: upstream_id },
  }),
  readError(answer) {
    if (!isObject(answer)) return undefined;
    const { reason, message, err_code } = answer;
    const code = text(reason) || text(err_code);
    return code === "" ? undefined : wireError(text(message) || code, code, kindOf);
  },
};
