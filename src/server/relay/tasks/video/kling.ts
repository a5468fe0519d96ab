/**
 * Kling (app.klingai.com/global/dev/document-api: general information, text to video, image to video; error codes;
 * February and September 2026, read November 2026). The key is an access key and a secret that sign a token, or an API
 * key.
 */
import { SignJWT } from "jose";
import { type ErrorKind, wireError } from "../../../protocol/dialects/shared/error-kind";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, isObject, object, objects, text } from "../../../protocol/dialects/shared/json";
import { keyParts } from "../../providers/parts";
import { inlineImage } from "./ask";
import type { VideoReport, VideoVendor } from "./vendor";

/** Lifetime of a token in seconds, and the tolerance for a vendor clock that is behind. */
const LIFE = 1_800;
const SKEW = 5;

const modes: Readonly<Record<string, string>> = { "720p": "std", "1080p": "pro", "4k": "4k" };

/** Images are URLs, or base64 without a data URL prefix. */
const picture = (image: string): string => inlineImage(image)?.base64 ?? image;

const kinds: readonly (readonly [RegExp, ErrorKind])[] = [
  [/^100[0-4]$/, "authentication"],
  [/^110[12]$/, "quota"],
  [/^(1302|1303)$/, "rate"],
  [/^(1103|1203)$/, "model"],
  [/^(1200|1201|1300|1301)$/, "caller"],
  [/^500[12]$/, "overloaded"],
];
const kindOf = (code: string): ErrorKind | undefined => kinds.find(([pattern]) => pattern.test(code))?.[1];

const states: Readonly<Record<string, "queued" | "running">> = { submitted: "queued", processing: "running" };

function report({ code, data }: Readonly<Record<string, unknown>>): VideoReport | undefined {
  const { task_status, task_status_msg, task_result } = object(data);
  const status = text(task_status);
  if (code !== 0 || status === "") return undefined;
  const state = states[status];
  if (state) return { status: state };
  if (status === "failed") return { status: "failed", code: "failed", message: text(task_status_msg) };
  if (status !== "succeed") return undefined;
  const videos = objects(object(task_result).videos);
  const seconds = Math.round(videos.reduce((sum, { duration }) => sum + (Number(duration) || 0), 0));
  return {
    status: "succeeded",
    files: videos.map(({ url }) => text(url)).filter((url) => url !== ""),
    use: seconds > 0 ? { seconds } : {},
  };
}

export const kling: VideoVendor = {
  submit(request, { channel, model }) {
    if (request.n !== 1) throw new RequestFault("n");
    if (request.images.length > 2) throw new RequestFault("images");
    const [first, second] = request.images;
    const tail = request.last_frame ?? second;
    const mode = request.resolution === undefined ? undefined : modes[request.resolution];
    if (request.resolution !== undefined && mode === undefined) throw new RequestFault("resolution");
    const kind = first === undefined && tail === undefined ? "text2video" : "image2video";
    const body = compact({
      ...request.extra,
      model_name: model,
      prompt: request.prompt || undefined,
      negative_prompt: request.negative_prompt,
      image: first === undefined ? undefined : picture(first),
      image_tail: tail === undefined ? undefined : picture(tail),
      mode,
      duration: request.seconds === undefined ? undefined : String(request.seconds),
      // A video from an image has the image's aspect ratio.
      aspect_ratio: kind === "text2video" ? request.ratio : undefined,
      sound: request.audio === undefined ? undefined : request.audio ? "on" : "off",
    });
    return { method: "POST", url: `${channel.base_url}/v1/videos/${kind}`, body, kind };
  },
  accepted: ({ code, data }) => (code === 0 ? text(object(data).task_id) || undefined : undefined),
  poll: ({ upstream_id, kind }, { channel }) => ({
    method: "GET",
    url: `${channel.base_url}/v1/videos/${kind}/${encodeURIComponent(upstream_id)}`,
  }),
  report,
  readError(answer) {
    if (!isObject(answer)) return undefined;
    const { code, message } = answer;
    return typeof code === "number" && code !== 0 ? wireError(text(message), String(code), kindOf) : undefined;
  },
  async headers(channel, { now }): Promise<Record<string, string>> {
    const { access_key = "", secret_key, api_key } = keyParts(channel);
    if (api_key !== undefined) return { authorization: `Bearer ${api_key}` };
    const seconds = Math.floor(now() / 1000);
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setIssuer(access_key)
      .setExpirationTime(seconds + LIFE)
      .setNotBefore(seconds - SKEW)
      .sign(new TextEncoder().encode(secret_key));
    return { authorization: `Bearer ${token}` };
  },
};
