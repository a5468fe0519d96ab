import type { ReactNode } from "react";
import { cn } from "../lib/cn";
import { ErrorBoundary } from "./error-boundary";

type PageProps = {
  title: ReactNode;
  description?: ReactNode;
  /** Buttons at the right of the title; the main one last. */
  actions?: ReactNode;
  /** `form` limits the width to 720 px; lists and dashboards use all of it. */
  width?: "full" | "form";
  children: ReactNode;
};

/** The frame of a page: its one h1, its actions, and a boundary that keeps failures inside. */
export function Page({ title, description, actions, width = "full", children }: PageProps) {
  return (
    <div
      className={cn(
        "flex min-h-0 flex-1 flex-col gap-4 p-4 sm:px-6 sm:py-4",
        width === "form" && "mx-auto w-full max-w-[768px]",
      )}
    >
      <header className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h1 className="text-lg wrap-anywhere">{title}</h1>
          {description ? <p className="text-muted">{description}</p> : null}
        </div>
        {actions ? <div className="flex flex-wrap items-center gap-2">{actions}</div> : null}
      </header>
      <ErrorBoundary>{children}</ErrorBoundary>
    </div>
  );
}
