/**
 * The cards of the personal settings, in their order. Each is a component in a file of its own with the card as default
 * export; it draws its own card (ui/card) and asks its own questions. They are fetched together, because all are shown
 * at once; notices by themselves, because they are read by a schema.
 */
import type { ComponentType } from "react";
import { lazy } from "../../lib/lazy";
import FactorCard from "../factor/factor-card";
import PushCard from "../push/push-card";
import AccountCard from "./account-card";
import BindingsCard from "./bindings-card";
import DeletionCard from "./deletion-card";
import InviteCard from "./invite-card";
import ModelsCard from "./models-card";
import PreferencesCard from "./preferences-card";
import ProfileCard from "./profile-card";
import SecurityCard from "./security-card";
import SessionsCard from "./sessions-card";

export interface PersonalSection {
  id: string;
  component: ComponentType;
}

export const personalSections: readonly PersonalSection[] = [
  { id: "account", component: AccountCard },
  { id: "profile", component: ProfileCard },
  { id: "models", component: ModelsCard },
  { id: "invite", component: InviteCard },
  { id: "bindings", component: BindingsCard },
  { id: "security", component: SecurityCard },
  { id: "factor", component: FactorCard },
  { id: "sessions", component: SessionsCard },
  { id: "preferences", component: PreferencesCard },
  { id: "notice", component: lazy(() => import("../notice/notice-section")) },
  { id: "push", component: PushCard },
  { id: "deletion", component: DeletionCard },
];
