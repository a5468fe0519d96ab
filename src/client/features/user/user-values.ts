/** What the forms of an account hold and how they become calls. */
import type { FieldErrors, FieldValues, Resolver } from "react-hook-form";
import type * as z from "zod";
import { LIMIT_FIELDS, type LimitField } from "../../../shared/limits";
import type { ManagedUser, userUpdate } from "../../../shared/user-manage";

/** The form of a stored account; number fields are null while empty. */
export interface UserValues {
  username: string;
  display_name: string;
  /** "" leaves it. */
  password: string;
  group: string;
  /** Units to add; 0 leaves the balance. */
  add_quota: number | null;
  note: string;
  rpm: number | null;
  tpm: number | null;
  concurrency: number | null;
  budget_day: number | null;
  budget_month: number | null;
}

export function valuesOf(user: ManagedUser): UserValues {
  const { username, display_name, group, rpm, tpm, concurrency, budget_day, budget_month } = user;
  return {
    username,
    display_name,
    group,
    rpm,
    tpm,
    concurrency,
    budget_day,
    budget_month,
    password: "",
    add_quota: 0,
    note: "",
  };
}

/**
 * Only what differs is sent, so that two administrators do not undo each other. `key`: of this one press of the button.
 */
export function changeOf(
  id: number,
  before: UserValues,
  after: UserValues,
  key: string,
): z.input<typeof userUpdate> | null {
  const change: z.input<typeof userUpdate> = { id };
  if (after.username !== before.username) change.username = after.username;
  if (after.display_name !== before.display_name) change.display_name = after.display_name;
  if (after.group !== before.group) change.group = after.group;
  if (after.password !== "") change.password = after.password;
  for (const field of LIMIT_FIELDS satisfies readonly LimitField[]) {
    if ((after[field] ?? 0) !== (before[field] ?? 0)) change[field] = after[field] ?? 0;
  }
  if (after.add_quota) Object.assign(change, { add_quota: after.add_quota, note: after.note, adjust_key: key });
  return Object.keys(change).length > 1 ? change : null;
}

/** A resolver over a shared schema: its messages are error codes, which FormField puts into words. */
export function schemaResolver<V extends FieldValues>(schema: z.ZodType, shape: (values: V) => unknown): Resolver<V> {
  return (values) => {
    const issues = schema.safeParse(shape(values)).error?.issues ?? [];
    if (issues.length === 0) return { values, errors: {} };
    // The first complaint about a field is the one that is shown.
    const errors = Object.fromEntries(
      issues.toReversed().map((issue) => [String(issue.path[0]), { type: "shared", message: issue.message }]),
    );
    // Its names are those of the schema, which are those of the form.
    return { values: {}, errors: errors as FieldErrors<V> };
  };
}
