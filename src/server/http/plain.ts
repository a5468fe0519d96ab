/**
 * Routes of /api without the envelope: files, event streams, responses with their own shape. Errors are envelopes
 * all the same. app.ts mounts them like the REST routes: both slash forms, the same limit, the same context.
 */
import { errors } from "../../shared/errors";
import type { Ctx } from "../contracts/context";
import { unknownActor } from "./session";
import { envelopeOf, logUnexpected, toAppError } from "./fail";

export interface PlainRoute {
  /** `GET /api/log/export` */
  line: `GET /api/${string}`;
  /** Programs of other sites may call it: it takes a relay key, no cookie. */
  cors?: boolean;
  /**
   * Pages embed its response (img, audio, video), and a browser then sends no header: the session's cookie is enough.
   */
  shown?: boolean;
  answer(ctx: Ctx, request: Request): Promise<Response>;
}

/** Answers one call. Never throws. */
export async function answerPlain(route: PlainRoute, ctx: Ctx, request: Request): Promise<Response> {
  let response: Response;
  try {
    const refused = unknownActor(ctx.actor);
    if (refused) throw refused;
    response = await route.answer(ctx, request);
  } catch (thrown) {
    const error = toAppError(thrown);
    logUnexpected(ctx, error);
    const { status, body } = envelopeOf(error, ctx.lang, ctx.request_id);
    // A browser that embeds it would show a 200 as a broken picture.
    response = Response.json(body, {
      status: route.shown ? errors[error.code].status : status,
      headers: { "cache-control": "no-store" },
    });
  }
  if (route.cors) response.headers.set("access-control-allow-origin", "*");
  return response;
}

/** The CORS preflight of a route with `cors`. */
export function preflight(request: Request): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": "GET, OPTIONS",
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "*",
      "access-control-max-age": "86400",
    },
  });
}
