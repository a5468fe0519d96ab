import { useEffect, useRef, useState, type KeyboardEvent } from "react";

/**
 * The keyboard of a list whose text field keeps the focus: arrows, Home and End move the highlight, Enter chooses. Give
 * `ref` to the list and mark the highlighted item with `data-highlighted`. `initial`: the item highlighted at first.
 */
export function useListKeys(count: number, onChoose: (index: number) => void, initial = 0) {
  const [active, setActive] = useState(initial);
  const ref = useRef<HTMLUListElement>(null);

  useEffect(() => {
    ref.current?.querySelector("[data-highlighted]")?.scrollIntoView({ block: "nearest" });
  }, [active]);

  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends the input of a Chinese word is not a choice.
    if (event.nativeEvent.isComposing) return;
    const next = {
      ArrowDown: (active + 1) % Math.max(count, 1),
      ArrowUp: (active - 1 + Math.max(count, 1)) % Math.max(count, 1),
      Home: 0,
      End: Math.max(count - 1, 0),
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      setActive(next);
    } else if (event.key === "Enter" && count > 0) {
      event.preventDefault();
      onChoose(active);
    }
  };

  return { active, setActive, ref, onKeyDown };
}
