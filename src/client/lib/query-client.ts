import { MutationCache, QueryCache, QueryClient } from "@tanstack/react-query";
import { faultOf, reportError } from "./errors";

/**
 * The cache of server state. Every failed call is reported here, once, so pages need no error toasts of their own:
 * `meta: { quiet: true }` on a query that shows its error in an ErrorPanel.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error, query) => reportError(error, { quiet: query.meta?.["quiet"] === true }),
    }),
    mutationCache: new MutationCache({
      onError: (error, _variables, _context, mutation) =>
        reportError(error, { quiet: mutation.meta?.["quiet"] === true }),
    }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        // Only a connection that failed is worth a second try; an answer will be the same again.
        retry: (failures, error) => failures < 1 && faultOf(error).kind === "unreachable",
        retryDelay: 800,
      },
    },
  });
}
