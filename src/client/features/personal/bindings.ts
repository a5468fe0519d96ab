/**
 * What an account can be bound to: the rows of the bindings card, in their order. A row is a component in a file of its
 * own that draws a `BindingRow`, asks its own questions, and returns null when there is nothing to bind and nothing
 * bound.
 */
import { lazy, type Lazy } from "../../lib/lazy";

export interface Binding {
  id: string;
  component: Lazy;
}

export const bindings: readonly Binding[] = [
  { id: "email", component: lazy(() => import("./email-binding")) },
  { id: "identities", component: lazy(() => import("../identity/identity-bindings")) },
];
