/** Replacing the body of an outgoing request. */
import { isObject, tryParse } from "../../lib/json-bytes";
import type { WireObject } from "../../protocol/chat-events";
import type { Outgoing } from "./provider";

/** The body as an object; {} if it is none. */
export function bodyOf({ body }: Pick<Outgoing, "body">): WireObject {
  const parsed = tryParse(body);
  return isObject(parsed) ? parsed : {};
}

/** The request with another body. */
export const withBody = (outgoing: Outgoing, body: WireObject): Outgoing => ({
  ...outgoing,
  body: Buffer.from(JSON.stringify(body)),
});
