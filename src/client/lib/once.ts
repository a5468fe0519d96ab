/**
 * Doing a thing once: `useOnce` and `useOpening` for forms and, below them all, `onceLink` and `keyLink` for every call
 * that changes something.
 */
import { type TRPCLink, TRPCClientError } from "@trpc/client";
import { share, tap } from "@trpc/server/observable";
import { useRef, useState } from "react";
import type { AppRouter } from "../../server/router";
import { faultOf } from "./errors";
import { randomId } from "./random-id";

/** The call of a procedure with an input, from wherever it is made. */
const callOf = ({ path, input }: { path: string; input: unknown }): string => `${path} ${JSON.stringify(input)}`;

/**
 * A mutation under way with the same input is joined, not sent again: a double click, Enter twice, an impatient press
 * while the network is slow. Both callers get the one answer. After a failure the next press is a new call.
 */
export const onceLink: TRPCLink<AppRouter> = () => {
  const running = new Map<string, ReturnType<ReturnType<TRPCLink<AppRouter>>>>();
  return ({ op, next }) => {
    if (op.type !== "mutation") return next(op);
    const key = callOf(op);
    const known = running.get(key);
    if (known) return known;
    const forget = () => void running.delete(key);
    const call = next(op).pipe(tap({ error: forget, complete: forget }), share());
    running.set(key, call);
    return call;
  };
};

/** A call whose answer was lost keeps its key for so long. */
const KEY_KEPT_MS = 10 * 60_000;
/** The second press of a double click may come after the answer to the first: the same call is that one for so long. */
export const DOUBLE_PRESS_MS = 500;

/** The idempotency key of a call, for its header. */
export const keyOf = ({ context }: { context: Record<string, unknown> }): string => String(context.idempotency_key);

/** Whether the server may have done what it gave no proper answer to. */
const isOpen = (error: unknown): boolean => {
  const { status } = faultOf(error);
  // 409: it is still being done.
  return status === 0 || status >= 500 || status === 409;
};

/** A key in use. */
interface KeyUse {
  key: string;
  /** Epoch milliseconds. */
  until: number;
  /** It was answered: another input is something new. */
  answeredCall?: string;
}

class Opening {
  readonly uses = new Map<string, KeyUse>();
}

/**
 * One opening of a form that books or creates: given to its mutations (`useMutation({ trpc: opening })`), each has one
 * key until it succeeds. After a lost answer the form cannot book a second time, whatever was changed in it meanwhile:
 * the server does it once, gives the first answer again, or says that the key stands for another request.
 */
export function useOpening(): { context: { opening: Opening } } {
  return useState(() => ({ context: { opening: new Opening() } }))[0];
}

/**
 * Gives every call that changes something an idempotency key. A call whose answer was lost is made again with the same
 * key, so that what it booked is not booked a second time; so is one that is repeated as fast as a double click. Any
 * other answer ends the key's use, but for a form's opening, which keeps it until it succeeds.
 */
export const keyLink: TRPCLink<AppRouter> = () => {
  const calls = new Map<string, KeyUse>();
  return ({ op, next }) => {
    if (op.type !== "mutation") return next(op);
    const call = callOf(op);
    const opening = op.context.opening instanceof Opening ? op.context.opening : undefined;
    const uses = opening?.uses ?? calls;
    const name = opening ? op.path : call;
    const earlier = uses.get(name);
    const isSame = earlier && earlier.until > Date.now() && (earlier.answeredCall ?? call) === call;
    const key = isSame ? earlier.key : randomId();
    if (opening) uses.set(name, { key, until: Infinity });
    return next({ ...op, context: { ...op.context, idempotency_key: key } }).pipe(
      tap({
        next: () => {
          for (const [old, { until }] of uses) if (until <= Date.now()) uses.delete(old);
          uses.set(name, { key, until: Date.now() + DOUBLE_PRESS_MS, answeredCall: call });
        },
        error: (error) => {
          if (opening) return;
          if (error instanceof TRPCClientError && isOpen(error))
            uses.set(name, { key, until: Date.now() + KEY_KEPT_MS });
          else uses.delete(name);
        },
      }),
    );
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
