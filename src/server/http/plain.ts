/**
 * Doors whose answer is no envelope: files, streams of events, calls with a shape of their own. What fails is said as
 * an envelope all the same. Mounted by app.ts like the REST routes: both spellings of the slash, one limit, one
 * context.
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
   * Pages show what it answers (img, audio, video), and a browser then sends no header: the session's cookie is enough.
   */
  shown?: boolean;
  answer(ctx: Ctx, request: Request): Promise<Response>;
}

/** Answers one call. Never throws. */
export async function answerPlain(door: PlainRoute, ctx: Ctx, request: Request): Promise<Response> {
  let response: Response;
  try {
    const refused = unknownActor(ctx.actor);
    if (refused) throw refused;
    response = await door.answer(ctx, request);
  } catch (thrown) {
    const error = toAppError(thrown);
    logUnexpected(ctx, error);
    const { status, body } = envelopeOf(error, ctx.lang, ctx.request_id);
    // To a browser that shows it, a 200 would be a broken picture rather than none.
    response = Response.json(body, {
      status: door.shown ? errors[error.code].status : status,
      headers: { "cache-control": "no-store" },
    });
  }
  response.headers.set("x-content-type-options", "nosniff");
  if (door.cors) response.headers.set("access-control-allow-origin", "*");
  return response;
}

/** A browser's question whether another site may call a door with `cors`. */
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
