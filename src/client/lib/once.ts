/** Doing a thing once: `useOnce` for forms and, below them all, `onceLink` for every call that changes something. */
import type { TRPCLink } from "@trpc/client";
import { share, tap } from "@trpc/server/observable";
import { useRef } from "react";
import type { AppRouter } from "../../server/router";

/**
 * A mutation under way with the same input is joined, not sent again: a double click, Enter twice, an impatient press
 * while the network is slow. Both callers get the one answer. After a failure the next press is a new call.
 */
export const onceLink: TRPCLink<AppRouter> = () => {
  const running = new Map<string, ReturnType<ReturnType<TRPCLink<AppRouter>>>>();
  return ({ op, next }) => {
    if (op.type !== "mutation") return next(op);
    const key = `${op.path} ${JSON.stringify(op.input)}`;
    const known = running.get(key);
    if (known) return known;
    const forget = () => void running.delete(key);
    const call = next(op).pipe(tap({ error: forget, complete: forget }), share());
    running.set(key, call);
    return call;
  };
};

/**
 * The submit of a form, which runs once at a time: a second press before the first has ended does nothing. `isPending`
 * of a mutation is the last render's and comes too late for that; a form validates before the call begins.
 */
export function useOnce<Input extends unknown[]>(
  submit: (...input: Input) => Promise<unknown>,
): (...input: Input) => Promise<void> {
  const running = useRef(false);
  return async (...input) => {
    if (running.current) return;
    running.current = true;
    try {
      await submit(...input);
    } finally {
      running.current = false;
    }
  };
}
