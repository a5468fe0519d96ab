/** The address that a call is sent to. */
import type { Operation } from "../operations/operation";
import type { PoolChannel } from "../../contracts/channel";
import { supportsNatively } from "./capabilities";
import { addressOf } from "./dispatch";
import { providerOf } from "./registry";

/**
 * The address of an operation, derived from the vendor's address of the base operation; undefined when that has no such
 * ending.
 */
function directUrl(url: string | undefined, operation: Operation, complete: boolean): string | undefined {
  const path = operation.direct?.path;
  if (url === undefined || !path || complete) return url;
  const query = url.indexOf("?");
  const end = query < 0 ? url.length : query;
  return url.slice(0, end).endsWith(path[0])
    ? url.slice(0, end - path[0].length) + path[1] + url.slice(end)
    : undefined;
}

/** The address of an operation at a channel; undefined when its type does not serve it. */
export function urlOf(channel: PoolChannel, operation: Operation, model: string, stream = false): string | undefined {
  if (operation.direct && operation.native && !supportsNatively(channel, operation, model)) return undefined;
  const address = addressOf(channel, operation, model, stream);
  // An edit in the vendor's own format goes to the address of its generations.
  if (operation.direct?.inJson && providerOf(channel)?.direct?.[operation.key]?.edits) return address;
  return directUrl(address, operation, channel.type.complete_url);
}

/** An address with an API version carries the caller's version where the caller names one (C-237). */
export function withVersion(url: string | undefined, { api_version }: { api_version: string }): string | undefined {
  return api_version === "" ? url : url?.replace(/([?&]api-version=)[^&]*/, (_, name: string) => name + api_version);
}
