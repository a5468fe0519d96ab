/** The group options as one record, for the rules of shared/group.ts. */
import { DEFAULT_GROUP, type GroupFacts } from "../../../shared/group";
import type { Actor } from "../../contracts/actor";
import type { Services } from "../../contracts/context";

/** Values in force now; a change of an option holds at the next call. */
export const groupFacts = ({ options }: Pick<Services, "options">): GroupFacts => ({
  ratios: options.get("GroupRatio"),
  usable: options.get("UserUsableGroups"),
  exclusive: options.get("GroupGroupRatio"),
  auto: options.get("AutoGroups"),
  offer_auto: options.get("DefaultUseAutoGroup"),
});

/** The group that decides what a caller sees: their own; a guest sees what a new user would. */
export const groupOf = (actor: Actor): string => (actor.kind === "user" ? actor.group : DEFAULT_GROUP);
