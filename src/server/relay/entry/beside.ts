/** Calls that are no model calls: lists, stored responses, jobs, realtime sessions. */
import type { Bytes } from "../../lib/sse";
import { answerSideCall } from "../admission/side-call";
import type { Authenticated } from "../call/call";
import { openRealtime, type Upgrade } from "../realtime/open";
import type { Responder } from "../response/responder";
import { answerLookup } from "./lookups";
import type { Route } from "./routes";

interface Beside {
  route: Route;
  call: Authenticated;
  request: Request;
  responder: Responder;
  /** The body of the request, where it was read already. */
  body: Bytes | undefined;
  upgrade: Upgrade | undefined;
}

export function answerBeside({ route, call, request, responder, body, upgrade }: Beside): Promise<Response> {
  if (route.operation === "realtime") return openRealtime(call, request, responder, upgrade);
  if (route.operation !== "side") return answerLookup(call.engine, route, call.caller, request, responder, call.lang);
  return answerSideCall(route, { ...call, request: body ? new Request(request, { body }) : request, responder });
}
