import { framedAddress } from "../../../shared/content";
import { cn } from "../../lib/cn";
import { lazy, WhileLoading } from "../../lib/lazy";
import { Skeleton } from "../../ui/skeleton";
import { ErrorBoundary } from "../error-boundary";
import { ContentFrame } from "./content-frame";

const RichText = lazy(() => import("./rich-text"));

/** Text without any Markdown, HTML or URL syntax. */
const isPlain = (text: string): boolean =>
  !/[<>&*_`~[\]#|\\:@]|\n|^\s*([-+]|\d+[.)])\s/.test(text) && !/\bwww\./i.test(text);

/** Markdown or HTML of the operator as safe elements. Plain text needs no parser and is shown at once. */
export function OperatorText({ text, demote, className }: { text: string; demote?: boolean; className?: string }) {
  return (
    <div className={cn("content", className)}>
      {isPlain(text) ? (
        <p>{text}</p>
      ) : (
        <ErrorBoundary>
          <WhileLoading show={<span data-loading data-testid="content-loading" />}>
            <RichText text={text} demote={demote} />
          </WhileLoading>
        </ErrorBoundary>
      )}
    </div>
  );
}

/** A whole page of the operator: framed when it is an https:// address, else Markdown or HTML. */
export function OperatorPage({ text, title }: { text: string; title: string }) {
  const address = framedAddress(text);
  if (address) return <ContentFrame address={address} title={title} />;
  return (
    <div className="mx-auto w-full max-w-[880px] flex-1 px-4 py-8 sm:px-6">
      <OperatorText text={text} />
    </div>
  );
}

/** Shown while the page's text is loading. */
export function OperatorPageSkeleton() {
  return (
    <div className="mx-auto grid w-full max-w-[880px] content-start gap-4 px-4 py-8 sm:px-6">
      <Skeleton className="h-8 w-56" />
      <Skeleton className="h-40" />
    </div>
  );
}
