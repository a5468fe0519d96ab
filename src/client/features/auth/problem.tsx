import { CircleAlert } from "lucide-react";

/** What was wrong with a form as a whole, beside its button. */
export function Problem({ id, children }: { id?: string; children: string | undefined }) {
  if (!children) return null;
  return (
    <p id={id} role="alert" className="flex gap-2 text-red-fg">
      <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
      {children}
    </p>
  );
}
