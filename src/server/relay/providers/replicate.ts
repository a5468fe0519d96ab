/**
 * Replicate: images as predictions, awaited inside the call (replicate.com/docs/reference/http:
 * models.predictions.create, predictions.get; docs/topics/predictions/create-a-prediction; read November 2026).
 */
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { compact, isObject, list, object, text } from "../../protocol/dialects/shared/json";
import type { WireError, WireObject } from "../../protocol/chat-events";
import { afterAcceptance, UpstreamError } from "../../protocol/upstream-error";
import { classifyStatus, failureOf } from "../../protocol/upstream-failure";
import { tryParse } from "../../lib/json-bytes";
import { bodyOf, withBody } from "./changed-body";
import { ordinary } from "./ordinary";
import type { DirectCodec, Outgoing, Provider, ProviderContext } from "./provider";
import { send } from "./provider-context";

/** Seconds for which the vendor may hold the first request open; 60 is its maximum. */
const WAIT_S = 60;
/**
 * The maximum run time of a prediction whose caller has gone (replicate.com/changelog/2025-10-16-prediction-deadlines).
 */
const CANCEL_AFTER = "10m";
/** Pause between polls of a prediction. */
const POLL_MS = 1_000;
/** Largest image that is fetched and returned as base64. */
const PICTURE_LIMIT = 32 << 20;

/** Members of OpenAI's body that the vendor names differently, or not at all; all others are the model's own inputs. */
const openaiMembers = new Set([
  "model",
  "prompt",
  "n",
  "size",
  "response_format",
  "output_format",
  "quality",
  "style",
  "background",
  "moderation",
  "output_compression",
  "partial_images",
  "stream",
  "user",
]);

/** Aspect ratios that images can have. */
const ratios = ["1:1", "16:9", "21:9", "3:2", "2:3", "4:5", "5:4", "3:4", "4:3", "9:16", "9:21"] as const;

const valueOf = (ratio: string): number => {
  const [width = 1, height = 1] = ratio.split(":").map(Number);
  return Math.log(width / height);
};

/** The ratio nearest to a size (1792x1024); undefined when the caller sets none. */
function ratioOf(size: unknown): string | undefined {
  const found = /^(\d{2,5})x(\d{2,5})$/.exec(text(size));
  if (!found) return undefined;
  const wanted = valueOf(`${found[1]}:${found[2]}`);
  return ratios.toSorted((a, b) => Math.abs(valueOf(a) - wanted) - Math.abs(valueOf(b) - wanted))[0];
}

/** The bytes of an image, from its URL or data URL. */
async function base64Of(address: string, context: ProviderContext): Promise<string> {
  const inside = /^data:[^,]*;base64,/.exec(address);
  if (inside) return address.slice(inside[0].length);
  // Sent without the key: the URL is public, and on another host.
  const response = await context.fetch(address, { method: "GET" });
  const size = Number(response.headers.get("content-length") ?? 0);
  if (!response.ok || size > PICTURE_LIMIT) throw new UpstreamError(failureOf("malformed", response.status));
  return Buffer.from(await response.arrayBuffer()).toString("base64");
}

const images: DirectCodec = {
  encode(body) {
    if (body.stream === true) throw new RequestFault("stream");
    const own = Object.fromEntries(
      Object.entries(body).filter(([name, value]) => !openaiMembers.has(name) && value !== null),
    );
    const input = compact({
      prompt: body.prompt,
      aspect_ratio: ratioOf(body.size),
      // Models that make only one image do not have this input.
      num_outputs: typeof body.n === "number" && body.n > 1 ? body.n : undefined,
      output_format: body.output_format === "jpeg" ? "jpg" : body.output_format,
      ...own,
    });
    return { input };
  },
  async decode(prediction, asked, context) {
    const { status, output, created_at } = prediction;
    const addresses = (Array.isArray(output) ? list(output) : [output]).filter(
      (one): one is string => typeof one === "string",
    );
    if (status !== "succeeded" || addresses.length === 0) return undefined;
    const whole = asked.response_format === "b64_json";
    const data = await Promise.all(
      addresses.map(async (url): Promise<WireObject> => (whole ? { b64_json: await base64Of(url, context) } : { url })),
    );
    return { created: Math.floor((Date.parse(text(created_at)) || 0) / 1000), data };
  },
};

/** `owner/name` is a model with its own address; `owner/name:version` is named in the body. */
const versionOf = (model: string): string | undefined =>
  model.includes(":") ? model.slice(model.indexOf(":") + 1) : undefined;

function readError(body: unknown): WireError | undefined {
  const { status, error } = object(body);
  if (status !== "failed" && status !== "canceled" && status !== "aborted") return undefined;
  return {
    message: text(error) || `The prediction ${status === "failed" ? "failed" : `was ${status}`}.`,
    type: "",
    code: status,
    param: null,
  };
}

const unfinished = new Set(["starting", "processing"]);

export const replicate: Provider = {
  ...ordinary,
  url({ base_url }, operation, model) {
    if (operation !== "images") return undefined;
    if (versionOf(model) !== undefined) return `${base_url}/v1/predictions`;
    return `${base_url}/v1/models/${model.split("/").map(encodeURIComponent).join("/")}/predictions`;
  },
  prepare(outgoing) {
    const version = versionOf(outgoing.model);
    const ready = {
      ...outgoing,
      headers: { ...outgoing.headers, prefer: `wait=${WAIT_S}`, "cancel-after": CANCEL_AFTER },
    };
    return version === undefined ? ready : withBody(ready, { ...bodyOf(ready), version });
  },
  /** Waits until the prediction is over; the call's timeouts apply. */
  async open(outgoing, context) {
    const made = await send(outgoing, context);
    return made.ok ? afterAcceptance(context.signal, () => ended(made, outgoing, context)) : made;
  },
  readError,
  direct: { images },
};

/** Polls a prediction until it is over. */
async function ended(made: Response, { channel, headers }: Outgoing, context: ProviderContext): Promise<Response> {
  const { authorization = "" } = headers;
  for (let response = made; ;) {
    const prediction = tryParse(Buffer.from(await response.arrayBuffer()));
    if (!isObject(prediction) || !unfinished.has(text(prediction.status))) return Response.json(prediction ?? {});
    await context.wait(POLL_MS);
    // Not the address in the answer: the key is sent to the channel's host only.
    const address = `${channel.base_url}/v1/predictions/${encodeURIComponent(text(prediction.id))}`;
    response = await context.fetch(address, { method: "GET", headers: { authorization } });
    // The prediction runs at this vendor: a retry elsewhere would pay twice.
    if (!response.ok)
      throw new UpstreamError({
        ...classifyStatus(
          context.redact,
          response.status,
          readError(tryParse(Buffer.from(await response.arrayBuffer()))),
          channel.status_mapping,
        ),
        retry: "no",
      });
  }
}
