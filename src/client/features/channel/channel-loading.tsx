import { trpc } from "../../lib/trpc";
import { Skeleton } from "../../ui/skeleton";

/** One channel by the id that an address has. With `fresh` it is asked for again whatever is known. */
export function useChannel(id: string, { fresh }: { fresh: boolean }) {
  const number = /^\d{1,15}$/.test(id) ? Number(id) : 0;
  return trpc.channel.get.useQuery(
    // No channel has this id: the server says that there is none.
    { id: number > 0 ? number : Number.MAX_SAFE_INTEGER },
    { meta: { quiet: true }, ...(fresh ? { refetchOnMount: "always", refetchOnWindowFocus: false } : {}) },
  );
}

/** The shape of a form on its way. */
export function FormSkeleton() {
  return (
    <div aria-hidden className="grid gap-4">
      {Array.from({ length: 6 }, (_, index) => (
        <Skeleton key={index} className="h-8" />
      ))}
    </div>
  );
}
