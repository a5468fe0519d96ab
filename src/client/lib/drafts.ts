import { useCallback, useEffect, useRef, useState } from "react";
import type { FieldValues, UseFormReturn } from "react-hook-form";
import { currentUser } from "./session";
import { readStoredJson, writeStored } from "./storage";

interface Draft {
  user: number;
  /** Epoch milliseconds. */
  at: number;
  values: Record<string, unknown>;
}

const isDraft = (value: unknown): value is Draft =>
  typeof value === "object" && value !== null && "values" in value && "user" in value && "at" in value;

/** Always the same array: a new one would restart the watch on each render and lose what waits to be stored. */
const NOTHING: readonly string[] = [];

/**
 * Keeps what was typed into a form and not saved, so that it survives a reload and an expired session. `name` says
 * which form of which object (`channel-edit-12`); fields in `omit` (keys, passwords) are never stored.
 *
 * Show DraftNotice (components/draft-notice) with the answer; call `discard` after a successful save.
 */
export function useFormDraft<V extends FieldValues>(
  form: UseFormReturn<V>,
  name: string,
  { omit = NOTHING }: { omit?: readonly string[] } = {},
) {
  const key = `draft:${name}`;
  // formState keeps only what is read while rendering.
  void form.formState.isDirty;
  const [found, setFound] = useState(() => {
    const draft = readStoredJson(key, isDraft);
    return draft && draft.user === currentUser()?.id ? draft : null;
  });

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  useEffect(() => {
    const subscription = form.watch((values) => {
      clearTimeout(timer.current);
      const user = currentUser()?.id;
      if (user === undefined) return;
      timer.current = setTimeout(() => {
        // Read here and not above: while the first change is announced the form is not dirty yet.
        if (!form.formState.isDirty) return;
        const kept = Object.fromEntries(Object.entries(values).filter(([field]) => !omit.includes(field)));
        writeStored(key, JSON.stringify({ user, at: Date.now(), values: kept } satisfies Draft));
      }, 300);
    });
    return () => {
      clearTimeout(timer.current);
      subscription.unsubscribe();
    };
  }, [form, key, omit]);

  const discard = useCallback(() => {
    clearTimeout(timer.current);
    writeStored(key, null);
    setFound(null);
  }, [key]);

  const restore = useCallback(() => {
    if (found) form.reset({ ...form.getValues(), ...found.values }, { keepDefaultValues: true });
    setFound(null);
  }, [form, found]);

  return { savedAt: found ? Math.floor(found.at / 1000) : null, restore, discard };
}
