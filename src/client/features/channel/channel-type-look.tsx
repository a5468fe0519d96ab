import { channelType } from "../../../shared/channel-types";
import { ProviderLogo } from "../../components/provider-logo";
import { cn } from "../../lib/cn";
import { currentLanguage } from "../../lib/i18n";

/** The name of a channel type in the current language; an unknown number is shown as it is. */
export function typeName(type: number): string {
  return channelType(type)?.name[currentLanguage()] ?? `#${type}`;
}

/** The logo of a channel type, or its first letter when it has none; its name is beside it. */
export function TypeLogo({ type, className }: { type: number; className?: string }) {
  const slug = channelType(type)?.logo ?? "";
  if (slug) return <ProviderLogo slug={slug} className={className} />;
  return (
    <span
      aria-hidden
      className={cn(
        "inline-flex size-4 shrink-0 items-center justify-center rounded-sm bg-grey-bg text-[10px] font-semibold text-grey-fg",
        className,
      )}
    >
      {[...typeName(type)].find((letter) => /[\p{L}\d]/u.test(letter)) ?? "?"}
    </span>
  );
}
