/**
 * Jimeng, Volcengine's intelligent vision (volcengine.com/docs/85621/1777001, video 3.0 Pro, with its error codes; the
 * image models of docs/85621 answer in the same format; read November 2026). Every call is a signed POST to the root;
 * the model is the `req_key`.
 */
import { type ErrorKind, wireError } from "../../../protocol/dialects/shared/error-kind";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, isObject, list, object, text } from "../../../protocol/dialects/shared/json";
import { keyParts } from "../../providers/parts";
import { volcHeaders } from "../../providers/volc-signature";
import { inlineImage } from "./ask";
import type { VideoReport, VideoVendor } from "./vendor";

const VERSION = "2022-08-31";
const REGION = "cn-north-1";
const SERVICE = "cv";
/** The code of a successful response. */
const DONE = 10_000;
/** Frames of n seconds: 24n + 1. */
const FPS = 24;

const kinds: readonly (readonly [RegExp, ErrorKind])[] = [
  [/^(50411|50511|50412|50512|50413|50400)$/, "caller"],
  [/^504(29|30)$/, "rate"],
  [/^50(500|501)$/, "overloaded"],
  [
    /^(SignatureDoesNotMatch|InvalidAuthorization|InvalidCredential|InvalidAccessKey|MissingAuthenticationToken|AccessDenied)$/,
    "authentication",
  ],
];
const kindOf = (code: string): ErrorKind | undefined => kinds.find(([pattern]) => pattern.test(code))?.[1];

const action = (base: string, name: string): string => `${base}/?Action=${name}&Version=${VERSION}`;

/** URLs are valid for an hour, the job for twelve: a later query returns new URLs. */
const LINK_SECONDS = 3_600;

const states: Readonly<Record<string, "queued" | "running">> = { in_queue: "queued", generating: "running" };

function report(answer: Readonly<Record<string, unknown>>): VideoReport | undefined {
  const { code, message, data } = answer;
  const { status, video_url, image_urls } = object(data);
  const state = states[text(status)];
  if (code === DONE && state) return { status: state };
  if (status === "not_found" || status === "expired")
    return { status: "failed", code: text(status), message: text(message) };
  // Failed jobs are `done` as well: the outer code distinguishes them.
  if (typeof code === "number" && code !== DONE && kindOf(String(code)) === "caller") {
    return { status: "failed", code: String(code), message: text(message) };
  }
  if (code !== DONE || status !== "done") return undefined;
  if (text(video_url) !== "") return { status: "succeeded", files: [text(video_url)] };
  const images = list(image_urls).filter((url): url is string => typeof url === "string" && url !== "");
  return {
    status: "succeeded",
    files: images,
    ...(images.length > 0 && { media: "image", use: { n: images.length } }),
  };
}

export const jimeng: VideoVendor = {
  submit(request, { channel, model }) {
    if (request.n !== 1) throw new RequestFault("n");
    const pictures = request.last_frame === undefined ? request.images : [...request.images, request.last_frame];
    const inline = pictures.map((picture) => inlineImage(picture)?.base64);
    const embedded = inline.filter((base64) => base64 !== undefined);
    if (embedded.length > 0 && embedded.length < pictures.length) throw new RequestFault("images");
    const [width, height] = (request.size ?? "").split("x").map(Number);
    const body = compact({
      ...request.extra,
      req_key: model,
      prompt: request.prompt || undefined,
      binary_data_base64: embedded.length > 0 ? embedded : undefined,
      image_urls: embedded.length === 0 && pictures.length > 0 ? pictures : undefined,
      frames: request.seconds === undefined ? undefined : Math.round(request.seconds * FPS) + 1,
      aspect_ratio: request.ratio,
      ...(request.size !== undefined && { width, height }),
      seed: request.seed,
    });
    return { method: "POST", url: action(channel.base_url, "CVSync2AsyncSubmitTask"), body };
  },
  accepted: ({ code, data }) => (code === DONE ? text(object(data).task_id) || undefined : undefined),
  poll: ({ upstream_id }, { channel, model }) => ({
    method: "POST",
    url: action(channel.base_url, "CVSync2AsyncGetResult"),
    // Images are returned as URLs only on request.
    body: { req_key: model, task_id: upstream_id, req_json: JSON.stringify({ return_url: true }) },
  }),
  report,
  link_seconds: LINK_SECONDS,
  readError(answer) {
    if (!isObject(answer)) return undefined;
    const refused = object(object(answer.ResponseMetadata).Error);
    if (text(refused.Code) !== "") return wireError(text(refused.Message), text(refused.Code), kindOf);
    const { code, message } = answer;
    return typeof code === "number" && code !== DONE ? wireError(text(message), String(code), kindOf) : undefined;
  },
  headers: () => ({}),
  sign({ method, url }, channel, now, body) {
    const { access_key = "", secret_key = "" } = keyParts(channel);
    return volcHeaders({
      access_key,
      secret_key,
      region: REGION,
      service: SERVICE,
      method,
      url,
      content_type: "application/json",
      body,
      now,
    });
  },
};
