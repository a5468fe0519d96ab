/**
 * The REST shim: mounts every procedure that carries a `rest` line. It builds the input (coerce.ts), calls the
 * procedure, wraps the envelope. The console and an /api script run the same code.
 */
import type { AnyRouter } from "@trpc/server";
import type * as z from "zod";
import { AppError } from "../../shared/errors";
import type { Ctx } from "../context";
import { buildInput } from "./coerce";
import { envelopeOf, logUnexpected, toAppError } from "./fail";
import type { DoorMeta } from "./trpc";

export interface RestRoute {
  method: string;
  /** With {params}, as in the specification. */
  path: string;
  /** `channel.list` */
  procedure: string;
  meta: DoorMeta;
  input: z.core.$ZodType | undefined;
}

interface ProcedureDef {
  meta?: DoorMeta;
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

/** /api bodies are forms and settings; a few megabytes are plenty. */
const MAX_API_BODY = 4 * 1024 * 1024;

async function readJson(request: Request): Promise<unknown> {
  if (request.method === "GET" || request.method === "HEAD") return undefined;
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > MAX_API_BODY) throw new AppError("body_too_large", { limit: MAX_API_BODY / 1024 / 1024 });
  const text = await request.text();
  if (text.length > MAX_API_BODY) throw new AppError("body_too_large", { limit: MAX_API_BODY / 1024 / 1024 });
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError("bad_json", {}, { cause });
  }
}

const JSON_HEADERS = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

/** Calls `channel.list` on a caller, which is a tree of functions. */
type Caller = Record<string, unknown>;
function callProcedure(caller: Caller, procedure: string, input: unknown): Promise<unknown> {
  let node: unknown = caller;
  for (const part of procedure.split(".")) node = (node as Caller)[part];
  return (node as (input: unknown) => Promise<unknown>)(input);
}

/**
 * Answers one REST call. `resHeaders` are set by procedures (cookies).
 * Source of the shapes: specification section 7 of both documents, facts/compatibility.md 1.0.
 */
export async function answerRest(
  route: RestRoute,
  request: Request,
  params: Record<string, string>,
  ctx: Ctx,
  createCaller: (ctx: Ctx) => unknown,
): Promise<Response> {
  try {
    const url = new URL(request.url);
    const input = buildInput(route.input, { path: params, query: url.searchParams, body: await readJson(request) });
    const result = await callProcedure(createCaller(ctx) as Caller, route.procedure, input);
    if (route.meta.answer === "redirect") {
      const { location } = result as { location: string };
      return new Response(null, { status: 302, headers: { location, "cache-control": "no-store" } });
    }
    return Response.json(successOf(route.meta.answer, result), { headers: JSON_HEADERS });
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

function successOf(answer: DoorMeta["answer"], result: unknown): object {
  if (answer === "top") return { success: true, message: "", ...(result as object) };
  if (answer === "spoken") return { success: true, message: "success", ...(result as object) };
  return { success: true, message: "", ...(result === undefined ? {} : { data: result }) };
}
