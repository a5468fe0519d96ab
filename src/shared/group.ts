/**
 * Groups: names that decide which channels a call may use and at what ratio. They have no table; they are the keys of
 * the option GroupRatio. Descriptions, and which groups users may choose, come from UserUsableGroups.
 */
import * as z from "zod";

export const DEFAULT_GROUP = "default";
/** A token's group for all groups of option AutoGroups, tried in order (C-260). */
export const AUTO_GROUP = "auto";

/** One choice of a user: the facts of a group in `GET /api/user/self/groups`. */
export interface GroupChoice {
  desc: string;
  /** The ratio that this user pays in the group, with GroupGroupRatio. */
  ratio: number;
}

export interface GroupFacts {
  /** Option GroupRatio: group -> ratio. */
  ratios: Readonly<Record<string, number>>;
  /** Option UserUsableGroups: group -> description. */
  usable: Readonly<Record<string, string>>;
  /** Option GroupGroupRatio: user's group -> used group -> ratio that replaces the group's own. */
  exclusive: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Option AutoGroups, in order; none when absent. */
  auto?: readonly string[];
  /** Option DefaultUseAutoGroup: "auto" is offered to every user who may use one of its groups. */
  offer_auto?: boolean;
}

const own = <T>(record: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** The ratio that replaces the group's own for users of `userGroup`; undefined when there is none. */
function exclusiveRatio(facts: GroupFacts, userGroup: string, group: string): number | undefined {
  const row = own(facts.exclusive, userGroup);
  return row && own(row, group);
}

/** What a user of `userGroup` pays in `group`; a group without a ratio costs 1. */
export function groupRatio(facts: GroupFacts, userGroup: string, group: string): number {
  return exclusiveRatio(facts, userGroup, group) ?? own(facts.ratios, group) ?? 1;
}

/**
 * The only rule for which groups a user may use: the own one always; another one when it is offered to users and has a
 * ratio. Tokens, playground, model lists and the relay all use this function.
 */
export function mayUseGroup(facts: GroupFacts, userGroup: string, group: string): boolean {
  if (group === AUTO_GROUP && autoGroups(facts, userGroup).length > 0) return true;
  if (group === userGroup) return true;
  return own(facts.usable, group) !== undefined && own(facts.ratios, group) !== undefined;
}

/** The groups of "auto": those of AutoGroups that the user may use, in order. */
export function autoGroups(facts: GroupFacts, userGroup: string): string[] {
  return (facts.auto ?? []).filter((group) => group !== AUTO_GROUP && mayUseGroup(facts, userGroup, group));
}

/** Every group that a user may choose; the own one is first when it is not offered to all. */
export function usableGroups(facts: GroupFacts, userGroup: string): Record<string, GroupChoice> {
  const names = new Set([
    ...(own(facts.usable, userGroup) === undefined ? [userGroup] : []),
    ...Object.keys(facts.usable),
    ...(facts.offer_auto ? [AUTO_GROUP] : []),
  ]);
  const choices: Record<string, GroupChoice> = {};
  for (const group of names) {
    if (!mayUseGroup(facts, userGroup, group)) continue;
    choices[group] = {
      desc: own(facts.usable, group) ?? group,
      ratio: groupRatio(facts, userGroup, group === AUTO_GROUP ? (autoGroups(facts, userGroup)[0] ?? group) : group),
    };
  }
  return choices;
}

/** `GET /api/user/models?group=`: models of one usable group, or of all of them. */
export const userModelsInput = z.object({ group: z.string().max(64).optional() });
