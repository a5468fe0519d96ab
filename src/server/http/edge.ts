/** What holds for every request and every response, whatever the route. */
import { AppError } from "../../shared/errors";
import { envelopeOf } from "./fail";
import { languageOf } from "./language";
import type { StallGuard } from "./stall";

/** `host` and `host:port` (RFC 9112, 3.2): what a URL may have between `//` and its path, without a user. */
const AUTHORITY = /^(?:\[[0-9a-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d{1,5})?$/i;
/** Parsed hosts are remembered: most requests name one of few. */
const MAX_REMEMBERED = 1_000;

/** Whether a Host header can stand in a URL. URLs of requests are made from it, and must not get a path from it. */
function createHostCheck(): (host: string) => boolean {
  const valid = new Set<string>();
  return (host) => {
    if (valid.has(host)) return true;
    if (host.length > 300 || !AUTHORITY.test(host) || !URL.canParse(`http://${host}/`)) return false;
    if (valid.size >= MAX_REMEMBERED) valid.clear();
    valid.add(host);
    return true;
  };
}

/** Probes of balancers come by HTTP/1.0 without Host, and so without an absolute URL; these routes read none. */
const HOSTLESS: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);
const isHostless = (url: string): boolean => !url.startsWith("/") || HOSTLESS.has(url);

/** A year, for this name alone: names below it may be served without HTTPS. */
const HSTS = "max-age=31536000";

type Answer = Response | Promise<Response>;

/**
 * Wraps the handler of all routes: refuses a Host that is none, and adds the headers that every response has.
 * `isSecure`: whether the request came over HTTPS, as a trusted proxy reports it.
 */
export function createEdge(
  isSecure: (request: Request) => boolean,
  stalls: StallGuard,
): (request: Request, next: () => Answer) => Answer {
  const isHost = createHostCheck();
  return (request, next) => {
    stalls.arrived(request);
    const secure = isSecure(request);
    const finish = (response: Response): Response => {
      stalls.answered(request, response);
      const { headers } = response;
      // Content of models, vendors and operators is never taken for another type.
      if (!headers.has("x-content-type-options")) headers.set("x-content-type-options", "nosniff");
      if (secure) headers.set("strict-transport-security", HSTS);
      return response;
    };
    const host = request.headers.get("host");
    const answer = (host === null ? isHostless(request.url) : isHost(host)) ? next() : refuseHost(request);
    return answer instanceof Promise ? answer.then(finish) : finish(answer);
  };
}

function refuseHost({ headers }: Request): Response {
  const { status, body } = envelopeOf(new AppError("host_invalid"), languageOf(headers), "");
  return Response.json(body, { status, headers: { "cache-control": "no-store" } });
}
