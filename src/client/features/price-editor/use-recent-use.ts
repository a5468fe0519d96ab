import { trpc } from "../../lib/trpc";

/** Recent use for the column and the preview; nothing is missing without it, so it fails quietly. */
export const useRecentUse = () =>
  trpc.pricing.recentUse.useQuery(undefined, { meta: { quiet: true }, staleTime: 60_000, retry: false });
