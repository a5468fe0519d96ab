/**
 * REST from tRPC: mounts every procedure with a `rest` line. It builds the input (coerce.ts), calls the procedure,
 * wraps the envelope. The console and an /api script run the same code.
 */
import type { AnyRouter } from "@trpc/server";
import type * as z from "zod";
import { GENERATION_HEADER, listShape, type ListShape } from "../../shared/api-generation";
import { DEFAULT_PAGE_SIZE, type Page } from "../../shared/envelope";
import { fail } from "../../shared/errors";
import type { Ctx } from "../contracts/context";
import { readJson } from "./body";
import { buildInput } from "./coerce";
import { envelopeOf, logUnexpected, toAppError } from "./fail";
import { API_HEADERS } from "./headers";
import type { RouteMeta } from "./trpc";

export interface RestRoute {
  method: string;
  /** With {params}, as in the specification. */
  path: string;
  /** `channel.list` */
  procedure: string;
  meta: RouteMeta;
  input: z.core.$ZodType | undefined;
}

interface ProcedureDef {
  meta?: RouteMeta;
  inputs: z.core.$ZodType[];
}

/** Every REST line of a router, in its order. */
export function restRoutes(appRouter: AnyRouter): RestRoute[] {
  const routes: RestRoute[] = [];
  const procedures = appRouter._def.procedures as Record<string, { _def: ProcedureDef }>;
  for (const [procedure, { _def }] of Object.entries(procedures)) {
    const lines = typeof _def.meta?.rest === "string" ? [_def.meta.rest] : (_def.meta?.rest ?? []);
    for (const line of lines) {
      const [method = "", path = ""] = line.split(" ");
      routes.push({ method, path, procedure, meta: _def.meta ?? {}, input: _def.inputs[0] });
    }
  }
  return routes;
}

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8", ...API_HEADERS };

/** Calls `channel.list` on a caller, which is a tree of functions. */
type Caller = Record<string, unknown>;
function callProcedure(caller: Caller, procedure: string, input: unknown): Promise<unknown> {
  let node: unknown = caller;
  for (const part of procedure.split(".")) node = (node as Caller)[part];
  return (node as (input: unknown) => Promise<unknown>)(input);
}

/** Answers one REST call. Never throws. */
export async function answerRest(
  route: RestRoute,
  request: Request,
  params: Record<string, string>,
  ctx: Ctx,
  createCaller: (ctx: Ctx) => unknown,
): Promise<Response> {
  try {
    const url = new URL(request.url);
    // Programs find out what a server can do by what is not there: a word is no id.
    if (params.id !== undefined && !/^-?\d+$/.test(params.id))
      fail("not_found", { method: request.method, path: url.pathname });
    const built = buildInput(route.input, {
      path: params,
      query: url.searchParams,
      body: await readJson(request, ctx, route.meta),
    });
    const shape = listShape(
      url.searchParams.get("shape"),
      request.headers.get(GENERATION_HEADER),
      ctx.options.get("ApiGeneration"),
    );
    const input = route.meta.answer === "list" ? pageInput(built as Paged, shape) : built;
    const result = await callProcedure(createCaller(ctx) as Caller, route.procedure, input);
    if (route.meta.answer === "redirect") {
      const { location } = result as { location: string };
      return new Response(null, { status: 302, headers: { location, ...API_HEADERS } });
    }
    return Response.json(successOf(route.meta.answer, result, shape), { headers: JSON_HEADERS });
  } catch (thrown) {
    const error = toAppError(thrown);
    logUnexpected(ctx, error);
    const { status, body } = envelopeOf(error, ctx.lang, ctx.request_id);
    const headers: Record<string, string> = { ...JSON_HEADERS };
    if (error.values.retry_after !== undefined) headers["retry-after"] = String(error.values.retry_after);
    const spoken = route.meta.answer === "spoken" && status === 200 && "message" in body;
    return Response.json(spoken ? { ...body, message: "error", data: body.message } : body, { status, headers });
  }
}

interface Paged {
  p?: unknown;
  page_size?: unknown;
}

/** Pages from 1, as procedures count them. A page of today's generation always has a size. */
const pageInput = (input: Paged, shape: ListShape): Paged =>
  shape === "page"
    ? { ...input, page_size: input.page_size ?? DEFAULT_PAGE_SIZE }
    : { ...input, p: typeof input.p === "number" && input.p > 0 ? input.p + 1 : 1 };

function successOf(answer: RouteMeta["answer"], result: unknown, shape: ListShape): object {
  if (answer === "list" && shape === "array")
    return { success: true, message: "", data: (result as Page<unknown>).items };
  if (answer === "top") return { success: true, message: "", ...(result as object) };
  if (answer === "spoken") return { success: true, message: "success", ...(result as object) };
  return { success: true, message: "", ...(result === undefined ? {} : { data: result }) };
}
