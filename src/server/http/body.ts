/** Bodies of /api and /trpc. The caller is known before anything is read, and decides how much is. */
import type { AnyRouter } from "@trpc/server";
import { AppError } from "../../shared/errors";
import type { Ctx } from "../contracts/context";
import { BODY_LIMITS, readBody } from "../lib/request-body/read-body";
import { toTRPC } from "./fail";
import type { RouteMeta } from "./trpc";

type Caller = Pick<Ctx, "actor">;

/** Most bytes of a body. `open`: a route without sign-in, which reads little from every caller. */
export const bodyLimit = ({ actor }: Caller, open: boolean): number =>
  open || actor.kind === "guest" ? BODY_LIMITS.public : BODY_LIMITS.api;

async function parsed(request: Request, limit: number): Promise<unknown> {
  // Editors write a byte order mark, which JSON does not allow.
  const text = (await readBody(request, limit)).toString("utf8").replace(/^\uFEFF/, "");
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("bad_json", {}, { cause });
  }
}

/** The body of a REST call; undefined without one. Not read where the caller has to sign in first. */
export async function readJson(request: Request, ctx: Caller, meta: RouteMeta): Promise<unknown> {
  const open = meta.public === true;
  if (request.method === "GET" || request.method === "HEAD" || (!open && ctx.actor.kind === "guest")) return undefined;
  return parsed(request, bodyLimit(ctx, open));
}

/** The procedures that the address of a tRPC call names: a batch several, undefined where an escape in it is none. */
export function trpcNames(url: string): string[] | undefined {
  try {
    return decodeURI(new URL(url).pathname).slice("/trpc/".length).split(/,|%2c/i);
  } catch {
    return undefined;
  }
}

/** Whether one of a tRPC call's procedures is public. */
export function trpcIsPublic(appRouter: AnyRouter, names: readonly string[]): boolean {
  const procedures = appRouter._def.procedures as Record<string, { _def: { meta?: RouteMeta } } | undefined>;
  return names.some((name) => procedures[name]?._def.meta?.public === true);
}

/**
 * The request as tRPC gets it: tRPC reads the body after a procedure's own checks, and gets it as JSON within the
 * limit.
 */
export function boundedRequest(request: Request, limit: number): Request {
  const { url, method, headers, signal } = request;
  const bounded = new Request(url, { method, headers, signal });
  const json = async (): Promise<unknown> => {
    try {
      return await parsed(request, limit);
    } catch (error) {
      throw error instanceof AppError ? toTRPC(error) : error;
    }
  };
  // No procedure accepts a form.
  const formData = async (): Promise<never> => {
    throw toTRPC(new AppError("bad_json"));
  };
  return Object.defineProperties(bounded, { json: { value: json }, formData: { value: formData } });
}
