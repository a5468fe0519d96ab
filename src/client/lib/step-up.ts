/** Step-up on the client: the registered dialog, and the tRPC link that sends a refused call again. */
import type { TRPCLink } from "@trpc/client";
import { observable, type Unsubscribable } from "@trpc/server/observable";
import type { AppRouter } from "../../server/router";
import { appCodeOf } from "./errors";

type Ask = () => Promise<boolean>;
let ask: Ask | null = null;
let asking: Promise<boolean> | null = null;

/** Registers the dialog; returns its removal. */
export function onStepUp(dialog: Ask): () => void {
  ask = dialog;
  return () => {
    if (ask === dialog) ask = null;
  };
}

/** Asks the user to authenticate again: true when they did. Calls that need it at the same time share one dialog. */
function proved(): Promise<boolean> {
  asking ??= (ask?.() ?? Promise.resolve(false)).finally(() => {
    asking = null;
  });
  return asking;
}

/** A call outside tRPC that may need a step-up: asked for once, then sent again. Throws what the call throws. */
export async function withStepUp<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (appCodeOf(error) !== "step_up_required" || !(await proved())) throw error;
    return call();
  }
}

/**
 * Any call that the server refuses with step_up_required opens the dialog and is sent again after the step-up; closing
 * the dialog leaves the call refused. Features need not know of it.
 */
export const stepUpLink: TRPCLink<AppRouter> =
  () =>
  ({ op, next }) =>
    observable((observer) => {
      let running: Unsubscribable | undefined;
      let left = false;
      const say = (again: boolean) => {
        running = next(op).subscribe({
          next: (value) => observer.next(value),
          complete: () => observer.complete(),
          error: (error) => {
            if (again || appCodeOf(error) !== "step_up_required") return observer.error(error);
            void proved().then((yes) => {
              if (left) return;
              if (yes) say(true);
              else observer.error(error);
            });
          },
        });
      };
      say(false);
      return () => {
        left = true;
        running?.unsubscribe();
      };
    });
