/**
 * Parts of the console that are fetched when they are first shown. React's own `lazy` and `Suspense` are not used:
 * React holds back whatever follows a placeholder until 300 ms have gone by (FALLBACK_THROTTLE_MS of its reconciler),
 * so that every page, every card of it and every window would be late by that much, on however fast a line.
 */
import {
  type ComponentType,
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useState,
} from "react";
import { CallError, isServerThere, OutdatedPage } from "./http";

export interface Lazy<P extends object = object> {
  (props: P): ReactNode;
  /** Fetches it before it is shown; an error is thrown when it is rendered. */
  preload: () => void;
}

const Placeholder = createContext<ReactNode>(null);

/** The placeholder of each `lazy` component below until it has been fetched. */
export function WhileLoading({ show, children }: { show: ReactNode; children: ReactNode }) {
  return <Placeholder value={show}>{children}</Placeholder>;
}

/**
 * A component whose code is fetched when it is first shown, unless it is there already: then it is shown at once.
 * A failed fetch is thrown to the nearest error boundary; mounting again retries. Without a server it is the CallError
 * of a call that no one answered; with one, OutdatedPage: the names of the files change with each build.
 */
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): Lazy<P> {
  let loaded: ComponentType<P> | undefined;
  let loading: Promise<void> | undefined;
  const fetchOnce = (): Promise<void> => {
    loading ??= load().then(
      (module) => void (loaded = module.default),
      async (cause: unknown) => {
        loading = undefined;
        const message = cause instanceof Error ? cause.message : String(cause);
        if (await isServerThere()) throw new OutdatedPage(message, { cause });
        throw new CallError(message, 0, null);
      },
    );
    return loading;
  };

  function LazyComponent(props: P): ReactNode {
    const placeholder = useContext(Placeholder);
    const [failure, setFailure] = useState<{ error: unknown }>();
    const [, setArrived] = useState(false);
    const isThere = loaded !== undefined;
    useEffect(() => {
      if (isThere) return undefined;
      let mounted = true;
      fetchOnce().then(
        () => mounted && setArrived(true),
        (error: unknown) => mounted && setFailure({ error }),
      );
      return () => {
        mounted = false;
      };
    }, [isThere]);
    if (failure) throw failure.error;
    return loaded ? createElement(loaded, props) : placeholder;
  }
  return Object.assign(LazyComponent, { preload: () => void fetchOnce().catch(() => undefined) });
}
