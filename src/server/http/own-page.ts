/**
 * Whether a request that changes something comes from a page of our own. Decided here alone, for /trpc, /api and /pg.
 * The reasons: docs/decisions/0042-requests-of-other-sites.md.
 */
import { AppError } from "../../shared/errors";
import type { Ctx } from "../contracts/context";
import type { RequestFacts } from "../contracts/request-facts";
import { hasBody } from "./stall";

/** How a route departs from the rule. */
export type OwnPageRule =
  /** People arrive by a link of another site; a ticket in the address proves that they started here. */
  | "by-ticket"
  /** The body proves the caller, so an unknown Origin is accepted: our own address is not configured yet. */
  | "by-secret"
  /**
   * A GET that opens or ends a session. A link of another site reaches it without Origin, so the user-id header is
   * required.
   */
  | "named";

const isJson = (type: string | null): boolean => type?.split(";")[0]?.trim().toLowerCase() === "application/json";

/** `forwardedHost`: from a trusted proxy. */
export function requestFacts(
  { method, headers }: Pick<Request, "method" | "headers">,
  forwardedHost: string | undefined,
): RequestFacts {
  return {
    method,
    host: headers.get("host") ?? "",
    forwarded_host: forwardedHost,
    origin: headers.get("origin") ?? undefined,
    fetch_site: headers.get("sec-fetch-site") ?? undefined,
    foreign_body: method !== "GET" && hasBody(headers) && !isJson(headers.get("content-type")),
    named: headers.has("new-api-user"),
  };
}

type RequestCtx = Pick<Ctx, "actor" | "request" | "options" | "env">;

/** The error for a request that a page of another site may have sent; undefined when it may act. */
export function foreignRequest(ctx: RequestCtx, rule?: OwnPageRule): AppError | undefined {
  const { method, origin, fetch_site, foreign_body, named } = ctx.request;
  if (rule === "by-ticket" || (ctx.actor.kind === "user" && ctx.actor.via === "access_token")) return undefined;
  if (foreign_body) return new AppError("json_needed");
  if (fetch_site !== undefined)
    return fetch_site === "same-origin" || fetch_site === "none" ? undefined : new AppError("cross_site");
  if (origin !== undefined)
    return rule === "by-secret" || isOwnOrigin(ctx, origin)
      ? undefined
      : new AppError("origin_unknown", { origin: origin.slice(0, 200) });
  return rule === "named" && method === "GET" && !named ? new AppError("user_header_missing") : undefined;
}

/** An Origin is ours when its host is that of the request, or one that the operator has configured. */
export function isOwnOrigin(
  { request, options, env }: Pick<RequestCtx, "request" | "options" | "env">,
  origin: string,
): boolean {
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  const isHost = (called: string): boolean => {
    const address = `${page.protocol}//${called}`;
    if (!URL.canParse(address)) return false;
    const { host, hostname } = new URL(address);
    // A proxy may omit the port (nginx's $host). Cookies ignore ports too, so nothing is weakened.
    return /:\d+$/.test(called) ? host === page.host : hostname === page.hostname;
  };
  const named = [options.get("ServerAddress"), env.WEIR_SERVER_ADDRESS, ...options.get("ConsoleAddresses")];
  return (
    [request.host, request.forwarded_host ?? ""].some(isHost) ||
    named.some((address) => URL.canParse(address) && new URL(address).host === page.host)
  );
}
