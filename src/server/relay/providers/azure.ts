/**
 * Azure OpenAI (learn.microsoft.com/azure/foundry/openai/reference, November 2026; the paths of `AzureOpenAI` in the
 * openai SDK 7.55): a deployment in the address, a dated API version in the query, the key in `api-key`.
 */
import { type Operation, operationPath, otherFor } from "../../../shared/channel-types";
import { openaiChat } from "../../protocol/dialects/openai-chat/dialect";
import { withMembers } from "../../lib/json-bytes";
import type { PoolChannel } from "../../contracts/channel";
import { isCloudflareGateway, ordinary } from "./ordinary";
import type { Provider } from "./provider";

/**
 * The name of a model's deployment. Portals name deployments without dots (gpt-35-turbo); a name in the operator's
 * model mapping is used unchanged.
 */
function deploymentOf({ model_mapping }: PoolChannel, model: string): string {
  for (const mapped of model_mapping.values()) if (mapped === model) return model;
  return model.replaceAll(".", "");
}

/** Paths that name no deployment: the model is in the body or the query. */
function undeployedPath(
  channel: PoolChannel,
  operation: Operation,
  version: string,
  model: string,
): string | undefined {
  if (operation === "responses") return "/openai/v1/responses";
  if (operation !== "realtime") return undefined;
  return `/openai/realtime?api-version=${version}&deployment=${encodeURIComponent(deploymentOf(channel, model))}`;
}

export const azure: Provider = {
  url(channel, operation, model) {
    const path = operationPath(channel.type, operation)?.replace(/^\/v1/, "");
    if (path === undefined) return undefined;
    const { base_url, type, other } = channel;
    const version = encodeURIComponent(otherFor(type.id, other, model));
    const whole = undeployedPath(channel, operation, version, model);
    if (whole !== undefined) return base_url + whole;
    const deployments = isCloudflareGateway(channel) ? "" : "/openai/deployments";
    return `${base_url}${deployments}/${encodeURIComponent(deploymentOf(channel, model))}${path}?api-version=${version}`;
  },
  headers: (channel) => ordinary.headers(channel),
  prepare(outgoing) {
    const { channel, operation, model, body } = outgoing;
    const deployment = deploymentOf(channel, model);
    // The address names no deployment, so the body's model is the deployment.
    return operation === "responses" && deployment !== model
      ? { ...outgoing, body: withMembers(body, { model: deployment }) }
      : outgoing;
  },
  readError(body) {
    const error = openaiChat.readError(body);
    return error?.code === "DeploymentNotFound" ? { ...error, code: "model_not_found" } : error;
  },
};
