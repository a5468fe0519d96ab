/** Calls that are no model calls: lists, stored responses, jobs, realtime sessions. */
import type { Bytes } from "../../lib/sse";
import { answerSideCall, type SideRequest } from "../admission/side-call";
import { recordRefusal } from "../billing/log-row";
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

/** Throws the caller's error of a call that is refused; a side call then has its log row, as a model call has. */
export function answerBeside({ route, call, request, responder, body, upgrade }: Beside): Promise<Response> {
  if (route.operation === "realtime") return openRealtime(call, request, responder, upgrade);
  if (route.operation !== "side") return answerLookup(call, route, request, responder);
  return answerSide(route, { ...call, request: body ? new Request(request, { body }) : request, responder });
}

async function answerSide(route: Extract<Route, { operation: "side" }>, sideRequest: SideRequest): Promise<Response> {
  try {
    return await answerSideCall(route, sideRequest);
  } catch (error) {
    const { engine, caller } = sideRequest;
    await recordRefusal(engine.controlPlane, caller, { ...sideRequest, model: "" }, error);
    throw error;
  }
}
