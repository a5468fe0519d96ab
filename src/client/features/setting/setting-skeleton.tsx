import { Skeleton } from "../../ui/skeleton";

/** Where a tab of settings will be. */
export const SettingSkeleton = () => (
  <div aria-hidden className="grid gap-4">
    <Skeleton className="h-9" />
    <Skeleton className="h-64" />
    <Skeleton className="h-64" />
  </div>
);
