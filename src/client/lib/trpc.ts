import { httpBatchLink, splitLink } from "@trpc/client";
import { createTRPCReact, type CreateTRPCReact } from "@trpc/react-query";
import type { AppRouter } from "../../server/router";
import { CallError, callHeaders, foreignStatus } from "./http";
import { keyLink, keyOf, onceLink } from "./once";
import { stepUpLink } from "./step-up";

/** The console's tRPC client: `trpc.<noun>.<verb>.useQuery(input)` and `.useMutation()`. */
export const trpc: CreateTRPCReact<AppRouter, unknown> = createTRPCReact<AppRouter>();

/**
 * An answer that is no JSON (a proxy's page, an empty 429) keeps its status as a CallError: the batch link would forget
 * it and make it look as if no answer had come.
 */
export async function fetchJson(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  if (response.ok && response.headers.get("content-type")?.includes("json")) return response;
  const isJson = await response
    .clone()
    .json()
    .then(
      () => true,
      () => false,
    );
  if (isJson) return response;
  throw new CallError(response.statusText, foreignStatus(response), response.headers.get("x-request-id"));
}

/** The client behind `trpc`; queries made in one turn travel together, what changes something travels with its key. */
export function createTrpcClient() {
  const link = { url: "/trpc", maxURLLength: 4000, fetch: fetchJson };
  return trpc.createClient({
    links: [
      onceLink,
      keyLink,
      stepUpLink,
      splitLink({
        condition: ({ type }) => type === "mutation",
        true: httpBatchLink({
          ...link,
          maxItems: 1,
          headers: ({ opList: [op] }) => ({ ...callHeaders(), "Idempotency-Key": keyOf(op) }),
        }),
        false: httpBatchLink({ ...link, headers: callHeaders }),
      }),
    ],
  });
}
