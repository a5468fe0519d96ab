/** Authentication of a call. */
import type { Lang } from "../../../shared/text";
import type { Caller } from "../../contracts/caller";
import type { JsonObject } from "../../lib/json-bytes";
import { parseBody } from "../../lib/request-body/json-body";
import { readBody } from "../../lib/request-body/read-body";
import type { Bytes } from "../../lib/sse";
import type { Arrival, Authenticated } from "../call/call";
import { presentedKey } from "./request-headers";

/**
 * Throws an AppError for a caller who is refused, before any of the body is read; then resolves with the caller and the
 * body's properties that count.
 */
export type ConsoleAuthentication = (lang: Lang) => (body: JsonObject) => Promise<{ caller: Caller; body: JsonObject }>;

/** The caller of the key that a request presents. Throws the errors of ControlPlane.authenticate. */
export const authenticate = ({ engine, ip, lang }: Arrival, request: Request): Promise<Caller> =>
  engine.controlPlane.authenticate(presentedKey(request), ip, lang);

/** The caller on one of the console's routes: the session first, then the body, which is read now. */
export async function authenticateBy(
  authentication: ConsoleAuthentication,
  { engine, lang }: Arrival,
  request: Request,
): Promise<{ caller: Caller; body: Bytes }> {
  const readCaller = authentication(lang);
  const { caller, body } = await readCaller(
    parseBody(await readBody(request, engine.controlPlane.option.maxBodyBytes)),
  );
  return { caller, body: Buffer.from(JSON.stringify(body)) };
}

/**
 * The record of a request whose caller is known. Written out, because spreading so many members costs a microsecond.
 */
export const authenticatedAs = (arrival: Arrival, caller: Caller): Authenticated => ({
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
