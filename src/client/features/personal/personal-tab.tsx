import { Suspense } from "react";
import { ErrorBoundary } from "../../components/error-boundary";
import { Skeleton } from "../../ui/skeleton";
import { personalSections } from "./sections";

/** Everybody's own settings. */
export default function PersonalTab() {
  return (
    <div className="grid w-full max-w-[720px] grid-cols-[minmax(0,1fr)] gap-4">
      {personalSections.map(({ id, component: Section }) => (
        <ErrorBoundary key={id}>
          <Suspense fallback={<Skeleton className="h-40 rounded-lg" />}><Section /></Suspense>
        </ErrorBoundary>
      ))}
    </div>
  );
}
