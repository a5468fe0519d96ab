/** The parts of a settings card besides its option fields. Each part is a chunk of its own. */
import type { ComponentType } from "react";
import { optionFacts, optionKeys } from "../../../shared/option-facts";
import type { Card, OptionKey } from "../../../shared/options";
import { lazy } from "../../lib/lazy";
import { RetryHint } from "./retry-hint";

interface CardParts {
  /** Above the fields, inside the form: another view of options, whose drafts it changes. */
  before?: ComponentType;
  /** Below, outside the form: something that acts by itself. */
  after?: ComponentType;
  /** Options whose plain field is left out, because `before` shows them. */
  hides?: readonly OptionKey[];
}

export const cardParts: Readonly<Partial<Record<Card, CardParts>>> = {
  general: { before: RetryHint },
  group: { before: lazy(() => import("./group-table")), hides: ["GroupRatio", "UserUsableGroups", "GroupRouting"] },
  log: { after: lazy(() => import("../log/log-cleaning").then(({ LogCleaning }) => ({ default: LogCleaning }))) },
  smtp: { after: lazy(() => import("./test-mail")) },
  oidc: { after: lazy(() => import("./try-oidc")) },
  telegram: { after: lazy(() => import("./try-telegram")) },
  // The page of prices edits every table of the card.
  pricing: {
    before: lazy(() => import("./prices-link")),
    hides: optionKeys.filter((key) => optionFacts[key].card === "pricing" && optionFacts[key].kind === "json"),
  },
  payment: { before: lazy(() => import("./pay-method-table")), hides: ["PayMethods"] },
  alert: {
    before: lazy(() => import("../incident/alert-fields")),
    after: lazy(() => import("../incident/targets-panel")),
    hides: ["AlertRules", "AlertQuietHours", "AlertTargets"],
  },
  chat: { before: lazy(() => import("./chat-table")), hides: ["Chats"] },
};
