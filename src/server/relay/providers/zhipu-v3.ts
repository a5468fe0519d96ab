/**
 * Zhipu's API of generation 3: a path for each model and method, a token signed with the key's secret
 * (open.bigmodel.cn, model-api; jwt_token.py of zhipuai 1.0.7, read November 2026), and events with a member `meta`.
 */
import { SignJWT } from "jose";
import { FrameSplitter, readFields, wholeFrames } from "../../lib/sse";
import { eventsOf, chunksOf } from "./framing";
import { keyParts } from "./parts";
import type { Provider } from "./provider";
import { send } from "./provider-context";

/** A day, as in the vendor's documentation. */
const LIFE_S = 24 * 3600;

/** The token of a key; `now` in epoch milliseconds, like the claims. */
export function zhipuToken(id: string, secret: string, now: number, life_s: number): Promise<string> {
  return new SignJWT({ api_key: id, exp: now + life_s * 1000, timestamp: now })
    .setProtectedHeader({ alg: "HS256", sign_type: "SIGN", typ: "JWT" })
    .sign(Buffer.from(secret));
}

/** The fields of each frame as JSON: what the dialect reads. */
async function* framesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  const splitter = new FrameSplitter();
  for await (const piece of chunksOf(body)) {
    for (const frame of wholeFrames(splitter.push(piece))) {
      const fields = readFields(frame);
      if (fields.event !== undefined) yield JSON.stringify(fields);
    }
  }
}

export const zhipuV3: Provider = {
  url: ({ base_url }, operation, model, stream) =>
    operation === "chat"
      ? `${base_url}/api/paas/v3/model-api/${encodeURIComponent(model)}/${stream ? "sse-invoke" : "invoke"}`
      : undefined,
  headers: () => ({}),
  async prepare(outgoing, context) {
    const { id = "", secret = "" } = keyParts(outgoing.channel);
    const token = async () => ({ token: await zhipuToken(id, secret, context.now(), LIFE_S), expires_in: LIFE_S });
    return { ...outgoing, headers: { ...outgoing.headers, authorization: await context.token(token) } };
  },
  async open(outgoing, context) {
    const response = await send(outgoing, context);
    const events = response.ok && /event-stream/i.test(response.headers.get("content-type") ?? "");
    return events ? eventsOf(framesOf(response.body), response.headers) : response;
  },
};
