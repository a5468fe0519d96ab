/**
 * How an address that a user typed is fetched (webhooks, files): by the policy of lib/egress.ts, through the worker
 * where root has named one. Model calls never use the worker (D-25).
 */
import type { Services } from "../../contracts/context";
import type { EgressOptions } from "../../lib/egress";

export function userFetch({
  options,
  env,
}: Pick<Services, "options" | "env">): Pick<EgressOptions, "allowPrivate" | "worker"> {
  const url = options.get("WorkerUrl");
  const worker = url === "" ? undefined : { url, key: options.get("WorkerValidKey") };
  return { allowPrivate: env.WEIR_ALLOW_PRIVATE_FETCH, worker };
}
