import { RadioGroup } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "../lib/cn";

export type RadioCard<V extends string> = {
  value: V;
  title: ReactNode;
  description?: ReactNode;
  icon?: ReactNode;
  disabled?: boolean;
};

type RadioCardsProps<V extends string> = {
  value: V;
  onValueChange: (value: V) => void;
  cards: readonly RadioCard<V>[];
  "aria-label"?: string;
  "aria-labelledby"?: string;
  className?: string;
};

/** One of a few choices that need a word of explanation each. */
export function RadioCards<V extends string>({ value, onValueChange, cards, className, ...aria }: RadioCardsProps<V>) {
  return (
    <RadioGroup.Root
      value={value}
      onValueChange={(next) => {
        const card = cards.find((candidate) => candidate.value === next);
        if (card) onValueChange(card.value);
      }}
      className={cn("grid grid-cols-[repeat(auto-fit,minmax(150px,1fr))] gap-2", className)}
      {...aria}
    >
      {cards.map((card) => (
        <RadioGroup.Item
          key={card.value}
          value={card.value}
          disabled={card.disabled}
          className="flex min-h-10 items-start gap-2 rounded-lg border border-line-control bg-surface p-3 text-left hover:bg-sunken disabled:cursor-not-allowed disabled:opacity-50 data-[state=checked]:border-accent data-[state=checked]:bg-accent-soft"
        >
          {card.icon}
          <span className="min-w-0">
            <span className="block font-medium">{card.title}</span>
            {card.description ? <span className="block text-xs text-ink-2">{card.description}</span> : null}
          </span>
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}
