/**
 * Google's Veo: long-running operations of the Gemini API (ai.google.dev/gemini-api/docs/video) and of Vertex AI
 * (cloud.google.com/vertex-ai/generative-ai/docs/model-reference/veo-video-generation); types of @google/genai 3.1;
 * November 2026. Vertex returns the video in the response, as base64.
 */
import { otherFor } from "../../../../shared/channel-types";
import { geminiDialect } from "../../../protocol/dialects/gemini/dialect";
import { RequestFault } from "../../../protocol/dialects/shared/fault";
import { compact, list, number, object, objects, text } from "../../../protocol/dialects/shared/json";
import type { WireObject } from "../../../protocol/chat-events";
import { UpstreamError } from "../../../protocol/upstream-error";
import { failureOf } from "../../../protocol/upstream-failure";
import { googleToken, serviceAccount } from "../../providers/google-token";
import { tokenRefused } from "../../providers/provider-context";
import { vertexHost } from "../../providers/vertex-models";
import { inlineImage, type VideoRequest } from "./ask";
import type { Place, VideoReport, VideoVendor } from "./vendor";

/** The vendor's own members that callers may set: none that names a storage location, a price or a number of videos. */
const ownParameters = ["personGeneration", "enhancePrompt", "compressionQuality", "resizeMode", "labels"] as const;

/** An image as bytes; only URLs of Google Cloud Storage are passed on, and only to Vertex. */
function picture(image: string, store: boolean): WireObject {
  const inline = inlineImage(image);
  if (inline) return { bytesBase64Encoded: inline.base64, mimeType: inline.type };
  if (store && image.startsWith("gs://"))
    return { gcsUri: image, mimeType: image.endsWith(".png") ? "image/png" : "image/jpeg" };
  throw new RequestFault("input_reference");
}

function bodyOf(request: VideoRequest, store: boolean): WireObject {
  const [first, ...others] = request.images;
  if (others.length > 0 && request.last_frame !== undefined) throw new RequestFault("images");
  const references = others.length === 0 ? [] : request.images;
  const instance = compact({
    prompt: request.prompt || undefined,
    image: first === undefined || references.length > 0 ? undefined : picture(first, store),
    lastFrame: request.last_frame === undefined ? undefined : picture(request.last_frame, store),
    referenceImages:
      references.length === 0
        ? undefined
        : references.map((image) => ({ image: picture(image, store), referenceType: "asset" })),
  });
  const parameters = compact({
    ...Object.fromEntries(ownParameters.map((name) => [name, request.extra[name]])),
    aspectRatio: request.ratio,
    durationSeconds: request.seconds,
    resolution: request.resolution,
    negativePrompt: request.negative_prompt,
    sampleCount: request.n === 1 ? undefined : request.n,
    generateAudio: store ? request.audio : undefined,
    seed: request.seed,
  });
  return { instances: [instance], parameters };
}

/** `filesOf` finds the files in a finished operation. */
function reportWith(filesOf: (response: WireObject) => { files: string[]; filtered: WireObject }) {
  return (operation: WireObject): VideoReport | undefined => {
    const { name, done, error, response, metadata } = operation;
    if (text(name) === "") return undefined;
    if (done !== true) {
      const progress = number(object(metadata).progressPercent);
      return progress === undefined ? { status: "running" } : { status: "running", progress };
    }
    if (error !== undefined) {
      const { code, message, status } = object(error);
      return { status: "failed", code: text(status) || String(number(code) ?? ""), message: text(message) };
    }
    const { files, filtered } = filesOf(object(response));
    if (files.length > 0) return { status: "succeeded", files, use: { n: files.length } };
    const reasons = list(filtered.raiMediaFilteredReasons).filter((reason) => typeof reason === "string");
    if ((number(filtered.raiMediaFilteredCount) ?? 0) > 0 || reasons.length > 0) {
      return { status: "failed", code: "content_policy_violation", message: reasons.join(" ") };
    }
    return { status: "succeeded", files: [] };
  };
}

const accepted = ({ name }: WireObject): string | undefined => text(name) || undefined;
const readError = geminiDialect.readError;

/** An operation's name in a URL: its slashes stay. */
const pathOf = (name: string): string => name.split("/").map(encodeURIComponent).join("/");

export const veoGemini: VideoVendor = {
  submit: (request, { channel, model }) => ({
    method: "POST",
    url: `${channel.base_url}/v1beta/models/${encodeURIComponent(model)}:predictLongRunning`,
    body: bodyOf(request, false),
  }),
  accepted,
  poll: ({ upstream_id }, { channel }) => ({ method: "GET", url: `${channel.base_url}/v1beta/${pathOf(upstream_id)}` }),
  report: reportWith(({ generateVideoResponse }) => {
    const filtered = object(generateVideoResponse);
    const files = objects(filtered.generatedSamples).map(({ video }) => text(object(video).uri));
    return { files: files.filter((uri) => uri !== ""), filtered };
  }),
  // The path is the vendor's, the host and the key are the channel's: a file is at `/v1beta/files/…:download`.
  content: (_, file, { channel }) => {
    const { pathname, search } = new URL(file, channel.base_url);
    return [{ url: `${channel.base_url}${pathname}${search}`, media: "video" }];
  },
  readError,
};

/** The address of a model's call in the channel's project and region. Throws Failed when the key names none. */
function vertexCall({ channel, model }: Place, call: string): string {
  const account = serviceAccount(channel);
  const location = otherFor(channel.type.id, channel.other, model);
  if (!account) throw tokenRefused(401, "the key is no service account");
  if (location === "") throw new UpstreamError(failureOf("malformed"));
  const base = channel.base_url || vertexHost(location);
  const place = `/v1/projects/${encodeURIComponent(account.project_id)}/locations/${encodeURIComponent(location)}`;
  return `${base}${place}/publishers/google/models/${encodeURIComponent(model)}:${call}`;
}

/** The index of a video inside the response. */
const INLINE = "inline:";

export const veoVertex: VideoVendor = {
  submit: (request, place) => ({
    method: "POST",
    url: vertexCall(place, "predictLongRunning"),
    body: bodyOf(request, true),
  }),
  accepted,
  poll: ({ upstream_id }, place) => ({
    method: "POST",
    url: vertexCall(place, "fetchPredictOperation"),
    body: { operationName: upstream_id },
  }),
  report: reportWith((response) => {
    const files = objects(response.videos).flatMap(({ bytesBase64Encoded, gcsUri }, index) =>
      text(bytesBase64Encoded) !== "" || text(gcsUri) !== "" ? [`${INLINE}${index}`] : [],
    );
    return { files, filtered: response };
  }),
  inline(answer, index) {
    const video = objects(object(answer.response).videos)[index];
    const base64 = text(video?.bytesBase64Encoded);
    return base64 === "" ? undefined : { type: text(video?.mimeType) || "video/mp4", base64 };
  },
  readError,
  async headers(channel, context): Promise<Record<string, string>> {
    const account = serviceAccount(channel);
    if (!account) throw tokenRefused(401, "the key is no service account");
    return { authorization: `Bearer ${await context.token(() => googleToken(account, context))}` };
  },
};
