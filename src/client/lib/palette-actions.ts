import type { LucideIcon } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";

/** Something the command palette offers while a page is open. */
export interface PaletteAction {
  id: string;
  title: string;
  icon?: LucideIcon;
  /** What else it is looked for by, in both languages. */
  words?: string;
  run: () => void;
}

/** `words` of an action that makes something. */
export const WORDS_OF_ADD = "add new create make 添加 新建 创建 新增 生成";

const sources = new Map<symbol, readonly PaletteAction[]>();
const listeners = new Set<() => void>();
let all: readonly PaletteAction[] = [];

function publish(): void {
  all = [...sources.values()].flat();
  for (const listener of listeners) listener();
}

/** Offers `actions` in the palette as long as the component is there; keep the array stable (useMemo). */
export function useOfferActions(actions: readonly PaletteAction[]): void {
  useEffect(() => {
    const source = Symbol("palette actions");
    sources.set(source, actions);
    publish();
    return () => {
      sources.delete(source);
      publish();
    };
  }, [actions]);
}

/** All actions offered at present. */
export function useOfferedActions(): readonly PaletteAction[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => all,
  );
}
