/**
 * The cards of the personal settings, in their order. Each is a component in a file of its own with the card as default
 * export; it draws its own card (ui/card) and asks its own questions.
 */
import { lazy, type Lazy } from "../../lib/lazy";

export interface PersonalSection {
  id: string;
  component: Lazy;
}

export const personalSections: readonly PersonalSection[] = [
  { id: "account", component: lazy(() => import("./account-card")) },
  { id: "profile", component: lazy(() => import("./profile-card")) },
  { id: "models", component: lazy(() => import("./models-card")) },
  { id: "invite", component: lazy(() => import("./invite-card")) },
  { id: "bindings", component: lazy(() => import("./bindings-card")) },
  { id: "security", component: lazy(() => import("./security-card")) },
  { id: "factor", component: lazy(() => import("../factor/factor-card")) },
  { id: "sessions", component: lazy(() => import("./sessions-card")) },
  { id: "preferences", component: lazy(() => import("./preferences-card")) },
  { id: "notice", component: lazy(() => import("../notice/notice-section")) },
  { id: "push", component: lazy(() => import("../push/push-card")) },
  { id: "deletion", component: lazy(() => import("./deletion-card")) },
];
