/** tRPC: context, and the four kinds of procedure. A procedure's metadata carries its REST line (see rest.ts). */
import { initTRPC } from "@trpc/server";
import { middlewareMarker } from "@trpc/server/unstable-core-do-not-import";
import { AppError, errorText, fail } from "../../shared/errors";
import { ROLE } from "../../shared/roles";
import type { Ctx, UserCtx } from "../contracts/context";
import { countedAddress } from "./address";
import { once } from "./answered";
import { logUnexpected, toAppError, toTRPC } from "./fail";
import { foreignRequest, type OwnPageRule } from "./own-page";
import { unknownActor } from "./session";

/** How a REST answer differs from the plain envelope. */
export type AnswerShape =
  /** {success, message: "", data: result} */
  | "envelope"
  /** result's keys are beside success and message, and may override them (channel test: `time`). */
  | "top"
  /** As "top", but message is "success" or "error", and an error's text is in `data` (amount and pay, C-491). */
  | "spoken"
  /**
   * The result is a page. Callers of an older generation get its items alone, count pages from 0, and get everything
   * where the route lets `page_size` be absent (shared/api-generation.ts).
   */
  | "list"
  /** 302 to the result's `location`, for routes that a browser navigates to. */
  | "redirect";

export interface RouteMeta {
  /** `METHOD /api/path/{param}`, one or several. Both slash forms are served. */
  rest?: string | readonly string[];
  answer?: AnswerShape;
  /** One line for OpenAPI. */
  summary?: string;
  /** Open without sign-in. */
  public?: true;
  /**
   * Counted against the limit of sign-in, register, reset and similar calls. "proof": counted apart and generously,
   * because it cannot be guessed, and must not be closed by a stranger's guesses at what can. "sign-in": see
   * `signInCounts`.
   */
  critical?: boolean | "proof" | "sign-in";
  /** Not counted by the limit of all of /api, so that it stays open when other calls have used that up. */
  uncounted?: boolean;
  /** A query with side effects. */
  changes?: boolean;
  /** It books or creates something: honours `Idempotency-Key` (answered.ts). */
  once?: true;
  /** A mutation that changes nothing that a page shows: no page is told to read again. */
  silent?: true;
  /** How the route departs from the rule that only our own pages may change something (own-page.ts). */
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

/** Times the usual limit, where many callers share what is counted. */
const GENEROUS = 10;

/** What one critical call is counted under, and how many times the usual limit holds there. */
export interface CriticalCount {
  key: string;
  times?: number;
}

/** Counts one critical call. Throws too_many_requests. */
export async function countCritical(ctx: Pick<Ctx, "cluster" | "env">, ...counts: CriticalCount[]): Promise<void> {
  const limit = ctx.env.WEIR_CRITICAL_RATE_LIMIT;
  if (limit === 0) return;
  const { refused, states } = await ctx.cluster.counter.reserve(
    counts.map(({ key, times = 1 }) => ({
      key,
      amount: 1,
      limit: limit * times,
      window_seconds: CRITICAL_WINDOW_SECONDS,
    })),
  );
  const state = states[refused];
  if (state) throw toTRPC(new AppError("too_many_requests", { retry_after: state.reset_seconds }));
}

/** How a call is counted by its address alone. */
export const criticalCount = (ctx: Pick<Ctx, "ip">, name = "critical"): CriticalCount => ({
  key: `${name}:${countedAddress(ctx.ip)}`,
});

/**
 * How a sign-in is counted. While the addresses that a proxy forwards are not believed, its callers are told apart by
 * them all the same, with a generous limit for all: a stranger behind it does not close the sign-in for everyone.
 */
export function signInCounts(ctx: Pick<Ctx, "ip" | "claimed_ip">): CriticalCount[] {
  if (ctx.claimed_ip === undefined) return [criticalCount(ctx)];
  const shared = criticalCount(ctx, "sign-in");
  return [{ key: `${shared.key}:${countedAddress(ctx.claimed_ip)}` }, { ...shared, times: GENEROUS }];
}

const criticalCounts = (ctx: Ctx, critical: NonNullable<RouteMeta["critical"]>): CriticalCount[] => {
  if (critical === "sign-in") return signInCounts(ctx);
  if (critical === "proof") return [{ ...criticalCount(ctx, "proof"), times: GENEROUS }];
  return critical ? [criticalCount(ctx)] : [];
};

/** The router of a procedure. */
const nounOf = (path: string): string => path.slice(0, path.indexOf("."));

/**
 * Refuses requests of other sites, counts critical calls by client address, tells open pages of what was changed, turns
 * AppErrors into tRPC errors, logs unexpected ones.
 */
const base = t.procedure.use(async ({ ctx, meta, type, next, path }) => {
  const refused = unknownActor(ctx.actor);
  if (refused) throw toTRPC(refused);
  const acts = type === "mutation" || meta?.changes || ctx.request.method !== "GET";
  const foreign = acts ? foreignRequest(ctx, meta?.ownPage) : undefined;
  if (foreign) throw toTRPC(foreign);
  if (meta?.critical) await countCritical(ctx, ...criticalCounts(ctx, meta.critical));
  const result = await next();
  if (result.ok) {
    if ((type === "mutation" || meta?.changes) && !meta?.silent && ctx.actor.kind === "user")
      ctx.changes.tell(nounOf(path), ctx.actor.id);
    return result;
  }
  const error = toAppError(result.error);
  logUnexpected(ctx, error, { path });
  // tRPC wraps an AppError as INTERNAL_SERVER_ERROR; a 401 must keep its status.
  throw toTRPC(error);
});

/** The context of a signed-in user of at least `role`. Throws the reason when there is none. */
export function signedIn(ctx: Ctx, role: number): UserCtx {
  if (ctx.actor.kind !== "user") {
    fail((ctx.actor.kind === "guest" && ctx.actor.problem) || "not_signed_in");
  }
  if (ctx.actor.role < role) fail("forbidden");
  return ctx as UserCtx;
}

const atLeast = (role: number) =>
  base
    .use(({ ctx, next }) => next({ ctx: signedIn(ctx, role) }))
    .use(async ({ ctx, meta, path, getRawInput, next }) => {
      if (!meta?.once || ctx.idempotency_key === undefined) return next();
      const outcome = await once(ctx, { path, input: await getRawInput() }, (booking) => next({ ctx: booking }));
      // The answer of an earlier request ends the chain.
      return "again" in outcome ? { ok: true, data: outcome.again, marker: middlewareMarker } : outcome;
    });

export const publicProcedure = base.meta({ public: true });
export const userProcedure = atLeast(ROLE.user);
export const adminProcedure = atLeast(ROLE.admin);
export const rootProcedure = atLeast(ROLE.root);
