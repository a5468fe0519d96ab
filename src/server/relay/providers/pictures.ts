/**
 * The input images of an image call in OpenAI's format (platform.openai.com/docs/api-reference/images/createEdit, JSON
 * body; November 2026).
 */
import { whiteWhereClear } from "../../lib/png-mask";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { isObject, text } from "../../protocol/dialects/shared/json";
import { sourceOfUrl } from "../../protocol/dialects/shared/media";
import type { WireObject } from "../../protocol/chat-events";

/** The URL of one image, which may be a data URL. Throws RequestFault for a file id: only OpenAI has that file. */
function addressOf(picture: unknown, param: string): string {
  const named = isObject(picture) ? picture.image_url : picture;
  const address = text(isObject(named) ? named.url : named);
  if (!/^(?:https?|data):/i.test(address)) throw new RequestFault(param, "a picture is an address, or a data URL");
  return address;
}

const given = (value: unknown): unknown[] => (value === undefined || value === null ? [] : [value].flat());

/**
 * The images to edit, in order: `images`, or `image`, which many callers send; none for a call that only generates.
 * Throws RequestFault.
 */
export const picturesOf = ({ image, images }: WireObject): string[] => [
  ...given(image).map((picture) => addressOf(picture, "image")),
  ...given(images).map((picture) => addressOf(picture, "images")),
];

/**
 * The mask of an edit as base64 of a PNG that is white where the image may change, the format of vendors other than
 * OpenAI; undefined without a mask. Throws RequestFault if its transparency cannot be read.
 */
export async function whiteMaskOf({ mask }: WireObject): Promise<string | undefined> {
  const [first] = given(mask);
  if (first === undefined) return undefined;
  const source = sourceOfUrl(addressOf(first, "mask"));
  const white = source.kind === "data" ? await whiteWhereClear(Buffer.from(source.data, "base64")) : undefined;
  if (!white)
    throw new RequestFault("mask", "it must be a PNG inside the call with transparency of 8 bits, not interlaced");
  return white.toString("base64");
}

/**
 * Throws RequestFault if there is a mask: the model supports none, and an edit without it would change what should
 * stay.
 */
export function refuseMask({ mask }: WireObject): void {
  if (given(mask).length > 0)
    throw new RequestFault("mask", "this model takes no mask; say in the prompt what is to change");
}

/** Throws RequestFault for a stream: `maker` returns its images only when they are done. */
export function refuseStream({ stream }: WireObject, maker: string): void {
  if (stream === true) throw new RequestFault("stream", `${maker} sends pictures whole`);
}
