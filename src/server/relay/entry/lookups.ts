/** Calls that need no response from a channel: lists of models, the caller's usage figures. */
import { fail } from "../../../shared/errors";
import type { Authenticated } from "../call/call";
import type { Responder } from "../response/responder";
import { ownError } from "../response/error-response";
import type { Route } from "./routes";
import { creditGrants, subscription, usage } from "../endpoints/account";
import { findModel, listModels, listShape } from "../endpoints/models";

/** The response. Throws not_found for any other route. */
export async function answerLookup(
  call: Authenticated,
  route: Route,
  request: Request,
  responder: Responder,
): Promise<Response> {
  const { caller, dialect } = call;
  const { controlPlane } = call.engine;
  switch (route.operation) {
    case "models":
      return responder.json(JSON.stringify(listModels(controlPlane, caller, listShape(request))));
    case "subscription":
      return responder.json(JSON.stringify(await subscription(controlPlane, caller)));
    case "usage":
      return responder.json(JSON.stringify(await usage(controlPlane, caller)));
    case "credit_grants":
      return responder.json(JSON.stringify(await creditGrants(controlPlane, caller)));
    case "model": {
      const entry = findModel(controlPlane, caller, route.model, listShape(request));
      return entry
        ? responder.json(JSON.stringify(entry))
        : responder.error(dialect, ownError("model_not_found", { group: caller.group, model: route.model }, call));
    }
    case "unserved":
      return fail("api_not_implemented", { method: request.method, path: new URL(request.url).pathname });
    default:
      return fail("not_found", { method: request.method, path: new URL(request.url).pathname });
  }
}
