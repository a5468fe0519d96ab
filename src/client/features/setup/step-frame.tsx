import { useLingui } from "@lingui/react/macro";
import { Check } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import { cn } from "../../lib/cn";

/** The steps of the wizard; the last one comes after the three numbered ones. */
export type Step = "account" | "purpose" | "channel" | "connect";
const ORDER: readonly Step[] = ["account", "purpose", "channel", "connect"];

/** One step of the wizard: where we are, a heading that takes the focus when the step is entered, and the content. */
export function StepFrame({
  step,
  title,
  description,
  children,
}: {
  step: Step;
  title: ReactNode;
  description?: ReactNode;
  children: ReactNode;
}) {
  const { t } = useLingui();
  const heading = useRef<HTMLHeadingElement>(null);
  const names: Record<Step, string> = { account: t`账户`, purpose: t`用途`, channel: t`第一个渠道`, connect: t`连接` };
  const current = ORDER.indexOf(step);

  // The first step begins in its first field; later ones at their heading, so that it is read.
  useEffect(() => {
    if (step !== "account") heading.current?.focus();
    scrollTo(0, 0);
  }, [step]);

  return (
    <div className="mx-auto grid w-full max-w-[720px] grid-cols-[minmax(0,1fr)] content-start gap-6 px-4 py-6 sm:py-10">
      <ol aria-label={t`步骤`} className="flex items-center gap-2">
        {ORDER.map((name, index) => (
          <li
            key={name}
            aria-current={index === current ? "step" : undefined}
            className={cn("flex min-w-0 items-center gap-2", index < ORDER.length - 1 && "flex-1")}
          >
            <span
              className={cn(
                "flex size-6 shrink-0 items-center justify-center rounded-full border text-xs",
                index === current ? "border-accent bg-accent text-on-accent" : "border-line-control text-muted",
                index < current && "border-accent bg-accent-soft text-accent-text",
              )}
            >
              {index < current ? <Check aria-hidden className="size-3.5" /> : index + 1}
            </span>
            <span className={cn(index === current ? "shrink-0 font-medium" : "truncate text-muted max-sm:sr-only")}>
              {names[name]}
            </span>
            {index < current ? <span className="sr-only">{t`已完成`}</span> : null}
            {index < ORDER.length - 1 ? <span aria-hidden className="h-px min-w-2 flex-1 bg-line" /> : null}
          </li>
        ))}
      </ol>
      <div className="grid gap-1">
        <h1 ref={heading} tabIndex={-1} className="text-lg outline-none">
          {title}
        </h1>
        {description ? <p className="text-base text-ink-2">{description}</p> : null}
      </div>
      {children}
    </div>
  );
}
