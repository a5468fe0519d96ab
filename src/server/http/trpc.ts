/** tRPC: context, and the four kinds of procedure. A procedure's metadata carries its REST line (see rest.ts). */
import { initTRPC } from "@trpc/server";
import { AppError, errorText, fail } from "../../shared/errors";
import { ROLE } from "../../shared/roles";
import type { Ctx, UserCtx } from "../contracts/context";
import { countedAddress } from "./address";
import { logUnexpected, toAppError, toTRPC } from "./fail";
import { foreignRequest, type OwnPageRule } from "./own-page";
import { unknownActor } from "./session";

/** How a REST answer differs from the plain envelope. */
export type AnswerShape =
  /** {success, message: "", data: result} */
  | "envelope"
  /** result's keys stand beside success and message, and may override them (channel test: `time`). */
  | "top"
  /**
   * As "top", and message is the word "success" or "error"; an error's text stands in `data` (amount and pay, C-491).
   */
  | "spoken"
  /** 302 to the result's `location`, for doors that a browser is led through. */
  | "redirect";

export interface RouteMeta {
  /** `METHOD /api/path/{param}`; several spellings are possible. Both slash forms are served. */
  rest?: string | readonly string[];
  answer?: AnswerShape;
  /** One line for OpenAPI. */
  summary?: string;
  /** Open to everybody, signed in or not. */
  public?: true;
  /** Counted against the limit of sign-in, register, reset and similar calls. */
  critical?: boolean;
  /** The limit of all of /api does not count it, so that it is open when others have used that limit up. */
  uncounted?: boolean;
  /** A query that changes something. */
  changes?: boolean;
  /** How the door departs from the rule that only our own pages may change something (own-page.ts). */
  ownPage?: OwnPageRule;
}

const t = initTRPC
  .context<Ctx>()
  .meta<RouteMeta>()
  .create({
    errorFormatter: ({ shape, error, ctx }) => {
      const app = toAppError(error);
      return {
        ...shape,
        message: errorText(app.code, app.values, ctx?.lang ?? "zh"),
        data: {
          code: shape.data.code,
          httpStatus: shape.data.httpStatus,
          path: shape.data.path,
          app: app.code,
          values: app.values,
          request_id: ctx?.request_id ?? "",
        },
      };
    },
  });

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

const CRITICAL_WINDOW_SECONDS = 20 * 60;

/** Counts one critical call of the client's address under `name`. Throws too_many_requests. */
export async function countCritical(ctx: Pick<Ctx, "cluster" | "env" | "ip">, name: string): Promise<void> {
  const limit = ctx.env.WEIR_CRITICAL_RATE_LIMIT;
  if (limit === 0) return;
  const take = await ctx.cluster.counter.take(`${name}:${countedAddress(ctx.ip)}`, 1, limit, CRITICAL_WINDOW_SECONDS);
  if (!take.allowed) throw toTRPC(new AppError("too_many_requests", { retry_after: take.reset_seconds }));
}

/**
 * Refuses what other sites send, counts critical calls by client address, renders AppErrors, logs what nobody expected.
 */
const base = t.procedure.use(async ({ ctx, meta, type, next, path }) => {
  const refused = unknownActor(ctx.actor);
  if (refused) throw toTRPC(refused);
  const acts = type === "mutation" || meta?.changes || ctx.request.method !== "GET";
  const foreign = acts ? foreignRequest(ctx, meta?.ownPage) : undefined;
  if (foreign) throw toTRPC(foreign);
  if (meta?.critical) await countCritical(ctx, "critical");
  const result = await next();
  if (result.ok) return result;
  const error = toAppError(result.error);
  logUnexpected(ctx, error, { path });
  // tRPC wraps an AppError as INTERNAL_SERVER_ERROR: its own status is said instead, or a 401 would never look like
  // one.
  throw toTRPC(error);
});

/** The signed-in context, or the error that says why there is none. */
export function signedIn(ctx: Ctx, role: number): UserCtx {
  if (ctx.actor.kind !== "user") {
    fail((ctx.actor.kind === "guest" && ctx.actor.problem) || "not_signed_in");
  }
  if (ctx.actor.role < role) fail("forbidden");
  return ctx as UserCtx;
}

const atLeast = (role: number) => base.use(({ ctx, next }) => next({ ctx: signedIn(ctx, role) }));

export const publicProcedure = base.meta({ public: true });
export const userProcedure = atLeast(ROLE.user);
export const adminProcedure = atLeast(ROLE.admin);
export const rootProcedure = atLeast(ROLE.root);
