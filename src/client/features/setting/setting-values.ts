/** What the settings pages hold: the stored texts, what was typed over them, and what is wrong with that. */
import { optionFacts, optionKeys } from "../../../shared/option-facts";
import { type Card, cards, missingNeeds, type OptionKey, type SettingTab } from "../../../shared/options";
import type { Lang } from "../../../shared/text";
import type { OptionChecks } from "./option-checks";

/** What the server says: every open text, and which secrets have one. */
export interface Stored {
  values: Partial<Record<OptionKey, string>>;
  set: readonly OptionKey[];
}

/** What was typed and not saved. */
export type Drafts = Partial<Record<OptionKey, string>>;

/** What operators change first, and what is kept for older front-ends; the rest stands between as it is registered. */
const FIRST: readonly OptionKey[] = ["RetryTimes", "RetryMaxCost", "SelfUseModeEnabled", "DisplayInCurrencyEnabled"];
const LAST: readonly OptionKey[] = ["ApiGeneration", "ChatLink", "ChatLink2"];
const rank = (key: OptionKey): number =>
  FIRST.includes(key) ? FIRST.indexOf(key) - FIRST.length : LAST.indexOf(key) + 1;

export const cardKeys = (card: Card): OptionKey[] =>
  optionKeys.filter((key) => optionFacts[key].card === card).sort((a, b) => rank(a) - rank(b));
export const cardsOf = (tab: SettingTab): Card[] =>
  (Object.keys(cards) as Card[]).filter((card) => cards[card].tab === tab); // its own keys

/** JSON is shown laid out; everything else as it is stored. Secrets begin empty: they are write only. */
export function startText(key: OptionKey, { values }: Stored): string {
  const text = values[key] ?? "";
  if (optionFacts[key].kind !== "json") return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** As the server would store it, so that a blank or a line break more is no change. */
function normal(key: OptionKey, text: string, checks: OptionChecks | undefined): string {
  const parsed = checks?.parseOption(key, text);
  return checks && parsed?.ok ? checks.printOption(key, parsed.value) : text;
}

/** Without `checks` a text that says the same in another way counts as changed. */
export function isChanged(key: OptionKey, stored: Stored, drafts: Drafts, checks?: OptionChecks): boolean {
  const draft = drafts[key];
  if (draft === undefined) return false;
  // A secret that is typed is always new; an emptied one only where there is one.
  if (optionFacts[key].secret) return draft !== "" || stored.set.includes(key);
  return normal(key, draft, checks) !== normal(key, stored.values[key] ?? "", checks);
}

/** The keys that a save sends, those that others need before them (D-58: one call each, in this order). */
export function changedKeys(
  keys: readonly OptionKey[],
  stored: Stored,
  drafts: Drafts,
  checks?: OptionChecks,
): OptionKey[] {
  const changed = keys.filter((key) => isChanged(key, stored, drafts, checks));
  const needed = new Set<string>(changed.flatMap((key) => optionFacts[key].needs));
  return [...changed.filter((key) => needed.has(key)), ...changed.filter((key) => !needed.has(key))];
}

/** Whether an option has a text, or gets one by the same save. */
const isSet =
  (stored: Stored, drafts: Drafts, saved: readonly OptionKey[]) =>
  (key: OptionKey): boolean =>
    saved.includes(key) ? (drafts[key] ?? "") !== "" : stored.set.includes(key) || (stored.values[key] ?? "") !== "";

/** The options that must be set before this one is turned on or filled in: "configure it first". */
export const needsOf = (
  key: OptionKey,
  text: string,
  stored: Stored,
  drafts: Drafts = {},
  saved: readonly OptionKey[] = [],
): OptionKey[] => missingNeeds(optionFacts[key], text, isSet(stored, drafts, saved));

/** The options that a whole card needs before it may be saved. */
export const cardNeeds = (card: Card, stored: Stored): OptionKey[] =>
  (cards[card].needs ?? []).filter((key) => !isSet(stored, {}, [])(key));

/** What is wrong with a text, as the server would say it. */
export function problemOf(key: OptionKey, text: string, lang: Lang, checks: OptionChecks): string | undefined {
  const parsed = checks.parseOption(key, text);
  return parsed.ok ? undefined : parsed.problem[lang];
}

/** "Client ID" is a label on several cards: the key says which. */
export const nameOf = (key: OptionKey, lang: Lang): string => `${optionFacts[key].label[lang]} (${key})`;

/** The cards of a tab in which a word occurs: title, labels, keys. */
export function foundCards(tab: SettingTab, words: string, lang: Lang): Card[] {
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return cardsOf(tab);
  return cardsOf(tab).filter((card) => {
    const texts = [cards[card].title[lang], ...cardKeys(card).flatMap((key) => [key, optionFacts[key].label[lang]])];
    return texts.some((text) => text.toLowerCase().includes(wanted));
  });
}
