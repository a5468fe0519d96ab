import { clsx, type ClassValue } from "clsx";
import { extendTailwindMerge } from "tailwind-merge";

/** The console's own names; without them `text-md` would be taken for a colour and dropped. */
const merge = extendTailwindMerge({
  extend: {
    classGroups: { "font-size": [{ text: ["xs", "sm", "base", "md", "lg", "xl"] }] },
  },
});

/** Joins class names; of two that set the same property the later one stays. */
export function cn(...classes: ClassValue[]): string {
  return merge(clsx(classes));
}
