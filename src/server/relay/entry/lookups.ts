/** Calls that need no response from a channel: lists of models, the caller's usage figures. */
import { fail } from "../../../shared/errors";
import type { Lang } from "../../../shared/text";
import type { Engine } from "../call/call";
import type { Responder } from "../response/responder";
import { ownError } from "../response/error-response";
import type { RelayError } from "../../protocol/relay-error";
import type { Route } from "./routes";
import type { Caller } from "../../contracts/caller";
import { subscription, usage } from "../endpoints/account";
import { findModel, listModels, listShape } from "../endpoints/models";

/** The response. Throws not_found for any other route. */
export async function answerLookup(
  engine: Engine,
  route: Route,
  caller: Caller,
  request: Request,
  responder: Responder,
  lang: Lang,
): Promise<Response> {
  const { controlPlane } = engine;
  switch (route.operation) {
    case "models":
      return responder.json(JSON.stringify(listModels(controlPlane, caller, listShape(request))));
    case "subscription":
      return responder.json(JSON.stringify(await subscription(controlPlane, caller)));
    case "usage":
      return responder.json(JSON.stringify(await usage(controlPlane, caller)));
    case "model": {
      const entry = findModel(controlPlane, caller, route.model, listShape(request));
      return entry
        ? responder.json(JSON.stringify(entry))
        : responder.error(route.dialect, unknownModel(caller, route.model, lang, responder.requestId));
    }
    case "unserved":
      return fail("api_not_implemented", { method: request.method, path: new URL(request.url).pathname });
    default:
      return fail("not_found", { method: request.method, path: new URL(request.url).pathname });
  }
}

const unknownModel = ({ group }: Caller, model: string, lang: Lang, requestId: string): RelayError => ({
  ...ownError("model_not_found", { group, model }, lang, requestId),
  status: 404,
  type: "invalid_request_error",
  param: "model",
});
