import { useEffect } from "react";
import { cn } from "../lib/cn";

/** The logo of a provider by its slug (`scripts/plugins/logo-slugs.ts`); decorative, because the name is beside it. */
export function ProviderLogo({ slug, className }: { slug: string | undefined; className?: string }) {
  useEffect(() => {
    // The drawings are fetched when the first logo is shown, once for all of them. Without them the name is enough.
    void import("./provider-sprite").then((sprite) => sprite.insertSprite()).catch(() => undefined);
  }, []);
  if (!slug) return <span aria-hidden className={cn("inline-block size-4 shrink-0 rounded-sm bg-line", className)} />;
  return (
    <svg aria-hidden className={cn("inline-block size-4 shrink-0", className)}>
      <use href={`#logo-${slug}`} />
    </svg>
  );
}
