/** Who calls. */
import type { Lang } from "../../../shared/text";
import type { Caller } from "../../contracts/caller";
import type { JsonObject } from "../../lib/json-bytes";
import { parseBody } from "../../lib/request-body/json-body";
import { readBody } from "../../lib/request-body/read-body";
import type { Bytes } from "../../lib/sse";
import type { Arrival, Authenticated } from "../call/call";
import { presentedKey } from "../response/responder";

/**
 * Throws an AppError for a caller who may not call, before anything of the body is read; then resolves with the caller,
 * and with what of the body counts.
 */
export type Admit = (lang: Lang) => (body: JsonObject) => Promise<{ caller: Caller; body: JsonObject }>;

/** The caller: by their key or, at an entrance of ours, by what that knows; it has read the body then. */
export async function authenticate(
  arrival: Arrival,
  request: Request,
  admit: Admit | undefined,
): Promise<{ call: Authenticated; body?: Bytes }> {
  const { engine, ip, lang } = arrival;
  const { controlPlane } = engine;
  if (!admit) return { call: asCaller(arrival, await controlPlane.authenticate(presentedKey(request), ip, lang)) };
  // The session first, then the body.
  const admitBody = admit(lang);
  const { caller, body } = await admitBody(parseBody(await readBody(request, controlPlane.option.maxBodyBytes)));
  return { call: asCaller(arrival, caller), body: Buffer.from(JSON.stringify(body)) };
}

// Written out: a spread of so many members costs a microsecond.
const asCaller = (arrival: Arrival, caller: Caller): Authenticated => ({
  engine: arrival.engine,
  dialect: arrival.dialect,
  lang: arrival.lang,
  ip: arrival.ip,
  path: arrival.path,
  client_type: arrival.client_type,
  betas: arrival.betas,
  api_version: arrival.api_version,
  request_id: arrival.request_id,
  traceparent: arrival.traceparent,
  arrived: arrival.arrived,
  caller,
});
