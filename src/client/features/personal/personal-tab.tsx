import { ErrorBoundary } from "../../components/error-boundary";
import { WhileLoading } from "../../lib/lazy";
import { Skeleton } from "../../ui/skeleton";
import { personalSections } from "./sections";

/** The signed-in user's own settings. */
export default function PersonalTab() {
  return (
    <div className="grid w-full max-w-[720px] grid-cols-[minmax(0,1fr)] gap-4">
      {personalSections.map(({ id, component: Section }) => (
        <ErrorBoundary key={id}>
          <WhileLoading show={<Skeleton className="h-40 rounded-lg" />}>
            <Section />
          </WhileLoading>
        </ErrorBoundary>
      ))}
    </div>
  );
}
