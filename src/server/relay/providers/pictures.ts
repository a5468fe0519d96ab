/**
 * The pictures that a call for pictures brings along, in OpenAI's words
 * (platform.openai.com/docs/api-reference/images/createEdit, JSON body; November 2026).
 */
import { whiteWhereClear } from "../../lib/png-mask";
import { RequestFault } from "../../protocol/dialects/shared/fault";
import { isObject, text } from "../../protocol/dialects/shared/json";
import { sourceOfUrl } from "../../protocol/dialects/shared/media";
import type { WireObject } from "../../protocol/chat-events";

/** The address of one picture, a data URL among them. Throws RequestFault for a file that only OpenAI has. */
function addressOf(picture: unknown, param: string): string {
  const named = isObject(picture) ? picture.image_url : picture;
  const address = text(isObject(named) ? named.url : named);
  if (!/^(?:https?|data):/i.test(address)) throw new RequestFault(param, "a picture is an address, or a data URL");
  return address;
}

const given = (value: unknown): unknown[] => (value === undefined || value === null ? [] : [value].flat());

/**
 * The pictures to edit, in order: `images`, and `image` as many callers write it; none for a call that only draws.
 * Throws RequestFault.
 */
export const picturesOf = ({ image, images }: WireObject): string[] => [
  ...given(image).map((picture) => addressOf(picture, "image")),
  ...given(images).map((picture) => addressOf(picture, "images")),
];

/**
 * The mask of an edit as base64 of a PNG that is white where the picture is to change, which is how vendors besides
 * OpenAI mark it; undefined where none is given. Throws RequestFault for one whose transparency cannot be read.
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
 * Throws RequestFault where a mask is given: the model has none, and an edit without it would change what was to stay.
 */
export function refuseMask({ mask }: WireObject): void {
  if (given(mask).length > 0)
    throw new RequestFault("mask", "this model takes no mask; say in the prompt what is to change");
}

/** Throws RequestFault for a stream: `maker` sends its pictures when they are done. */
export function refuseStream({ stream }: WireObject, maker: string): void {
  if (stream === true) throw new RequestFault("stream", `${maker} sends pictures whole`);
}
