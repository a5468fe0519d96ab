/** The first stage of a call: its route, and the facts in its headers. */
import { knownClientType } from "../../../shared/client-type";
import type { Arrival, Engine } from "../call/call";
import { traceOf } from "../call/observers";
import { askedVersion, callerLang } from "../admission/request-headers";
import { errorDialect, findRoute, pathOf, type Route } from "./routes";

/** `route` is undefined for a path that the relay does not serve. */
export function arrive(
  engine: Engine,
  request: Request,
  ip: string,
  request_id: string,
): { route: Route | undefined; arrival: Arrival } {
  const { headers } = request;
  const path = pathOf(request.url);
  const route = findRoute(request.method, path);
  const arrival: Arrival = {
    engine,
    dialect: errorDialect(route, path, headers),
    lang: callerLang(request),
    ip,
    path,
    client_type: knownClientType(headers.get("user-agent") ?? ""),
    betas: headers.get("anthropic-beta") ?? "",
    api_version: askedVersion(request),
    request_id,
    traceparent: traceOf(engine, request),
    arrived: engine.controlPlane.now(),
  };
  return { route, arrival };
}
